"""Compiled steps: the same states as by messages, to the bit, and which vehicles fly by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rosflight_msgs.srv import ParamSet, SetSimState

from proof.compiled_steps import CALIBRATED, VEHICLES, differs, flight, states
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import COMMAND, PWM_OUTPUT, TRUTH_STATE, TRUTH_WIND, ControlCommand
from rosflight_py_sim.step.vehicle_state import message_of_truth

STEP_NS = 2_500_000

WIND: dict[str, Value] = {
    "sim_has_wind": True,
    "use_random_wind": False,
    "turbulence_model": "dryden_8785c",
    "rotational_gusts": True,
}
# Latencies, and irregular rates: Python samples these sensors.
IRREGULAR: dict[str, Value] = {
    "baro_latency": 0.011,
    "mag_update_frequency": 33.0,
    "diff_pressure_update_frequency": 400.0,
}


def lifted(line: Pipeline) -> None:
    truth = np.zeros(19)
    truth[[2, 3, 7, 12]] = -20.0, 1.0, 2.0, 0.5
    assert line.call("dynamics/set_sim_state", SetSimState.Request(state=message_of_truth(truth))).success


ACTS: dict[float, Callable[[Pipeline], object]] = {
    1.0: lifted,
    1.5: lambda line: line.call("param_set", ParamSet.Request(name="PID_ROLL_ANG_P", value=3.0)),
    1.7: lambda line: line.give(
        COMMAND, ControlCommand(line.time_ns, 2, 0, (0.0, 0.0, 0.4, 0.1, 0.0, 0.2, *[0.0] * 4))
    ),
    2.0: lambda line: line.call("forces_and_moments/reset"),
    2.2: lambda line: line.call("calibrate_baro"),
    2.4: lambda line: line.call("calibrate_imu"),
    4.5: lambda line: line.call("reboot"),
    5.0: lambda line: line.call("dynamics/reset"),
}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("multirotor", WIND),
        ("multirotor", IRREGULAR),
        ("hexarotor", {"link_latency": 0.0}),
        ("octorotor", {"rc_frequency": 400.0}),
        ("aerosonde", {"step_size": 0.00125}),
    ],
    ids=["wind", "irregular sensors", "no latency", "frame in each step", "wheels"],
)
def test_compiled_steps_give_the_states_of_steps_by_messages(name: str, settings: dict[str, Value]) -> None:
    compiled, by_messages = (flight(name, {**CALIBRATED, **settings}) for _ in range(2))
    by_messages.pipeline.compiles = False
    of_compiled = states(compiled, 6.0, ACTS)
    assert compiled.pipeline.is_compiled and not by_messages.pipeline.is_compiled
    of_messages = states(by_messages, 6.0, ACTS)
    assert len(of_messages) == round(6.0 / float(settings.get("step_size", 0.0025)))
    assert of_compiled == {time_ns: of_messages[time_ns] for time_ns in of_compiled}
    # Most steps are those in which Python acts, but not all.
    assert 100 < len(of_compiled) < len(of_messages)


@pytest.mark.parametrize("name", VEHICLES)
def test_vehicle_with_firmware_flies_by_compiled_steps(name: str) -> None:
    one = flight(name, {})
    one.pipeline.advance(10_000_000_000)
    for _ in range(50):
        one.pipeline.step()
    assert one.pipeline.is_compiled


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", VEHICLES)
def test_random_flights_are_the_same_compiled_and_by_messages(name: str, seed: int) -> None:
    is_different, _ = differs(name, 10_000 + seed)
    assert not is_different


def test_receivers_get_every_message_of_compiled_steps_in_the_order_of_sending() -> None:
    seen: list[tuple[str, int]] = []
    truths: set[bytes] = set()

    def note(name: str) -> Callable[[Any], None]:
        return lambda message: seen.append((name, message.time_ns))

    topics = (PWM_OUTPUT, TRUTH_WIND, TRUTH_STATE)
    receivers = [(topic, note(topic.name)) for topic in topics]
    line = Pipeline(
        flight("multirotor", {}).pipeline.parts,
        STEP_NS,
        [*receivers, (TRUTH_STATE, lambda state: truths.add(state.truth.tobytes()))],
    )
    for _ in range(100):
        line.step()
    assert line.is_compiled
    ahead = (0, STEP_NS, STEP_NS)
    expected = [
        (topic.name, STEP_NS * n + stamp) for n in range(50, 100) for topic, stamp in zip(topics, ahead, strict=True)
    ]
    assert seen[-150:] == expected
    assert len(truths) > 50


class SlowFall(RigidBodyDynamics):
    """Dynamics that compute the step in another way."""

    def apply_forces_and_torques(self, wrench: np.ndarray, dt: float) -> None:
        super().apply_forces_and_torques(0.5 * wrench, dt)


class Gliding(MultirotorForces):
    """Forces that add a port but compute the wrench as the base class does."""

    def diagnose(self, period: object) -> list[object]:
        return []


@pytest.mark.parametrize(("cls", "is_compiled"), [(SlowFall, False), (Gliding, True)])
def test_class_with_an_answer_of_its_own_is_not_compiled(cls: type, *, is_compiled: bool) -> None:
    parts = [
        cls(part.values) if issubclass(cls, type(part)) else type(part)(part.values)
        for part in flight("multirotor", {}).pipeline.parts[:-1]
    ]
    assert any(type(part) is cls for part in parts)
    line = Pipeline(parts, STEP_NS)
    for _ in range(50):
        line.step()
    assert line.is_compiled is is_compiled
