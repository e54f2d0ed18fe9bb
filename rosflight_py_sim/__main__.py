"""`python -m rosflight_py_sim` is the command `rosflight_py_sim`."""

from rosflight_py_sim.commands.cli import main

main()
