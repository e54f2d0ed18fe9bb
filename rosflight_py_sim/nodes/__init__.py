"""The nodes of the simulator, one file an executable."""

import os
import signal
import sys
from pathlib import Path

from rosflight_py_sim.type_supports import leave_out_generator

# A node that is run as a program loads libraries for half a second before `running.run` notes signals. Until then
# there is nothing to put away: a signal ends it at once, as quietly as later. Only our own programs are meant, not a
# user's autopilot.py that imports from here: a script without suffix, or `python -m rosflight_py_sim.nodes.rc`.
_script = Path(sys.argv[0]).name
if Path(__file__).with_name(f"{_script}.py").exists() or f"-m {__name__}." in " ".join(sys.orig_argv):
    for _number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_number, lambda *_: os._exit(0))

leave_out_generator()
