"""Tests of a user's own nodes in flight: pytest plugin, requirements on flights, bundles of failed tests, baselines."""
