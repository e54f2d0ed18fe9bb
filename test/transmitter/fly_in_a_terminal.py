"""Flies in the terminal on standard input, telling each new frame on standard output; for test_terminal.py.

python fly_in_a_terminal.py {forever|fails}
"""

import logging
import sys
import time

from rosflight_py_sim.transmitter.terminal import KeyboardTerminal

transmitter = KeyboardTerminal("vimfly", logging.getLogger())
told = None
while True:
    transmitter.poll(time.monotonic())
    if transmitter.frame != told:
        told = transmitter.frame
        print(told, flush=True)
    if sys.argv[1] == "fails":
        raise RuntimeError("as asked")
    time.sleep(0.005)
