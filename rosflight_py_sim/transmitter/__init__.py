"""RC transmitter: sticks and switches from a joystick, from the keyboard, or at rest. No module here imports ROS."""
