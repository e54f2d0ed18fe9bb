"""The dive: pass a gate and surface in a ring, guided by cameras."""
