"""Vehicles of the bridge as parts, and front-ends for programs that use other simulators' protocols.

The node is nodes/bridge.py.
"""
