"""Compiled steps: the same states as by messages, to the bit, and which vehicles fly by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from numpy.typing import NDArray
from rosflight_msgs.srv import ParamSet, SetSimState
from std_msgs.msg import Float64

from proof.compiled_steps import CALIBRATED, VEHICLES, differs, flight, rows_of, states
from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.mission import Mission
from rosflight_py_sim.autopilot.setpoint import Setpoint
from rosflight_py_sim.ground.parameters import Value, Values
from rosflight_py_sim.kernels.chain import ChainLink, StepTime
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.parts.rigid_body_dynamics import RigidBodyDynamics
from rosflight_py_sim.parts.square_autopilot import SquareAutopilot
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topics import (
    AUTOPILOT_WAYPOINTS,
    COMMAND,
    GNSS_FIX,
    HOLD_SETPOINT,
    PWM_OUTPUT,
    RANGE,
    RC,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    ControlCommand,
    GnssSample,
    NamedNumbers,
    PulseWidths,
    RangeSample,
    StatusReport,
    StepTopic,
)
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth

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

# Of all parts but the flight controller: they answer by Python.
FAILURES = ("mag drift 1e-7 0 0", "motor 3 stuck", "wind front 1 0 0")


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
        ("multirotor", {"failures": ["gyro wrong by 0.01 0 0 at 1.2 for 2", "battery off at 3"]}),
        ("multirotor", {"failures": ["motor 2 wrong by -30 at 1.2 for 1", "motor 1 noisy 20 at 4"]}),
        ("aerosonde", {"failures": ["wind front 3 -2 0 at 1.5 for 1"]}),
        ("multirotor", {"failures": [f"{one} at 1.1 for 3" for one in FAILURES], **WIND}),
    ],
    ids=[
        *("wind", "irregular sensors", "no latency", "frame in each step", "wheels"),
        *("failing sensors", "failing motors", "failing wind", "all failing"),
    ],
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


# In the last one, a command with the stamp of another clock arrives between two steps, and takes effect at once.
@pytest.mark.parametrize(
    ("name", "seed"), [*((name, seed) for name in VEHICLES for seed in (10_000, 10_001)), ("hexarotor", 34)]
)
def test_random_flights_are_the_same_compiled_and_by_messages(name: str, seed: int) -> None:
    is_different, _ = differs(name, seed)
    assert not is_different


def frame(roll_us: int, throttle_us: int) -> Callable[[Pipeline], object]:
    """Send a frame between those of the transmitter, whose sticks are at rest."""
    pulses = (roll_us, 1500, throttle_us, 1500, 2000, 1000, 1000, 1000)
    return lambda line: line.give(RC, PulseWidths(line.time_ns, pulses))


def commanded(mode: int, stamp_ns: int | None = None) -> Callable[[Pipeline], object]:
    """Send a command between those of the autopilot, by default with the present stamp."""
    u = (0.0, 0.0, 0.45, 0.05, 0.0, 0.1, *[0.0] * 4)
    return lambda line: line.give(COMMAND, ControlCommand(line.time_ns if stamp_ns is None else stamp_ns, mode, 0, u))


@pytest.mark.parametrize("lower_throttle", [0.0, 1.0])
@pytest.mark.parametrize("latency", [0.0, 0.006, 0.05])
def test_sticks_and_commands_override_the_autopilot_alike(lower_throttle: float, latency: float) -> None:
    acts: dict[float, Callable[[Pipeline], object]] = {
        2.505: frame(1500, 1450),
        3.005: frame(1800, 1000),
        3.5: commanded(1),
        3.502: commanded(2),
        4.0: commanded(2, stamp_ns=0),
        4.305: frame(1500, 1900),
        4.31: commanded(0),
        4.7: lambda line: line.call("toggle_override"),
        5.2: lambda line: line.call("toggle_override"),
        5.5: lambda line: line.call("param_set", ParamSet.Request(name="OFFBOARD_TIMEOUT", value=5.0)),
        5.7: lambda line: line.call("param_set", ParamSet.Request(name="TAKE_MIN_THR", value=1.0 - lower_throttle)),
    }
    settings: dict[str, Value] = {
        **CALIBRATED,
        "link_latency": latency,
        "firmware_parameters": [
            *cast("list[str]", CALIBRATED["firmware_parameters"]),
            f"TAKE_MIN_THR {lower_throttle}",
        ],
    }
    compiled, by_messages = (flight("multirotor", settings) for _ in range(2))
    by_messages.pipeline.compiles = False
    of_compiled, of_messages = states(compiled, 6.0, acts), states(by_messages, 6.0, acts)
    assert of_compiled == {time_ns: of_messages[time_ns] for time_ns in of_compiled}
    assert rows_of(compiled) == rows_of(by_messages)
    # The overrides are among the states.
    assert len({status[3] for _, status in of_messages.values()}) > 2


LANDING: dict[str, Value] = {"waypoint_file": "aerosonde_landing.yaml"}


@pytest.mark.parametrize(
    ("name", "settings"),
    [("multirotor", WIND), ("fixedwing", WIND), ("aerosonde", LANDING), ("bluerov2", {"hold_frequency": 50.0})],
)
def test_whole_mission_is_the_same_compiled_and_by_messages(name: str, settings: dict[str, Value]) -> None:
    compiled, by_messages = (flight(name, {"acc_bias_range": 0.1, **settings}) for _ in range(2))
    by_messages.pipeline.compiles = False
    for one in (compiled, by_messages):
        one.fly(300.0)
        assert one.judge.verdict().completed
    assert compiled.pipeline.time_ns == by_messages.pipeline.time_ns
    assert rows_of(compiled) == rows_of(by_messages)
    assert compiled.state.truth.tobytes() == by_messages.state.truth.tobytes()


def waypoints(*north_east: tuple[float, float]) -> Path:
    """Waypoints at a height of 50 m."""
    path = Path()
    for north, east in north_east:
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = north, east, -50.0
        pose.pose.orientation.w = 0.0
        path.poses.append(pose)
    return path


def test_new_waypoints_in_flight_are_followed_the_same_compiled_and_by_messages() -> None:
    compiled, by_messages = (flight("fixedwing", CALIBRATED) for _ in range(2))
    by_messages.pipeline.compiles = False
    for one in (compiled, by_messages):
        line = one.pipeline
        for until_s, places in ((40, [(-300.0, 200.0), (0.0, 600.0)]), (60, [(400.0, 400.0)]), (75, [])):
            while line.time_ns < until_s * 1_000_000_000:
                line.advance(until_s * 1_000_000_000)
            # An empty list is refused, and the path is kept.
            line.give(AUTOPILOT_WAYPOINTS, waypoints(*places))
        line.run_until(90_000_000_000)
    assert rows_of(compiled) == rows_of(by_messages)
    assert compiled.state.truth.tobytes() == by_messages.state.truth.tobytes()


UNDER_WATER: dict[float, Callable[[Pipeline], object]] = {
    0.5: lambda line: line.call("hold/here"),
    1.0: lambda line: line.give(HOLD_SETPOINT, NamedNumbers(line.time_ns, ("depth", "sway"), (1.5, 0.3))),
    1.5: lambda line: line.give(StepTopic[Float64]("hold/yaw", Float64), Float64(data=2.0)),
    2.5: lambda line: line.give(StepTopic[Float64]("hold/surge", Float64), Float64(data=0.5)),
    3.0: lambda line: line.call("hold/release"),
    3.5: lifted,
    4.0: lambda line: line.call("hold/here"),
    5.0: lambda line: line.call("forces_and_moments/reset"),
    5.5: lambda line: line.call("dynamics/reset"),
}


@pytest.mark.parametrize("settings", [{}, {"wave_height": 0.5}], ids=["calm", "waves"])
def test_held_vehicle_moves_the_same_compiled_and_by_messages(settings: dict[str, Value]) -> None:
    of_both: list[dict[int, bytes]] = []
    for compiles in (True, False):
        one = flight("bluerov2", settings)
        line, left, seen = one.pipeline, dict(UNDER_WATER), {}
        line.compiles = compiles
        while line.time_ns < 6_000_000_000:
            for time_s in [time_s for time_s in left if line.time_ns >= round(time_s * 1e9)]:
                left.pop(time_s)(line)
            line.advance(min([6_000_000_000, *(round(time_s * 1e9) for time_s in left)]))
            seen[line.time_ns] = one.state.truth.tobytes()
        assert line.is_compiled is compiles
        of_both.append(seen)
    of_compiled, of_messages = of_both
    assert of_compiled == {time_ns: of_messages[time_ns] for time_ns in of_compiled}
    assert len(set(of_messages.values())) > 2000


@pytest.mark.parametrize(("name", "most"), [("multirotor", 0.06), ("fixedwing", 0.08), ("bluerov2", 0.6)])
def test_python_acts_in_few_steps_of_a_mission(name: str, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    one, advance, count = flight(name, {}), Pipeline.advance, 0

    def counted_advance(line: Pipeline, until_ns: int) -> None:
        nonlocal count
        count += 1
        advance(line, until_ns)

    monkeypatch.setattr(Pipeline, "advance", counted_advance)
    one.fly(300.0)
    assert one.judge.verdict().completed
    # With an autopilot that Python runs at 100 Hz, it would be two thirds of the steps.
    assert count < most * one.pipeline.time_ns / one.step_ns


class ShiftedSquare(Mission):
    """A square that a derived class shifts to the north."""

    def setpoint(self, time_s: float, position_ned: Sequence[float], velocity_ned: Sequence[float]) -> Setpoint:
        found = super().setpoint(time_s, position_ned, velocity_ned)
        north, east, down = found.position_ned
        return found._replace(position_ned=(north + 0.5, east, down))


class ShiftedAutopilot(SquareAutopilot):
    """Autopilot with a mission of its own."""

    def new_mission(self, values: Values) -> Mission:
        return ShiftedSquare(values)


class GentleAutopilot(SquareAutopilot):
    """Autopilot with a guidance of its own."""

    def guide(self, state: VehicleState, dt: float) -> AutopilotCommand | None:
        guided = super().guide(state, dt)
        assert guided is not None
        return guided._replace(u=tuple(0.9 * one for one in guided.u))


class SilentAutopilot(SquareAutopilot):
    """Autopilot that sends its commands in another way."""

    def give_command(self, time_ns: int, guided: AutopilotCommand) -> None:
        if guided.u[2] < 0.5:
            super().give_command(time_ns, guided)


@pytest.mark.parametrize("autopilot", [SquareAutopilot, ShiftedAutopilot, GentleAutopilot, SilentAutopilot])
def test_autopilot_of_a_derived_class_flies_the_same_compiled_and_by_messages(autopilot: type[SquareAutopilot]) -> None:
    truths = []
    for compiles in (True, False):
        parts = [
            autopilot(part.values) if isinstance(part, SquareAutopilot) else part
            for part in flight("multirotor", CALIBRATED).pipeline.parts
        ]
        line = Pipeline(parts, STEP_NS)
        line.compiles = compiles
        line.run_until(6_000_000_000)
        dynamics = next(part for part in parts if isinstance(part, RigidBodyDynamics))
        truths.append(dynamics.compute_truth().tobytes())
        assert line.is_compiled is compiles
    assert truths[0] == truths[1]
    assert dynamics.compute_truth()[2] < -1.0 or autopilot is GentleAutopilot


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


@pytest.mark.parametrize("cls", [SlowFall, Gliding])
def test_class_of_ones_own_gives_the_same_states_compiled_and_by_messages(cls: type) -> None:
    truths: list[list[bytes]] = []
    for compiles in (True, False):
        parts = [
            cls(part.values) if issubclass(cls, type(part)) else type(part)(part.values)
            for part in flight("multirotor", CALIBRATED).pipeline.parts[:-1]
        ]
        assert any(type(part) is cls for part in parts)
        seen: list[bytes] = []
        line = Pipeline(parts, STEP_NS, [(TRUTH_STATE, lambda state, seen=seen: seen.append(state.truth.tobytes()))])
        line.compiles = compiles
        for _ in range(50):
            line.step()
        lifted(line)
        for _ in range(200):
            line.step()
        assert line.is_compiled is compiles
        truths.append(seen[:250])
    assert truths[0] == truths[1]
    assert len(set(truths[0])) > 200


class Listener(Part):
    """Keeps fixes, distances and statuses that are sent as messages, and has no use for those of a chain."""

    DEFAULT_NAME = "listener"

    def initialise(self) -> None:
        super().initialise()
        self.heard: list[Any] = []

    @newest(GNSS_FIX)
    def on_fix(self, fix: GnssSample) -> None:
        self.heard.append(fix)

    @newest(RANGE)
    def on_range(self, distance: RangeSample) -> None:
        self.heard.append(distance)

    @newest(STATUS)
    def on_status(self, status: StatusReport) -> None:
        self.heard.append(status)

    def input_links(self, time: StepTime, topic: str, numbers: NDArray[Any]) -> Sequence[ChainLink]:
        return ()


@pytest.mark.parametrize("latency", [0.0, 0.12, 0.35])
@pytest.mark.parametrize("stamps", ["measurement", "arrival"])
def test_measurements_in_transit_survive_the_end_of_compiled_steps(latency: float, stamps: str) -> None:
    settings: dict[str, Value] = {"gnss_latency": latency, "sensor_stamps": stamps, "gnss_outage_interval": 0.5}
    heard = []
    for compiles in (True, False):
        listener = Listener(Listener.PARAMETERS.defaults())
        line = Pipeline((*flight("multirotor", settings).pipeline.parts, listener), STEP_NS)
        by_messages: list[Any] = []
        for compiled_until_ns, until_ns in ((1_040_000_000, 2_000_000_000), (3_010_000_000, 3_500_000_000)):
            line.compiles = compiles
            line.run_until(compiled_until_ns)
            assert line.is_compiled is compiles
            line.compiles, listener.heard = False, by_messages
            line.run_until(until_ns)
            listener.heard = []
        assert {type(one) for one in by_messages} == {GnssSample, RangeSample, StatusReport}
        heard.append(by_messages)
    assert heard[0] == heard[1]
