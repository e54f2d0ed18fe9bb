"""Distribution of test files to processes that survives the end of one of these processes.

pytest-xdist distributes the files of an ended process again, including those that are complete. A process that receives
such a file reports nothing, and so never receives another one: if this happens to each process, the run never ends.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadFileScheduling


class CrashSafeScheduling(LoadFileScheduling):
    """Distributes only the files of an ended process that are not complete."""

    def remove_node(self, node: Any) -> str | None:
        """Remove a process; return the test that it was running, if any."""
        files = self.assigned_work[node]
        for name in [name for name, tests in files.items() if all(tests.values())]:
            del files[name]
        return super().remove_node(node)
