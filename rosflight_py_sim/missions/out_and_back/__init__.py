"""Mission of an ArduPilot or PX4 vehicle: take off, fly out and back, land."""
