"""Fly with the terminal on standard input, and print each new frame on standard output; for test_terminal.py.

python fly_in_a_terminal.py {forever|fails}
"""

import logging
import sys
import time

from rosflight_py_sim.transmitter.terminal import KeyboardTerminal

transmitter = KeyboardTerminal("vimfly", logging.getLogger())
printed = None
while True:
    transmitter.poll(time.monotonic())
    if transmitter.frame != printed:
        printed = transmitter.frame
        print(printed, flush=True)
    if sys.argv[1] == "fails":
        raise RuntimeError("as asked")
    time.sleep(0.005)
