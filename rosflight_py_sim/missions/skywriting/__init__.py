"""Skywriting: letters flown as waypoints through uThere's protocol."""
