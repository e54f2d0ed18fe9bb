"""Batches of meshes in the scene of the browser viewer."""

from __future__ import annotations

import numpy as np
import viser


def batch(server: viser.ViserServer, node: str) -> viser.BatchedMeshHandle:
    handle = server.scene.get_handle_by_name(node)
    assert isinstance(handle, viser.BatchedMeshHandle), node
    return handle


def places(server: viser.ViserServer, node: str) -> np.ndarray:
    """Positions of a batch's meshes, north, east and down (n, 3), m."""
    parent = server.scene.get_handle_by_name(node.rpartition("/")[0])
    assert parent is not None
    return np.asarray(parent.position + batch(server, node).batched_positions)
