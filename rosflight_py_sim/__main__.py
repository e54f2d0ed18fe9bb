"""Entry point of `python -m rosflight_py_sim`, which runs the command `rosflight_py_sim`."""

from rosflight_py_sim.commands.cli import main

main()
