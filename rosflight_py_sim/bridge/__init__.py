"""Front-ends through which programs that speak other simulators' protocols take part; their node is nodes/bridge.py."""
