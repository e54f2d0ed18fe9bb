"""Worker process of a sweep: receives runs, and sends their rows."""

from __future__ import annotations

import gc
import sys
from multiprocessing.connection import Connection

from rosflight_py_sim.ground.process_environment import prepare_environment
from rosflight_py_sim.ground.type_supports import leave_out_generator
from rosflight_py_sim.ground.with_parent import end_with_parent


def main() -> None:
    """Fly runs until the other side of the connection is closed; argument: the connection's descriptor.

    The process receives the list of import folders, then a `Job`, then each `Run`. It sends None when it can
    begin, or a text that says why it cannot, then a `Row` for each run.
    """
    connection = Connection(int(sys.argv[1]))
    # A run may last for minutes.
    end_with_parent(connection.fileno())
    prepare_environment()
    leave_out_generator()
    try:
        sys.path[:] = connection.recv()
        from rosflight_py_sim.nodes.running import settle
        from rosflight_py_sim.sweep.workers import ChangedError

        job = connection.recv()
        try:
            job.sweep()
        except ChangedError as error:
            connection.send(str(error))
            return
        settle()
        # Collections during a flight would take a twentieth of its time, and find nothing.
        gc.disable()
        connection.send(None)
        while True:
            connection.send(job.row(connection.recv()))
            gc.collect()
    except (EOFError, OSError):
        return


if __name__ == "__main__":
    main()
