"""Front-ends that connect programs over other simulators' protocols; the node is nodes/bridge.py."""
