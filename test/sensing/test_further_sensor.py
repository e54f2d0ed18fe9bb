"""A sensor that a derived class declares: all that follows from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from geometry_msgs.msg import Vector3Stamped

from rosflight_py_sim.failures.failure import TARGETS, Target, declare_target, parse_failure
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.shared_parameters import SENSOR_STREAM
from rosflight_py_sim.parts.readings import (
    AirspeedReading,
    BarometerReading,
    BatteryReading,
    GnssReading,
    ImuReading,
    MagReading,
    RangeReading,
    TemperatureReading,
)
from rosflight_py_sim.parts.sensors import Sensors
from rosflight_py_sim.parts.standalone_sensors import ModelledSensors
from rosflight_py_sim.sensing import MAGNETOMETER, SENSORS, Magnetometer
from rosflight_py_sim.sensing.errors import ErrorModel, ErrorSource
from rosflight_py_sim.sensing.failing import Fields
from rosflight_py_sim.sensing.sensor import Failing, Sensor, SensorModel
from rosflight_py_sim.step.ports import Input
from rosflight_py_sim.step.topics import GNSS_FIX, IMU, TRUTH_STATE, StepTopic, stamped
from rosflight_py_sim.step.vehicle_state import VehicleState

MS = 1_000_000


class Height(NamedTuple):
    time_ns: int
    height: float


_ERRORS = ErrorSource("altimeter", "height", "m", 25.0, stdev=0.2, bias_range=1.0)


class Altimeter(SensorModel):
    """Height above the origin, with errors."""

    def __init__(self, values: Any, rng: np.random.Generator) -> None:
        super().__init__(ErrorModel([_ERRORS.terms(values)], rng))

    def read(self, around: Any, time_ns: int, state: VehicleState, dt: float) -> tuple[float]:
        return (self._errors.sample(dt)[0] - state.position_ned[2],)

    def true_errors(self) -> dict[str, float]:
        return self._errors.biases("altimeter_bias")


@pytest.fixture(scope="module", autouse=True)
def my_sensors() -> Iterator[type[ModelledSensors]]:
    """Sensors with an altimeter, whose failures no other test knows."""

    class MySensors(ModelledSensors):
        """Sensors with an altimeter."""

        send_altimeter = Sensor(
            stamped("sim/sensors/altimeter", Vector3Stamped, Height, {"height": "vector.z"}),
            "altimeter",
            "the altimeter",
            Altimeter,
            rate_hz=25.0,
            parameters=_ERRORS.parameters(),
            failures={"altimeter": Failing(Target("altimeter", "m"), lambda: Fields("height"))},
        )

    yield MySensors
    del TARGETS["altimeter"]


def flown(cls: type[Sensors], seconds: float = 1.0, **given: Any) -> tuple[Any, dict[str, Any]]:
    """The sensors, and their messages at rest 30 m above the origin, by output; a step takes 5 ms."""
    sensors = cls(cls.PARAMETERS.checked(given))
    sent: dict[str, list[Any]] = {}
    for port in sensors.ports(Sensor):
        setattr(sensors, port.name, sent.setdefault(port.name, []).append)
    sensors.begin()
    state = VehicleState()
    state.truth[2] = -30.0
    next(port for port in sensors.ports(Input) if port.topic is TRUTH_STATE).taker(sensors)(state)
    for step in range(round(seconds / 0.005)):
        sensors.run(step * 5 * MS)
    return sensors, sent


def test_parameters_follow_from_the_declaration(my_sensors: type[ModelledSensors]) -> None:
    table = my_sensors.PARAMETERS
    assert table["altimeter_update_frequency"].default == 25.0
    assert table["altimeter_latency"].default == 0.0
    assert table["altimeter_bias_range"].default == 1.0
    assert "altimeter_latency" not in ModelledSensors.PARAMETERS
    assert my_sensors.KIND is NodeKind.SENSORS


def test_messages_have_the_rate_and_the_latency(my_sensors: type[ModelledSensors]) -> None:
    _, sent = flown(my_sensors, altimeter_update_frequency=10.0, altimeter_latency=0.05)
    assert [message.time_ns for message in sent["send_altimeter"]] == [k * 100 * MS for k in range(10)]
    _, sent = flown(my_sensors, altimeter_latency=0.05, sensor_stamps="arrival")
    assert [message.time_ns for message in sent["send_altimeter"]][:3] == [50 * MS, 90 * MS, 130 * MS]


def test_further_sensor_changes_no_other_measurement(my_sensors: type[ModelledSensors]) -> None:
    _, alone = flown(ModelledSensors, seed=7)
    _, together = flown(my_sensors, seed=7)
    heights = together.pop("send_altimeter")
    assert together == alone
    assert len({message.height for message in heights}) == len(heights) == 25
    _, again = flown(my_sensors, seed=7)
    assert again["send_altimeter"] == heights
    _, other = flown(my_sensors, seed=8)
    assert other["send_altimeter"] != heights


def test_errors_are_among_the_true_errors_and_continue_with_new_parameters(my_sensors: type[ModelledSensors]) -> None:
    sensors, sent = flown(my_sensors, altimeter_stdev=0.0, seed=3)
    bias = sensors.true_errors()["altimeter_bias"]
    assert sent["send_altimeter"][-1].height == pytest.approx(30.0 + bias)
    values = {**sensors.values, "altimeter_bias_range": 2.0}
    sensors.configure(values)
    assert sensors.true_errors()["altimeter_bias"] == pytest.approx(2.0 * bias)
    sensors.run(2_000 * MS)
    assert sent["send_altimeter"][-1].height == pytest.approx(30.0 + 2.0 * bias)


def test_failures_follow_from_the_declaration(my_sensors: type[ModelledSensors]) -> None:
    assert parse_failure("altimeter stuck at 1").target == "altimeter"
    _, sent = flown(my_sensors, failures=["altimeter off at 0.5", "mag off at 0.5"])
    assert len(sent["send_altimeter"]) == 13
    assert len(sent["send_mag"]) == 25
    _, usual = flown(my_sensors)
    _, wrong = flown(my_sensors, failures=["altimeter wrong by 100"])
    pairs = zip(usual["send_altimeter"], wrong["send_altimeter"], strict=True)
    assert [two.height - one.height for one, two in pairs] == pytest.approx([100.0] * 25)


def test_name_of_another_part_that_can_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="'baro' is declared twice as a part that can fail"):
        declare_target("baro", Target("another barometer", "m"))
    assert TARGETS["baro"].unit == "Pa"


def test_streams_of_rosflights_sensors_are_the_spawned_ones() -> None:
    # The flights of one seed stay the same whatever sensors are added.
    streams = np.random.default_rng([11, SENSOR_STREAM]).spawn(len(SENSORS))
    values = ModelledSensors.PARAMETERS.checked({"seed": 11})
    assert sorted(one.stream for one in SENSORS) == [(k,) for k in range(len(SENSORS))]
    expected = MAGNETOMETER.model(values, streams[2]).true_errors()
    assert MAGNETOMETER.built(values).true_errors() == expected


def test_method_of_a_derived_class_takes_the_place_of_the_model() -> None:
    class Cold(ModelledSensors):
        """Sensors whose thermometer reads 10 K less."""

        def imu_temperature_update(self, state: VehicleState, dt: float) -> Any:
            reading = super().imu_temperature_update(state, dt)
            return reading._replace(temperature=reading.temperature - 10.0)

    _, usual = flown(ModelledSensors)
    _, cold = flown(Cold)
    for name, messages in usual.items():
        if name != "send_imu_temperature":
            assert cold[name] == messages
    pairs = zip(usual["send_imu_temperature"], cold["send_imu_temperature"], strict=True)
    assert [one.temperature_c - two.temperature_c for one, two in pairs] == pytest.approx([10.0] * 50)


def test_readings_of_every_method_become_the_models_messages() -> None:
    class Overriding(ModelledSensors):
        """Sensors that read through the methods of ROSflight's interface."""

    for sensor in SENSORS:

        def update(self: Any, state: VehicleState, dt: float, name: str = sensor.update) -> Any:
            return getattr(super(Overriding, self), name)(state, dt)

        setattr(Overriding, sensor.update, update)

    _, usual = flown(ModelledSensors)
    _, overridden = flown(Overriding)
    temperatures = [
        [message.temperature_c for message in messages.pop("send_imu_temperature")] for messages in (usual, overridden)
    ]
    assert temperatures[0] == pytest.approx(temperatures[1], abs=1e-12)
    assert overridden == usual
    assert overridden["send_imu"][0]._fields == IMU.carried._fields
    assert overridden["send_gnss"][0]._fields == GNSS_FIX.carried._fields


