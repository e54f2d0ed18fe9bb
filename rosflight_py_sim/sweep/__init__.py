"""Sweeps: many flights of a scenario with drawn parameters, as a table (docs/sweep.md)."""
