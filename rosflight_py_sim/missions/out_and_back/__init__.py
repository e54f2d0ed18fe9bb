"""Mission of an ArduPilot vehicle: take off, fly out and back, land."""
