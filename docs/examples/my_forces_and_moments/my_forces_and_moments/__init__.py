"""A vehicle of one's own: a balloon on a string."""
