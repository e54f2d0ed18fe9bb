"""Steps per CPU second of other simulators of quadrotors, run by the Python of an environment that has them.

    PYTHON benchmarks/peers.py crazyflow --worlds 1024
    PYTHON benchmarks/peers.py rotorpy

Both simulate rigid body, rotors and motor lag, without sensors and without the firmware of a flight controller;
crazyflow with an attitude controller. `pip install crazyflow rotorpy` installs them. This file imports nothing else.
"""

from __future__ import annotations

import argparse
import time


def crazyflow_rate(worlds: int, seconds: float) -> float:
    """Steps per CPU second of all worlds, 50 steps in each call, at 500 Hz."""
    import jax
    import numpy as np
    from crazyflow.sim import Sim

    sim, steps_of_call = Sim(n_worlds=worlds, n_drones=1), 50
    sim.reset()
    command = np.zeros((worlds, 1, 4), dtype=np.float32)
    command[..., 3] = 0.3

    def call() -> None:
        sim.attitude_control(command)
        sim.step(steps_of_call)
        jax.block_until_ready(sim.data)

    # The first calls compile.
    for _ in range(2):
        call()
    count, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        call()
        count += steps_of_call
    return worlds * count / (time.process_time() - start)


def rotorpy_rate(seconds: float) -> float:
    """Steps per CPU second of one vehicle with constant rotor speeds, at 400 Hz."""
    from rotorpy.vehicles.crazyflie_params import quad_params
    from rotorpy.vehicles.multirotor import Multirotor

    vehicle = Multirotor(quad_params)
    state, control = vehicle.initial_state, {"cmd_motor_speeds": [1788.53] * 4}
    count, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        state = vehicle.step(state, control, 1.0 / 400.0)
        count += 1
    return count / (time.process_time() - start)


def main() -> None:
    """Print the rate of one simulator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("simulator", choices=("crazyflow", "rotorpy"))
    parser.add_argument("--worlds", type=int, default=1024, help="vehicles that crazyflow steps at once (default 1024)")
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    if given.simulator == "crazyflow":
        print(crazyflow_rate(given.worlds, given.seconds))
    else:
        print(rotorpy_rate(given.seconds))


if __name__ == "__main__":
    main()
