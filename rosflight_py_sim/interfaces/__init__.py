"""Abstract node classes: the interface of each node of the simulator, with its topics, services and parameters."""
