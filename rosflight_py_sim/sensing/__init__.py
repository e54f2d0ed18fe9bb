"""Sensors: each a model with errors and its declaration, in one module.

A model is built from checked values and a numpy Generator, and computes measurements from the truth vector. The common
error model is in `errors`. `SENSORS` are the declarations of ROSflight's eight sensors, in the order in which their
messages are sent; `SENSOR_PARAMETERS` combines all their parameters with those of the launch site.
"""

from rosflight_py_sim.ground.parameters import ParameterTable
from rosflight_py_sim.sensing.barometer import BAROMETER, Barometer
from rosflight_py_sim.sensing.battery_monitor import BATTERY_MONITOR, BatteryMonitor
from rosflight_py_sim.sensing.gnss import GNSS_RECEIVER, GnssReceiver
from rosflight_py_sim.sensing.inertial import INERTIAL_SENSOR, InertialSensor
from rosflight_py_sim.sensing.magnetometer import MAGNETOMETER, Magnetometer
from rosflight_py_sim.sensing.pitot import PITOT_TUBE, PitotTube
from rosflight_py_sim.sensing.range_finder import RANGE_FINDER, RangeFinder
from rosflight_py_sim.sensing.sensor import SENSOR_STAMPS, TRUE_ERRORS_RATE
from rosflight_py_sim.sensing.site import SITE_PARAMETERS
from rosflight_py_sim.sensing.thermometer import THERMOMETER, Thermometer

SENSORS = (
    INERTIAL_SENSOR,
    GNSS_RECEIVER,
    MAGNETOMETER,
    BAROMETER,
    PITOT_TUBE,
    RANGE_FINDER,
    BATTERY_MONITOR,
    THERMOMETER,
)

SENSOR_PARAMETERS = sum(
    (one.timing + one.parameters for one in SENSORS), SITE_PARAMETERS + ParameterTable(TRUE_ERRORS_RATE, SENSOR_STAMPS)
)

__all__ = [
    "BAROMETER",
    "BATTERY_MONITOR",
    "GNSS_RECEIVER",
    "INERTIAL_SENSOR",
    "MAGNETOMETER",
    "PITOT_TUBE",
    "RANGE_FINDER",
    "SENSORS",
    "SENSOR_PARAMETERS",
    "THERMOMETER",
    "Barometer",
    "BatteryMonitor",
    "GnssReceiver",
    "InertialSensor",
    "Magnetometer",
    "PitotTube",
    "RangeFinder",
    "Thermometer",
]
