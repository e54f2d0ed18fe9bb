"""Fly the missions of test/data/missions.yaml again and rewrite it, after a change that alters flights on purpose.

Run from the project's folder: `.venv/bin/python tools/record_missions.py`. Seed, step size, wind and seconds of the
file are kept; a mission that ends later is reported, and the file is not written.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import yaml

FILE = Path("test/data/missions.yaml")
HEAD = """\
# Truth of whole missions. Each row: second, SHA-256 of all truth states so far, position NED (m). The wind is that of
# config/wind.yaml with a lower mean, so that the fixed wing stands still during its calibration.
# The hashes hold where test/graph/arithmetic.py gives the mark below. To record them anew:
# .venv/bin/python tools/record_missions.py
"""


def main() -> int:
    """Return 0, or 1 if a mission is not done at its last second."""
    environment = {
        **os.environ,
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": str(random.SystemRandom().randrange(1, 100)),
    }

    def output(*words: str) -> list[str]:
        run = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    before = yaml.safe_load(FILE.read_text("utf-8"))
    seed, step_s, wind = before["seed"], before["step_size"], before["steady_state_wind"]
    mark = output("test/graph/arithmetic.py")[0]
    lines = [HEAD, f"arithmetic: '{mark}'\nseed: {seed}\nstep_size: {step_s}\n"]
    lines.append(f"steady_state_wind: {wind}\nmissions:\n")
    for vehicle, recorded in before["missions"].items():
        seconds = [row[0] for row in recorded]
        words = ["--step-size", str(step_s), "--watch", "member", "--params-file", "config/wind.yaml"]
        words += ["-p", f"seed:={seed}", "-p", f"steady_state_wind:={wind}"]
        *flown, activity = output("test/graph/flown_truth.py", vehicle, str(seconds[-1]), *words)
        if activity != "done":
            print(f"{vehicle}: {activity} at {seconds[-1]} s; give the mission more time in {FILE}", file=sys.stderr)
            return 1
        lines.append(f"  {vehicle}:\n")
        for second, digest, *place in map(str.split, flown):
            if int(second) in seconds:
                lines.append(f"    - [{second}, {digest}, [{', '.join(place)}]]\n")
    FILE.write_text("".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
