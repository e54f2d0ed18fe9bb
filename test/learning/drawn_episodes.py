"""Digests of the observations of vehicles with drawn parameters, wind and failures.

    python drawn_episodes.py NUMBER...

flies the vehicles in this order, each in an environment of its own.
"""

from __future__ import annotations

import hashlib
import random
import sys

import numpy as np

from rosflight_py_sim.learning.environment import PolicyEnv


def flown(number: int) -> str:
    """Digest of an episode."""
    rng = random.Random(number)
    env = PolicyEnv(
        "hover",
        observations="sensors",
        parameters={
            "mass": rng.choice([3.3, 3.5, 3.7]),
            "Jxx": rng.choice([0.06, 0.08, 0.1]),
            "motor_time_constant": rng.choice([0.0, 0.02]),
            "ground_contact": rng.choice([False, True]),
            "origin_altitude": rng.choice([0.0, 1500.0]),
            "sim_has_wind": True,
            "steady_state_wind": [rng.uniform(-3, 3), 0.0, 0.0],
            "step_size": 0.01,
        },
        failures=[f"motor 2 wrong by -20 at {rng.uniform(0.0, 0.2)}", f"gyro noisy 0.1 at {rng.uniform(0.0, 0.2)}"],
    )
    digest = hashlib.sha256(env.reset(options={"seed": 3, "number": number})[0].tobytes())
    for _ in range(15):
        digest.update(env.step(np.full(4, 0.1, dtype=np.float32))[0].tobytes())
    return digest.hexdigest()


def main() -> None:
    """Print number and digest of each episode."""
    for number in map(int, sys.argv[1:]):
        print(number, flown(number))


if __name__ == "__main__":
    main()
