"""A sensor as one declaration: its topic, model, rate, latency, random numbers and failures.

The declaration is an output of the part that has the sensor. It determines the parameters of the rate and the latency,
the names of the failures, the model of each vehicle, and the schedule of the messages.

A measurement of time t arrives at t + d, where the latency d is constant. It covers everything between the instant that
a measurement describes and its arrival at the flight controller: averaging in the sensor, conversion, filters and the
bus.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.failures.failure import Target, declare_target
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import SENSOR_STREAM
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import ChainLink, FieldArrays
from rosflight_py_sim.sensing.errors import ErrorModel
from rosflight_py_sim.sensing.failing import Measured
from rosflight_py_sim.step.ports import Output
from rosflight_py_sim.step.topics import StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState

M = TypeVar("M")

MEASUREMENT, ARRIVAL = "measurement", "arrival"
"""Values of the parameter `sensor_stamps`."""

SENSOR_STAMPS = Parameter(
    "sensor_stamps",
    MEASUREMENT,
    "Stamps of sensor messages: time of the measurement, or of its arrival. An imu_latency above 0 requires arrival, "
    "because the IMU message triggers a step by its stamp",
    choices=(MEASUREMENT, ARRIVAL),
    read_only=True,
)

TRUE_ERRORS_RATE = Parameter(
    "truth_errors_frequency",
    50.0,
    "Rate at which the true errors of all sensors are published",
    "Hz",
    minimum=0.1,
    maximum=1000.0,
    read_only=True,
)

FURTHER_SENSORS = Parameter(
    "further_sensors",
    [],
    "Optional sensors that the vehicle has; each adds its parameters and its topic. Empty: none",
    element=str,
    read_only=True,
)


class Surroundings(Protocol):
    """Inputs of a sensor model besides the true state.

    Attributes:
        rotor_speeds: true speed of each rotor, rad/s (n,); empty if unknown.
        models: models of the vehicle's sensors, by the names of the sensors.
        start_ns: Unix time of stamp 0, ns.
        wind_ned: velocity of the air over the ground, NED, m/s (3,); the next access overwrites the array.
        power: newest true voltage (V) and current (A) of the battery (2,); not a number, and 0, before the first
            message.
        armed: whether the flight controller is armed.
    """

    rotor_speeds: NDArray[np.float64]
    models: dict[str, Any]
    armed: bool
    power: NDArray[np.float64]

    @property
    def start_ns(self) -> int: ...
    @property
    def wind_ned(self) -> NDArray[np.float64]: ...


class SensorInputs(NamedTuple):
    """Inputs of a sensor in a chain; the arrays by their memory.

    Attributes:
        truth: truth vector (19,).
        wind_ned: velocity of the air over the ground (3,), m/s.
        power: as in Surroundings.
        dt: time between two measurements, s.
    """

    truth: NDArray[np.float64]
    wind_ned: NDArray[np.float64]
    power: NDArray[np.float64]
    dt: float


class SensorModel(ABC):
    """Base class of sensor models: measurements of one sensor with errors.

    A model is built from the checked values of the parameters and a random number generator that no other model uses.
    """

    def __init__(self, errors: ErrorModel) -> None:
        """Store the errors of the measured channels."""
        self._errors = errors

    def links(self, inputs: SensorInputs) -> tuple[NDArray[np.float64], Sequence[ChainLink]] | None:
        """Links of a chain that measure once, and the memory of the measured numbers; by default None."""
        return None

    def reading(self, around: Surroundings, time_ns: int, dt: float) -> tuple[Any, ...]:
        """What `read` would have returned for the last measurement of `links`.

        A model without this method measures by `read` while a receiver needs messages.

        Args:
            around: inputs besides the true state.
            time_ns: stamp of the measurement, ns.
            dt: time since the measurement before, s, > 0.
        """
        raise NotImplementedError

    @property
    def field_arrays(self) -> FieldArrays:
        """Memory of the message's fields that change from one measurement of `links` to the next; by default none."""
        return {}

    def sent_fields(self, numbers: NDArray[np.float64], unix_ns: int) -> tuple[Any, ...] | None:
        """Fields of the sensor's message after its stamp, the first of which are the numbers of `links`.

        With a latency, a chain keeps the measurements in transit as these numbers. By default None: Python keeps them.

        Args:
            numbers: the numbers.
            unix_ns: Unix time of the measurement, ns.
        """
        return None

    @abstractmethod
    def read(self, around: Surroundings, time_ns: int, state: VehicleState, dt: float) -> tuple[Any, ...]:
        """Return a measurement.

        Args:
            around: inputs besides the true state.
            time_ns: stamp of the measurement, ns.
            state: true state.
            dt: time since the last measurement, s, > 0.

        Returns:
            fields of the sensor's message after its stamp.
        """

    def adopt(self, other: Any) -> None:
        """Continue the errors of another model of the same class with this model's parameters."""
        self._errors.adopt(other._errors)

    def true_errors(self) -> dict[str, float]:
        """Constant and slowly varying errors of the last measurement, which an estimator could estimate.

        The mapping always has the same names in the same order; the values are in the units of the sensor's parameters.
        It does not contain white noise. By default it is empty.
        """
        return {}


