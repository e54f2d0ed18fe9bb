"""The skywriting: letters flown as waypoints through uThere's protocol."""
