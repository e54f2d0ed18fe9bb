"""Other simulators' protocols: bytes to dataclasses and back, one module each, without ROS and without sockets."""
