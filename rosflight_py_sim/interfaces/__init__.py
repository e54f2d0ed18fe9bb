"""Abstract node classes: what each module of the simulator must do, with all ROS plumbing done."""
