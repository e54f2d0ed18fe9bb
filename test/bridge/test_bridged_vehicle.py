"""Vehicles of the bridge as parts, without ROS: which front-ends receive which snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rosflight_py_sim.bridge.bridged_vehicle import BridgedVehicle, VehicleFrontEnds
from rosflight_py_sim.bridge.front_end_interface import FrontEndInterface, Snapshot
from rosflight_py_sim.step.part import NoLog
from rosflight_py_sim.step.ports import Input, Polled
from rosflight_py_sim.step.topics import BatterySample, GnssSample, ImuSample, RangeSample, WindSample
from rosflight_py_sim.step.vehicle_state import VehicleState

STEP_NS = 2_500_000


class Observer(FrontEndInterface):
    """Observes every `period`-th step."""

    period = 1

    def __init__(self, *required_fields: str, ranges: tuple[str, ...] = ()) -> None:
        super().__init__({}, NoLog())
        self.required_fields = frozenset(required_fields)
        self.received: list[Snapshot] = []
        self._ranges = ranges

    def open(self) -> None:
        """Nothing to open."""

    def close(self) -> None:
        """Nothing to close."""

    def peer(self, vehicle: int) -> str:
        """No client."""
        return "nobody"

    def further_ranges(self, vehicle: int) -> tuple[str, ...]:
        """Topics of range finders."""
        return self._ranges

    def is_due(self, vehicle: int, time_ns: int) -> bool:
        """Whether it is time."""
        return time_ns // STEP_NS % self.period == 0

    def observe(self, vehicle: int, snapshot: Snapshot) -> None:
        """Note the snapshot."""
        self.received.append(snapshot)


class Silent(Observer):
    """Does not observe."""

    observe = FrontEndInterface.observe
    is_due = FrontEndInterface.is_due


def observed_by(*observers: FrontEndInterface) -> BridgedVehicle:
    vehicle = BridgedVehicle(
        BridgedVehicle.PARAMETERS.checked({}), VehicleFrontEnds(0, "", "", None, observers), NoLog()
    )
    vehicle.begin()
    return vehicle


def step(vehicle: BridgedVehicle, number: int) -> None:
    time_ns = number * STEP_NS
    vehicle.receive_wind(WindSample(time_ns, (1.0, 2.0, 3.0)))
    vehicle.receive_state(VehicleState(time_ns))
    vehicle.run(time_ns, ImuSample(time_ns, (0.1, 0.2, 0.3), (0.0, 0.0, -9.8)))


def inputs(vehicle: BridgedVehicle, kind: Any = Input) -> list[str]:
    return [port.topic.name for port in vehicle.ports(kind)]


def test_due_observers_share_one_snapshot_of_the_step() -> None:
    first, second = Observer(), Observer()
    second.period = 3
    vehicle = observed_by(first, second)
    for number in range(1, 8):
        step(vehicle, number)
    assert [one.time_ns for one in first.received] == [number * STEP_NS for number in range(1, 8)]
    assert [one.time_ns for one in second.received] == [3 * STEP_NS, 6 * STEP_NS]
    assert second.received[0] is first.received[2]
    assert first.received[0].gyro == (0.1, 0.2, 0.3)
    assert first.received[0].wind_ned == (1.0, 2.0, 3.0)


def test_front_end_that_does_not_observe_is_never_due() -> None:
    assert not Silent().is_due(0, 0)


def test_inputs_are_those_that_the_front_ends_require() -> None:
    step_inputs = ["sim/truth_wind", "sim/truth_state", "sim/sensors/imu/data", "sim/repeated_clock"]
    assert inputs(observed_by(Observer())) == step_inputs
    assert inputs(observed_by(Observer("battery"), Observer("gnss", "status"))) == [
        "sim/sensors/battery",
        "sim/sensors/gnss",
        "status",
        *step_inputs,
    ]
    vehicle = observed_by(Observer("images", "attitude"))
    assert inputs(vehicle, Polled) == [
        "attitude/euler",
        *(f"camera/{name}/image_raw/compressed" for name in ("front", "bottom")),
    ]


@pytest.mark.parametrize(
    ("distances", "ranges"),
    [({}, (None, None, None)), ({"": 2.0, "left": 3.0}, (2.0, 3.0, None)), ({"right": 4.0}, (None, None, 4.0))],
)
def test_ranges_are_those_of_the_sensors_and_then_of_the_further_topics(
    distances: Mapping[str, float], ranges: tuple[float | None, ...]
) -> None:
    observer = Observer("range", ranges=("left", "right"))
    vehicle = observed_by(observer)
    takers = {
        port.name if port.family else "": port.taker(vehicle)
        for port in vehicle.ports(Input)
        if "ange" in f"{port.family}{port.name}"
    }
    for name, distance in distances.items():
        takers[name](RangeSample(0, 0.1, 0.2, 10.0, distance))
    step(vehicle, 1)
    assert tuple(one and one.distance for one in observer.received[0].ranges) == ranges


def test_snapshot_has_the_newest_measurements_and_none_before_the_first() -> None:
    observer = Observer("battery", "gnss")
    vehicle = observed_by(observer)
    step(vehicle, 1)
    takers = {port.name: port.taker(vehicle) for port in vehicle.ports(Input)}
    takers["battery"](BatterySample(STEP_NS, 24.0, 3.0))
    fix = GnssSample(STEP_NS, 3, 15, 40.2, -111.6, 1437.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0)
    takers["gnss"](fix)
    step(vehicle, 2)
    before, after = observer.received
    assert (before.battery, before.gnss) == (None, None)
    assert (after.battery, after.gnss) == ((24.0, 3.0), fix)
