"""Other simulators' protocols: bytes to dataclasses and back, a module or package each, without ROS and sockets."""
