"""What `rosflight_py_sim fly` flies: each mission with its log, its judge and its picture."""
