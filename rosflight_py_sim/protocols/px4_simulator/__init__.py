"""PX4's simulator interface: messages of MAVLink 2 between PX4 and a simulator, which are those of HIL."""
