"""Measurements of the project's promises: `make proof` runs them and writes docs/proof.md."""
