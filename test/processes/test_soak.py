"""A short version of `make soak`: memory, descriptors and threads of the processes do not grow."""

from __future__ import annotations

import pytest

from proof.soak import quarters, soak, soak_rows

pytestmark = pytest.mark.timeout(1800)

SIMULATED_S = 6.0


def test_nothing_grows_with_clients_that_never_read(ros_domain: int) -> None:
    found = soak(SIMULATED_S, ros_domain)
    assert not found.trouble
    assert found.alive == {"simulation", "web_viewer", "writer of the recording"}, found.logged
    assert len(found.clients) == 5
    counted = [row for row in soak_rows(found) if row.what.startswith(("memory", "file descriptors", "threads", "end"))]
    assert len(counted) == 3 * len(found.usage) + 1
    assert all(row.holds for row in counted), counted
    memory_mib = {name: quarters(usage.memory_mib) for name, usage in found.usage.items()}
    grown_mib = {name: after - before for name, (before, after) in memory_mib.items()}
    # Half of the limit of `make soak`, for a leak to be found in this short time.
    assert max(grown_mib.values()) < 4.0, grown_mib
