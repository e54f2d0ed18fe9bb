"""How fast the simulator is, measured against what the middleware alone can do: `python -m benchmarks`."""
