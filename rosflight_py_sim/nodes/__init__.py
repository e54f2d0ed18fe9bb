"""The nodes of the simulator, one file an executable."""
