"""Measurements of what the project promises; each writes its result to build/proof."""
