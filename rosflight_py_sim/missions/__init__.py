"""Missions of `rosflight_py_sim fly`, each with its log, evaluation and plot."""
