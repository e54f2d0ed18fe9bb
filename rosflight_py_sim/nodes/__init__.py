"""The nodes of the simulator, one module per executable."""
