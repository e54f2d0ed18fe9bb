"""A terminal for uThere Ground Control: sends typed commands and prints received packets; needs no ROS."""
