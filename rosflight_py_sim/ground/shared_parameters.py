"""Parameters shared by several nodes, each declared once; section `/**` of a parameter file sets them for all nodes.

A node that needs another default or range uses `Parameter.overridden`, which adds the reason to the text.
"""

from __future__ import annotations

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable

TIME_MODES = ("wall", "paced", "gated", "lockstep")
"""The time modes of a simulation, choices of the parameter `time_mode`."""

TIME_MODE = Parameter(
    "time_mode",
    "wall",
    "Time mode: wall (timers on the node's clock, selected by use_sim_time), paced or gated (timers on /clock) or "
    "lockstep (one step per /clock message, after the previous step is complete)",
    choices=TIME_MODES,
    read_only=True,
)

STEP_SIZE = Parameter("step_size", 0.0025, "Simulated time of one step", "s", minimum=1e-4, maximum=0.02)

SEED = Parameter(
    "seed",
    0,
    "Seed of this node's random number generator; the same seed gives the same run",
    minimum=0,
    maximum=2**31 - 1,
    read_only=True,
)

MASS = Parameter("mass", 3.5, "Mass of the vehicle", "kg", minimum=1e-6, maximum=1e6, required=True)

EARTHS = ("flat", "wgs84", "sphere", "rotating_sphere")
"""The models of the earth, choices of the parameter `earth`."""

EARTH = Parameter(
    "earth",
    "flat",
    "Model of the earth: flat (constant gravity), wgs84 (rotating ellipsoid with gravitation to J2), sphere, or "
    "rotating_sphere (both with gravitation GM/r^2)",
    choices=EARTHS,
    read_only=True,
)

GRAVITY = Parameter(
    "gravity",
    9.81,
    "Gravitational acceleration of the flat earth",
    "m/s^2",
    minimum=0.0,
    maximum=30.0,
)

ORIGIN_LATITUDE = Parameter(
    "origin_latitude", 40.2463724, "Geodetic latitude of the NED origin", "deg", minimum=-90.0, maximum=90.0
)
ORIGIN_LONGITUDE = Parameter(
    "origin_longitude", -111.6474138, "Longitude of the NED origin", "deg", minimum=-180.0, maximum=180.0
)
ORIGIN_ALTITUDE = Parameter(
    "origin_altitude",
    1387.0,
    "Altitude of the NED origin above mean sea level",
    "m",
    minimum=-1000.0,
    maximum=20000.0,
)

GROUND_ALTITUDE = Parameter(
    "ground_altitude",
    0.0,
    "Height of the ground above the origin of the inertial frame, in worlds without water",
    "m",
    minimum=-1e5,
    maximum=1e5,
)

START_DATE = Parameter(
    "start_date",
    "2026-01-01T00:00:00Z",
    "Date and time of simulated time 0, ISO 8601 (UTC unless it has an offset)",
    read_only=True,
)

CLOCK_FROM_START_DATE = Parameter(
    "clock_from_start_date",
    False,
    "Start /clock and all stamps at start_date instead of 0, which is in 1970; for programs that take the date from a "
    "stamp. All nodes of a simulation need the same value; no effect in time mode wall",
    read_only=True,
)

WATER_DENSITY = Parameter(
    "water_density",
    0.0,
    "Density of the water below down = 0; 0 means no water",
    "kg/m^3",
    minimum=1.0,
    maximum=1e4,
    also_allowed=(0.0,),
)

ROTATIONAL_GUSTS = Parameter(
    "rotational_gusts",
    False,
    "Whether turbulence also rotates the air at the vehicle: dynamics publishes sim/truth_wind_rates, for which "
    "forces_and_moments waits",
    read_only=True,
)

DOWNWASH = Parameter(
    "downwash",
    False,
    "Whether the jets below other vehicles' rotors move the air at the vehicle, and those below its own rotors the air "
    "at others. Dynamics then waits for the node encounters",
    read_only=True,
)

MAX_YAW_RATE = Parameter("max_yaw_rate", 1.0, "Largest commanded yaw rate", "rad/s", minimum=0.01, maximum=50.0)

STARTS_IN_FLIGHT = Parameter(
    "starts_in_flight",
    False,
    "Start a multirotor in flight: the firmware calibrated and armed, the rotors at the speed of hover, and the "
    "companion computer in control. All nodes of a vehicle need the same value; `starts_on_ground` false and "
    "`initial_altitude` give the height",
    read_only=True,
)

SPOOL_UP_TIME = Parameter(
    "spool_up_time",
    1.0,
    "Time after a start over which the throttle limit rises from 0 to 1",
    "s",
    minimum=0.0,
    maximum=100.0,
)

WIND_STREAM, SENSOR_STREAM, FAILURE_STREAM = 1, 2, 3
"""Second word of a generator's seed: several nodes use the same `seed`, and each draws from a separate stream."""

TAKE_OFF_TIMEOUT = Parameter(
    "take_off_timeout",
    60.0,
    "Longest time for which a motor runs at more than 30 % of its range before the vehicle is 0.2 m above its start; a "
    "mission that exceeds it ends",
    "s",
    minimum=1.0,
    maximum=1e6,
)

CLOCK_PARAMETERS = ParameterTable(START_DATE, CLOCK_FROM_START_DATE)
"""Parameters by which every node and part reads stamps."""


def with_clock(table: ParameterTable) -> ParameterTable:
    """The table with the parameters of the clock; the same table if it has them."""
    return table if CLOCK_FROM_START_DATE.name in table else table + CLOCK_PARAMETERS
