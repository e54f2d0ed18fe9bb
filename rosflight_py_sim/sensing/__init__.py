"""Sensor models with errors: one module per sensor, each computing readings from the truth vector.

`SENSOR_PARAMETERS` combines all their tables with the launch site and the update rates. A sensor is built from checked
values and a numpy Generator. Give each sensor its own Generator (`Generator.spawn`), so that changing one sensor's rate
does not affect the random numbers of the others. The common error model is in `errors`.
"""

from rosflight_py_sim.sensing import (
    barometer,
    battery_monitor,
    gnss,
    inertial,
    magnetometer,
    pitot,
    range_finder,
    thermometer,
)
from rosflight_py_sim.sensing.barometer import Barometer
from rosflight_py_sim.sensing.battery_monitor import BatteryMonitor
from rosflight_py_sim.sensing.gnss import GnssReceiver
from rosflight_py_sim.sensing.inertial import InertialSensor
from rosflight_py_sim.sensing.latency import LATENCY_PARAMETERS
from rosflight_py_sim.sensing.magnetometer import Magnetometer
from rosflight_py_sim.sensing.pitot import PitotTube
from rosflight_py_sim.sensing.range_finder import RangeFinder
from rosflight_py_sim.sensing.site import RATE_PARAMETERS, SITE_PARAMETERS
from rosflight_py_sim.sensing.thermometer import Thermometer

SENSOR_PARAMETERS = (
    SITE_PARAMETERS
    + RATE_PARAMETERS
    + LATENCY_PARAMETERS
    + inertial.PARAMETERS
    + thermometer.PARAMETERS
    + magnetometer.PARAMETERS
    + barometer.PARAMETERS
    + gnss.PARAMETERS
    + range_finder.PARAMETERS
    + pitot.PARAMETERS
    + battery_monitor.PARAMETERS
)

__all__ = [
    "SENSOR_PARAMETERS",
    "Barometer",
    "BatteryMonitor",
    "GnssReceiver",
    "InertialSensor",
    "Magnetometer",
    "PitotTube",
    "RangeFinder",
    "Thermometer",
]
