"""Learning: environments for policies, which fly the same flight in the node graph (docs/learning.md)."""
