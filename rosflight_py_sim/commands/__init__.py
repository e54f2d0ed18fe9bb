"""The command `rosflight_py_sim` and its sub-commands."""
