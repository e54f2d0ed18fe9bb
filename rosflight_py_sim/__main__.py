"""Entry point of `python -m rosflight_py_sim`, which runs the command `rosflight_py_sim`."""

from rosflight_py_sim.executables import command

command()