class Failing(NamedTuple):
    """Component of a sensor that can fail.

    Attributes:
        target: description, unit and allowed kinds of its failures.
        measured: makes the `Measured`, which selects the numbers of a message that a failure changes.
    """

    target: Target
    measured: Callable[[], Measured]


class Sensor(Output[M]):
    """A sensor, declared as an output of the part that has it.

    Attributes:
        sensor: name of the sensor, with which the parameters of its rate (`..._update_frequency`) and latency
            (`..._latency`) begin.
        model: class or function that builds its model: (checked values, random number generator) -> `SensorModel`.
        update: name of the part's method that reads the sensor in place of the model, in classes that have it: (state,
            time since the last reading in s) -> one of `parts.readings`, or the message's fields after the stamp.
        timing: parameters of rate and latency.
        parameters: parameters of the model.
        failures: components that can fail, by their names in texts of failures.
        stream: key of its random stream, different from those of other sensors.
        every_step: whether each step has a message, whatever the rate and latency, with the stamp of the step; true
            only for the IMU, whose message triggers the flight controller.
        optional: whether a vehicle has the sensor only if the parameter `further_sensors` names it.
    """

    def __init__(
        self,
        topic: StepTopic[M],
        sensor: str,
        text: str,
        model: Callable[[Values, np.random.Generator], SensorModel] | None = None,
        *,
        rate_hz: float,
        latency_s: float = 0.0,
        update: str = "",
        parameters: ParameterTable | None = None,
        failures: Mapping[str, Failing] | None = None,
        stream: int | None = None,
        every_step: bool = False,
        optional: bool = False,
    ) -> None:
        """Declare a sensor.

        `topic` is the row of its messages, whose class is a named tuple that begins with the stamp. `text` is the name
        in the texts of the parameters, such as "the DVL". `rate_hz` and `latency_s` are defaults. `stream` is the
        number of its random stream, which by default follows from `sensor`. The other arguments are attributes of the
        class.

        Raises:
            TypeError: the topic's messages are not named tuples, or there is neither a model nor `update`.
        """
        if not issubclass(topic.carried, tuple):
            raise TypeError(
                f"sensor '{sensor}': messages of {topic.name} are {topic.carried.__name__}; allowed: named tuples that "
                "begin with time_ns (a topic made by step.topics.stamped)"
            )
        if model is None and not update:
            raise TypeError(f"sensor '{sensor}': neither model nor update given; one of them measures")
        super().__init__(topic)
        self.sensor, self.model, self.update = sensor, model, update
        self.every_step, self.optional = every_step, optional
        self.parameters = parameters or ParameterTable()
        self.failures = dict(failures or {})
        for name, failing in self.failures.items():
            declare_target(name, failing.target)
        self.stream = tuple(sensor.encode()) if stream is None else (stream,)
        sampled = f"{text} (in lockstep they are sampled at every step)" if every_step else text
        self.timing = ParameterTable(
            Parameter(
                f"{sensor}_update_frequency",
                rate_hz,
                f"Sample rate of {sampled}",
                "Hz",
                minimum=0.01,
                maximum=10000.0,
                read_only=True,
            ),
            Parameter(
                f"{sensor}_latency",
                latency_s,
                f"Time from a measurement of {text} to its arrival",
                "s",
                minimum=0.0,
                maximum=10.0,
                read_only=True,
            ),
        )

    def exists(self, part: Any) -> bool:
        """Whether a part has the sensor."""
        return not self.optional or self.sensor in part.values[FURTHER_SENSORS.name]

    def rate_hz(self, values: Values) -> float:
        """Rate of the measurements, Hz."""
        return number(values, f"{self.sensor}_update_frequency")

    def latency_ns(self, values: Values) -> int:
        """Latency, ns.

        Raises:
            ParameterError: the latency of a sensor with a message in every step is not 0, and `sensor_stamps` is
                `measurement`.
        """
        name = f"{self.sensor}_latency"
        given = number(values, name)
        if self.every_step and given > 0.0 and values[SENSOR_STAMPS.name] != ARRIVAL:
            raise ParameterError(
                f"parameter '{name}': {given:g} s given; allowed: 0 s if sensor_stamps is '{MEASUREMENT}', because "
                f"the IMU message with the stamp of a step triggers that step; or set sensor_stamps to '{ARRIVAL}'"
            )
        return round(given * NANOSECONDS)

    def built(self, values: Values) -> SensorModel:
        """The sensor's model; the parameter `seed` and the stream determine its random numbers."""
        assert self.model is not None
        seed = np.random.SeedSequence([int(number(values, "seed")), SENSOR_STREAM], spawn_key=self.stream)
        return self.model(values, np.random.default_rng(seed))