def test_parameter_error_names_an_unknown_further_sensor(my_sensors: type[ModelledSensors]) -> None:
    with pytest.raises(ParameterError, match=r"'further_sensors': \['lidar'\] given; allowed: "):
        my_sensors.table_for({"further_sensors": ["lidar"]})


def test_declaration_that_cannot_measure_is_refused() -> None:
    with pytest.raises(TypeError, match=r"sensor 'sonar': messages of sonar are Vector3Stamped; allowed: named tuples"):
        Sensor(StepTopic("sonar", Vector3Stamped), "sonar", "the sonar", Altimeter, rate_hz=1.0)
    with pytest.raises(TypeError, match="sensor 'sonar': neither model nor update given"):
        Sensor(MAGNETOMETER.topic, "sonar", "the sonar", rate_hz=1.0)


def test_two_sensors_of_one_name_are_refused() -> None:
    second = Sensor(MAGNETOMETER.topic.renamed("mag_2"), "mag", "the magnetometer", Magnetometer, rate_hz=50.0)
    with pytest.raises(TypeError, match="Twice: send_mag and send_second both declare the sensor 'mag'"):
        type("Twice", (ModelledSensors,), {"send_second": second})


def test_declaration_replaces_that_of_the_base_class() -> None:
    class Exact(Magnetometer):
        def read(self, around: Any, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
            return self.field_ned.tolist(), (0.0,) * 9

    class Replaced(ModelledSensors):
        """Sensors with a magnetometer of one's own."""

        send_mag = Sensor(MAGNETOMETER.topic, "mag", "the magnetometer", Exact, rate_hz=50.0, stream=2)

    sensors, sent = flown(Replaced)
    assert sent["send_mag"][0].field == sensors.models["mag"].field_ned.tolist()
    _, usual = flown(ModelledSensors)
    assert {name: sent[name] for name in sent if name != "send_mag"} == {
        name: usual[name] for name in usual if name != "send_mag"
    }


class Steady(Sensors):
    """Sensors without models: each method of ROSflight's interface returns the same reading."""

    def imu_update(self, state: VehicleState, dt: float) -> ImuReading:
        return ImuReading(accel=np.array([0.0, 0.0, -9.8]), gyro=np.array([0.1, 0.2, 0.3]))

    def imu_temperature_update(self, state: VehicleState, dt: float) -> TemperatureReading:
        return TemperatureReading(300.0, 0.25)

    def mag_update(self, state: VehicleState, dt: float) -> MagReading:
        return MagReading(np.array([1.0, 2.0, 3.0]))

    def baro_update(self, state: VehicleState, dt: float) -> BarometerReading:
        return BarometerReading(10.0, 101000.0, 290.0)

    def gnss_update(self, state: VehicleState, dt: float) -> GnssReading:
        return GnssReading(3, 9, 40.0, -111.0, 1400.0, 1.5, 2.5, np.array([4.0, 5.0, 6.0]), 0.5)

    def sonar_update(self, state: VehicleState, dt: float) -> RangeReading:
        return RangeReading(2.0, 0.25, 8.0, 0.05)

    def diff_pressure_update(self, state: VehicleState, dt: float) -> AirspeedReading:
        return AirspeedReading(12.0, 80.0, 290.0)

    def battery_update(self, state: VehicleState, dt: float) -> BatteryReading:
        return BatteryReading(15.0, 3.0)


def test_readings_of_sensors_without_models_become_messages() -> None:
    _, sent = flown(Steady, seconds=0.2, start_date="2026-01-01T00:00:00Z")
    first = {name: tuple(messages[0]) for name, messages in sent.items()}
    assert first == {
        "send_imu": (0, [0.1, 0.2, 0.3], [0.0, 0.0, -9.8], (0.0,) * 9, (0.0,) * 9),
        "send_imu_temperature": (0, 300.0 - 273.15, 0.25),
        "send_mag": (0, [1.0, 2.0, 3.0], (0.0,) * 9),
        "send_baro": (0, 10.0, 101000.0, 290.0),
        "send_gnss": (0, 3, 9, 40.0, -111.0, 1400.0, 1.5, 2.5, 4.0, 5.0, 6.0, 0.5, 1767225600, 0),
        "send_range": (0, 0.05, 0.25, 8.0, 2.0, 0.0),
        "send_diff_pressure": (0, 12.0, 80.0, 290.0),
        "send_battery": (0, 15.0, 3.0),
    }
    assert "mag_stdev" not in Steady.PARAMETERS
