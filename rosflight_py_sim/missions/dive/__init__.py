"""The dive: through a gate and up in a ring, by camera."""
