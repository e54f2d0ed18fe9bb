"""All sensors of a vehicle."""

from __future__ import annotations

import numpy as np

from rosflight_py_sim.parameters import Values, number
from rosflight_py_sim.sensing.barometer import Barometer
from rosflight_py_sim.sensing.battery_monitor import BatteryMonitor
from rosflight_py_sim.sensing.gnss import GnssReceiver
from rosflight_py_sim.sensing.inertial import InertialSensor
from rosflight_py_sim.sensing.magnetometer import Magnetometer
from rosflight_py_sim.sensing.pitot import PitotTube
from rosflight_py_sim.sensing.range_finder import RangeFinder
from rosflight_py_sim.sensing.thermometer import Thermometer
from rosflight_py_sim.shared_parameters import SENSOR_STREAM


class SensorSuite:
    """All sensors, each with a separate stream of random numbers.

    Each sensor has `adopt`, which copies the error states of another, and `true_errors`: every error of its last
    measurement that is constant or varies slowly, so that an estimator could estimate it, by name and in the unit of
    the sensor's parameters. White noise is not among them.
    """

    def __init__(self, values: Values) -> None:
        streams = np.random.default_rng([int(number(values, "seed")), SENSOR_STREAM]).spawn(8)
        self.inertial = InertialSensor(values, streams[0])
        self.thermometer = Thermometer(values, streams[1])
        self.magnetometer = Magnetometer(values, streams[2])
        self.barometer = Barometer(values, streams[3])
        self.gnss = GnssReceiver(values, streams[4])
        self.range_finder = RangeFinder(values, streams[5])
        self.pitot = PitotTube(values, streams[6])
        self.battery = BatteryMonitor(values, streams[7])

    def true_errors(self) -> dict[str, float]:
        """True errors of all sensors, always with the same names in the same order."""
        errors: dict[str, float] = {}
        for sensor in vars(self).values():
            errors |= sensor.true_errors()
        return errors

    def adopt(self, other: SensorSuite) -> None:
        """Take over the error states of other sensors."""
        for name, sensor in vars(self).items():
            sensor.adopt(vars(other)[name])
