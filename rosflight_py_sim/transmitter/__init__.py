"""The pilot's hands: sticks and switches from a joystick, from the keyboard, or at rest. Nothing here knows ROS."""
