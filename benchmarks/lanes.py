"""Vehicle steps per CPU second of many multirotors on one core without ROS, which compiled code runs in one call.

    python -m benchmarks.lanes

prints the rates of

- vehicles with all sensors, firmware and turbulence that hold a command;
- the same in a vectorised environment, with a decision in each 8 steps;
- rigid body, propellers, motor lag and battery alone, at constant outputs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

import rosflight_py_sim.learning  # noqa: F401 (registers the environments)
from benchmarks.held_command import STEP_NS, hovering
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, pulse_of
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cell, Cells, ChainLink, StepTime, Taken
from rosflight_py_sim.kernels.jit import run_chains
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.ports import output, trigger
from rosflight_py_sim.step.topics import CLOCK, PWM_OUTPUT, PulseWidths
from rosflight_py_sim.sweep.pipeline_flight import built_parts, planned_parts
from rosflight_py_sim.vehicles import vehicle

DECISION_STEPS = 8
# Throttle at which the vehicle climbs slowly.
HOVER = 0.55


class HeldOutputs(Part):
    """Flight controller whose outputs are constant."""

    DEFAULT_NAME: ClassVar[str] = "held_outputs"

    send_pwm = output(PWM_OUTPUT)
    clock = trigger(CLOCK)

    def initialise(self) -> None:
        """Climb slowly."""
        super().initialise()
        self.pulse_us = np.array([round(pulse_of(HOVER, MOTOR))] * 4 + [1500] * (OUTPUTS - 4))

    def answer(self, time_ns: int, content: Any) -> None:
        """Send the outputs."""
        self.send_pwm(self._message(time_ns))

    def cells(self) -> Cells:
        """The outputs."""
        return {PWM_OUTPUT.name: Cell(self.pulse_us, self._message)}

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink]:
        """None: the outputs stay."""
        return ()

    def _message(self, time_ns: int) -> PulseWidths:
        return PulseWidths(time_ns, tuple(self.pulse_us.tolist()))


def body() -> Pipeline:
    """A multirotor in flight without sensors and firmware."""
    member = Member(vehicle("multirotor"))
    settings: dict[str, Any] = {"starts_in_flight": True, "starts_on_ground": False, "initial_altitude": 1e3}
    sources = parameter_sources([member], files=[], weakest={"device": "none"}, settings=settings)
    parts = built_parts(planned_parts(member), member, sources)
    physics = [part for part in parts if isinstance(part, (ForcesAndMoments, RigidBodyDynamics))]
    line = Pipeline([HeldOutputs(HeldOutputs.PARAMETERS.defaults()), *physics], STEP_NS)
    line.run_until(10 * STEP_NS)
    assert line.is_compiled
    return line


def chains_rate(lines: Sequence[Pipeline], seconds: float) -> float:
    """Vehicle steps per CPU second of pipelines, whose chains run for a simulated time in one call after the other."""
    steps = [one.compiled for one in lines]
    first, began = lines[0].now_ns, time.process_time()
    until_ns = first + round(seconds * NANOSECONDS)
    while lines[0].now_ns < until_ns:
        end_ns = lines[0].now_ns + 50 * STEP_NS
        for one in steps:
            assert one is not None
            one.time.until_ns = end_ns
        at, status = np.zeros(len(steps), dtype=np.int64), np.zeros(len(steps), dtype=np.int64)
        run_chains([one.chain for one in steps if one is not None], at, status)
        for line, index, one_status in zip(lines, at.tolist(), status.tolist(), strict=True):
            line.arrive(index, one_status, -1)
            line.run_until(end_ns)
    return len(lines) * (until_ns - first) / STEP_NS / (time.process_time() - began)


class Environments:
    """Vectorised environment in which a simple law hovers."""

    def __init__(self, count: int) -> None:
        self._envs = gymnasium.make_vec("rosflight_py_sim/Hover-v0", num_envs=count, time_limit=1e6, farthest=1e5)
        self._seen, _ = self._envs.reset(seed=1)
        self.rate(0.2)

    def rate(self, seconds: float) -> float:
        """Vehicle steps per CPU second, with a decision in each 8 steps."""
        decisions, began = round(seconds / (DECISION_STEPS * STEP_NS / NANOSECONDS)), time.process_time()
        for _ in range(decisions):
            ahead, right, down = (0.15 * np.clip(self._seen[:, :3], -2.0, 2.0) + 0.2 * self._seen[:, 3:6]).T
            actions = np.stack([right, -ahead, self._seen[:, 15], -0.1 - 2.0 * down], axis=1)
            self._seen, *_ = self._envs.step(actions)
        return self._envs.num_envs * decisions * DECISION_STEPS / (time.process_time() - began)


def sensed_rate(count: int, seconds: float) -> float:
    """Vehicle steps per CPU second with sensors and firmware, over a simulated time (s)."""
    return chains_rate([hovering(is_compiled=True) for _ in range(count)], seconds)


def body_rate(count: int, seconds: float) -> float:
    """Vehicle steps per CPU second of rigid bodies alone, over a simulated time (s)."""
    return chains_rate([body() for _ in range(count)], seconds)


def environments_rate(count: int, seconds: float) -> float:
    """Vehicle steps per CPU second of a vectorised environment, over a simulated time (s)."""
    return Environments(count).rate(seconds)


def main() -> None:
    """Print the best of several turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    rates: dict[str, Callable[[int, float], float]] = {
        "sensors and firmware": sensed_rate,
        "vectorised environment": environments_rate,
        "rigid body and motors": body_rate,
    }
    for name, rate in rates.items():
        for count, seconds in ((1, 50.0), (64, 2.0)):
            best = max(rate(count, seconds) for _ in range(turns))
            print(f"{name}, vehicles: {count}: {best:,.0f} vehicle steps/s")


if __name__ == "__main__":
    main()
