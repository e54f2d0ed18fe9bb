"""Shapes of vehicles: coloured meshes, some of which move with the flight controller's outputs."""
