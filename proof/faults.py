"""Faults: killed nodes, disturbances of the machine and of messages, and interrupted commands.

    python -m proof.faults [--kills 10] [--moments 9] [--seed 1] [--part restarts] ...

measures how the graph recovers, prints a line for each row, and writes build/proof/faults.json.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator

from proof.disturbances import disturbance_rows
from proof.interruptions import interruption_rows
from proof.restarts import late_rows, restart_rows
from proof.results import Row, write_results

# Domains of the runs; those of the tests are apart.
_DOMAIN = 160


def main() -> None:
    """Run the chosen parts; exit code 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m proof.faults", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=10, help="kills of each node in each time mode (default: 10)")
    parser.add_argument("--moments", type=int, default=9, help="moments of each signal and command (default: 9)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments (default: 1)")
    parts: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
        "restarts": lambda given: restart_rows(given.kills, given.seed, _DOMAIN),
        "late": lambda given: late_rows(max(1, given.kills // 5), _DOMAIN),
        "disturbances": lambda given: disturbance_rows(_DOMAIN),
        "interruptions": lambda given: interruption_rows(given.moments, _DOMAIN),
    }
    parser.add_argument("--part", action="append", choices=parts, help="only this part; may be repeated (default: all)")
    options = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rows: list[Row] = []
    for part in options.part or parts:
        for row in parts[part](options):
            rows.append(row)
            verdict = {True: "holds", False: "FAILS", None: "-"}[row.holds]
            print(f"{verdict}: {row.what}: {row.measured}", flush=True)
    notes = [
        f"Each node is killed {options.kills} times in each time mode of its graph, at random moments (seed "
        f"{options.seed}), and started again one second later, as launch's `respawn` does. The AUV's server and "
        "ArduPilot run in lockstep only.",
        "Of dynamics killed in lockstep, the step that it published last may be missing or taken again: the message "
        "reached only some of the subscribers.",
        "The recovery lasts from the start of the new process until it publishes and the graph has taken 20 steps.",
        "A signal is sent from the moment at which the command handles signals; Python itself handles them before.",
    ]
    path = write_results("faults", "Faults", rows, notes)
    print(f"results: {path}")
    sys.exit(0 if all(row.holds is not False for row in rows) else 1)


if __name__ == "__main__":
    main()
