"""Speed of the simulator, relative to the middleware alone: `python -m benchmarks`."""
