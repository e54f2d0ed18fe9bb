"""Drawing: vehicles, worlds, plots, the node graph, and the browser viewer."""
