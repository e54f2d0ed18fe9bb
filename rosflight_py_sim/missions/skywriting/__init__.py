"""The skywriting: letters of waypoints through uThere's protocol."""
