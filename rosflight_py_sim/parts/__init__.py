"""Parts of the simulation without ROS: forces and moments, sensors, dynamics, flight controller, transmitter."""
