"""A terminal to uThere Ground Control: commands are typed, and what comes back is shown; it needs no ROS."""
