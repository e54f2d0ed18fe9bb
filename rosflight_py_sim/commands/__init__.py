"""What people call: the command `rosflight_py_sim` and its sub-commands."""
