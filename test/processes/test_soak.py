"""A short version of `make soak`: memory, descriptors and threads of the processes do not grow."""

from __future__ import annotations

import pytest

from proof.soak import soak, soak_rows

pytestmark = pytest.mark.timeout(1800)

SIMULATED_S = 12.0


def test_nothing_grows_with_clients_that_never_read(ros_domain: int) -> None:
    found = soak(SIMULATED_S, ros_domain)
    assert not found.trouble
    assert found.alive == {"simulation", "web_viewer", "writer of the recording"}, found.logged
    assert len(found.clients) == 5
    counted = [row for row in soak_rows(found) if row.what.startswith(("memory", "file descriptors", "threads", "end"))]
    assert len(counted) == 3 * len(found.usage) + 1
    assert all(row.holds for row in counted), counted
