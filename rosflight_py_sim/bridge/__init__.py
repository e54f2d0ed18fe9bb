"""Front-ends for programs that use other simulators' protocols; the node is nodes/bridge.py."""
