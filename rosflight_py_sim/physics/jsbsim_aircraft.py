"""JSBSim aircraft in the frames and units of this project.

J. Berndt, "JSBSim: An Open Source Flight Dynamics Model in C++", AIAA 2004-4923. JSBSim computes in feet, pounds and
slugs, over the rotating WGS-84 ellipsoid, with gravity by latitude and height. Only this module converts its state into
the truth state:

- Position is flattened along meridian and parallel: north = (M + h0) (latitude - latitude0), east = (N + h0)
  cos(latitude0) (longitude - longitude0), down = h0 - height, with M and N the radii of curvature of the ellipsoid in
  the meridian and in the prime vertical at the origin (NIMA TR 8350.2, 2000, section 4). So down is minus the height
  above the flat ground everywhere, and level flight stays level. Distances east are accurate to 0.1 % up to 7 km north
  or south of the origin at 40 degrees of latitude.
- Attitude is relative to the local north, east and down, which turns with the earth's curvature (0.16 mrad a km).
- Velocity and body rates are relative to the rotating earth.
- Acceleration is the sum of all forces over mass in body axes, gravity and ground contact included. JSBSim gives
  du/dt in the axes that turn with the body and the earth: a = du/dt + (w + 2 W) x u, with w the rate relative to the
  earth, W the earth's (Stevens and Lewis, Aircraft Control and Simulation, 2nd ed., eq. 1.4-2, 1.5-1); gravity
  includes the centrifugal acceleration, so that a vehicle at rest has a = 0. The velocity of the truth state therefore
  also changes by the Coriolis acceleration: 0.007 m/s^2 at 50 m/s.

An output of 1 deflects as in Beard and McLain, which is also JSBSim's sign convention: aileron rolls right, elevator
pitches down, rudder yaws left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.shared_parameters import EARTH
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.physics.dynamics import INITIAL_POSITION, StateDivergedError, checked_truth
from rosflight_py_sim.physics.jsbsim_files import aircraft_file, collector, jsbsim_module, load_without_side_effects
from rosflight_py_sim.physics.rotations import euler_from_quaternion, quaternion_from_euler, quaternion_from_matrix
from rosflight_py_sim.physics.truth_step import (
    EARLIER_SHARE,
    LARGEST_BODY_RATE,
    LARGEST_POSITION,
    LARGEST_VELOCITY,
    QUANTITIES,
)

FOOT = 0.3048
POUND_FORCE = 4.4482216152605
SLUG = POUND_FORCE / FOOT
FOOT_POUND = FOOT * POUND_FORCE
"""JSBSim's units in m, N, kg and N m; the foot and the pound are exact by definition (NIST SP 811, appendix B.8)."""

JSBSIM_PARAMETERS = ParameterTable(
    Parameter(
        "aircraft",
        "c172p",
        "Aircraft of the jsbsim package, or the path of a folder that contains an aircraft's files; a path has a slash",
        read_only=True,
    ),
    Parameter(
        "jsbsim_rate",
        800.0,
        "Rate of JSBSim's integration steps; each simulation step runs a whole number of them",
        "Hz",
        minimum=100.0,
        maximum=10000.0,
        read_only=True,
    ),
    Parameter(
        "brake_throttle",
        0.02,
        "Throttle below which the wheel brakes are on and the chocks at the start hold; 0 for neither",
        minimum=0.0,
        maximum=1.0,
    ),
    INITIAL_POSITION,
    EARTH.overridden("JSBSim always flies over its own rotating ellipsoid", choices=("flat",)),
)

_RESTING_S = 8.0
_SMALLEST_MOTION = 0.1
"""Velocity down (m/s) and body rate (rad/s) below which an aircraft counts as at rest."""
_DEEPEST = 5.0
"""Compression of the landing gear, or draught of a flying boat, up to which it does, m."""
_STEEPEST = 1.5
"""Pitch (rad) from which on JSBSim's rotation matrix replaces its Euler angles, which are noise at 90 degrees."""
_STARTED = ("map-inhg", "n1")
"""Properties that only piston engines, and only turbines and turboprops have; other engines need no start."""
_SEMI_MAJOR, _FLATTENING = 6378137.0, 1.0 / 298.257223563
_BRAKES = ("fcs/left-brake-cmd-norm", "fcs/right-brake-cmd-norm", "fcs/center-brake-cmd-norm")

_STATE = (
    *("position/lat-geod-rad", "position/long-gc-rad", "position/geod-alt-ft"),
    *("attitude/phi-rad", "attitude/theta-rad", "attitude/psi-rad"),
    *("velocities/u-fps", "velocities/v-fps", "velocities/w-fps"),
    *("velocities/p-rad_sec", "velocities/q-rad_sec", "velocities/r-rad_sec"),
    *("velocities/pi-rad_sec", "velocities/qi-rad_sec", "velocities/ri-rad_sec"),
    *("accelerations/udot-ft_sec2", "accelerations/vdot-ft_sec2", "accelerations/wdot-ft_sec2"),
    *("accelerations/pdot-rad_sec2", "accelerations/qdot-rad_sec2", "accelerations/rdot-rad_sec2"),
)
_FORCES = [f"forces/fb{axis}-{part}-lbs" for part in ("total", "gear") for axis in "xyz"]
_MOMENTS = [f"moments/{axis}-{part}-lbsft" for part in ("total", "gear") for axis in "lmn"]
_WIND = [f"atmosphere/wind-{axis}-fps" for axis in ("north", "east", "down")]
_CONTROLS = [f"fcs/{control}-cmd-norm" for control in ("aileron", "elevator", "rudder")]


class AircraftStoppedError(StateDivergedError):
    """JSBSim has stopped; the text gives its reason."""

    def __init__(self, reason: str) -> None:
        ArithmeticError.__init__(self, f"JSBSim has stopped: {reason}")
        self.quantity = "JSBSim"
        self.value = math.nan


class JsbsimAircraft:
    """One aircraft of JSBSim with its engines running, on and above flat ground at the origin's altitude.

    `values` contains JSBSIM_PARAMETERS and the origin of SITE_PARAMETERS. Raises ParameterError for an aircraft that
    does not exist, that JSBSim cannot load, whose engines do not run, or that does not come to rest on the ground.
    """

    truth: NDArray[np.float64]
    """(19,) truth state, see the package; changed in place."""
    initial_truth: NDArray[np.float64]
    """(19,) at rest on its wheels at `initial_position`, nose north, chocks and brakes on, engines idling."""
    wind_ned: NDArray[np.float64]
    """(3,) velocity of the air at the aircraft over the ground, m/s; `set_wind` and `follow_wind` change it."""
    messages: list[str]
    """JSBSim's warnings and errors; the caller may empty the list."""

    def __init__(self, values: Values) -> None:
        self.truth = np.zeros(19)
        self.truth[3] = 1.0
        self.messages = []
        self._name = str(values["aircraft"])
        self._latitude = math.radians(number(values, "origin_latitude"))
        self._longitude = math.radians(number(values, "origin_longitude"))
        self._altitude = number(values, "origin_altitude")
        self._per_latitude, self._per_longitude = radii_of_curvature(self._latitude, self._altitude)
        self._step_ns = round(NANOSECONDS / number(values, "jsbsim_rate"))
        self._left_ns = 0
        self._brake_throttle = number(values, "brake_throttle")
        self._initial_position = np.array(values["initial_position"], dtype=np.float64)
        self.wind_ned, self._sampled_wind = np.zeros(3), np.zeros(3)
        self._throttle = 0.0
        self._chocked = False
        self._stopped = False
        self._file = aircraft_file(self._name)
        try:
            self._load()
        except (RuntimeError, StateDivergedError) as error:
            reason = str(error).strip()
            raise ParameterError(f"parameter 'aircraft': JSBSim cannot fly {self._name!r}: {reason}") from error
        self.initial_truth = self.truth.copy()

    def set_controls(self, aileron: float, elevator: float, rudder: float, throttle: float) -> None:
        """Set the controls: surfaces from -1 to 1, throttle from 0 to 1; the throttle also sets brakes and chocks."""
        for node, value in zip(self._controls, (aileron, elevator, rudder), strict=True):
            node.set_double_value(min(1.0, max(-1.0, value)))
        self._throttle = min(1.0, max(0.0, throttle))
        for node in self._throttles:
            node.set_double_value(self._throttle)
        braking = self._throttle < self._brake_throttle
        for node in self._brakes:
            node.set_double_value(float(braking))
        # Without chocks the wheels' friction model rocks a parked aircraft in gusts, too much for calibrating an IMU.
        self._set_chocks(self._chocked and braking)

    def set_brake_throttle(self, throttle: float) -> None:
        """Change the throttle below which the brakes are on."""
        self._brake_throttle = throttle

    def set_wind(self, wind_ned: NDArray[np.float64]) -> None:
        """Set the velocity of the air over the ground, NED, m/s (3,)."""
        self._sampled_wind[:] = self.wind_ned[:] = wind_ned
        self._give_wind()

    def follow_wind(self, wind_ned: NDArray[np.float64]) -> None:
        """Set the velocity of the air over the ground, NED, m/s (3,), that is sampled once a step.

        Sampled turbulence also contains, by aliasing, the turbulence above half the sampling rate, which an
        accelerometer would measure. The aircraft therefore flies in a weighted mean of this sample and the one before,
        as `advance` of `truth_step.py` takes a mean of wrenches.
        """
        self.wind_ned[:] = wind_ned - EARLIER_SHARE * (wind_ned - self._sampled_wind)
        self._sampled_wind[:] = wind_ned
        self._give_wind()

    def _give_wind(self) -> None:
        for node, value in zip(self._winds, self.wind_ned.tolist(), strict=True):
            node.set_double_value(value / FOOT)

    def step(self, dt: float) -> None:
        """Advance by dt (s) in whole steps of JSBSim; the remainder is carried over to the next call.

        Raises StateDivergedError and keeps the last good truth when the state stops being finite, leaves the limits of
        `truth_step.py`, or JSBSim stops by itself (as after a hard crash). Every later call then fails until
        `set_truth`.
        """
        if self._stopped:
            raise AircraftStoppedError("the aircraft stopped; set a valid state first")
        self._left_ns += round(dt * NANOSECONDS)
        steps, self._left_ns = divmod(self._left_ns, self._step_ns)
        run = self._fdm.run
        for _ in range(steps):
            try:
                going = run()
            except (RuntimeError, ArithmeticError) as error:
                raise self._stop(AircraftStoppedError(str(error))) from error
            if not going or self._fdm.integration_suspended():
                raise self._stop(AircraftStoppedError("; ".join(self.messages[-3:]) or "no reason given"))
        self._read()

    def set_truth(self, truth: NDArray[np.float64]) -> None:
        """Set position, attitude, velocity and body rates from a state (19,); engine and fuel are left unchanged.

        Accelerations are recomputed for the air flow of the new state. A vehicle whose centre of mass is lower than at
        rest on its wheels is lifted onto them. Raises ValueError, and changes nothing, for a state that `checked_truth`
        rejects.
        """
        new = checked_truth(truth)
        if self._stopped:
            self._load()
        self._set_chocks(False)
        self._place(new)

    def start_over(self) -> None:
        """Reset to `initial_truth`, with full tanks and the current wind."""
        self._load()

    def wrench(self) -> NDArray[np.float64]:
        """Force (N) and moment (N m) about the centre of mass in body axes, gravity and ground contact excluded (6,).

        Aerodynamics, propulsion, buoyancy, and the external reactions of the aircraft's file.
        """
        force = [POUND_FORCE * node.get_double_value() for node in self._forces]
        moment = [FOOT_POUND * node.get_double_value() for node in self._moments]
        return np.subtract([*force[:3], *moment[:3]], [*force[3:], *moment[3:]], dtype=np.float64)

    @property
    def mass(self) -> float:
        """Mass including the remaining fuel, kg."""
        return float(self._fdm["inertia/mass-slugs"]) * SLUG

    def property(self, name: str) -> float:
        """Value of a JSBSim property, in JSBSim's unit.

        Raises:
            KeyError: there is no such property.
        """
        return float(self._fdm[name])

    def _load(self) -> None:
        """Create a JSBSim instance, at rest on its wheels at the start position."""
        jsbsim = jsbsim_module()
        self.messages.clear()
        jsbsim.set_logger(collector(jsbsim, self.messages))
        fdm = jsbsim.FGFDMExec(None)
        fdm.set_debug_level(0)
        if not load_without_side_effects(fdm, self._file):
            raise RuntimeError("; ".join(["it cannot be loaded", *self.messages[-2:]]))
        fdm.set_dt(self._step_ns / NANOSECONDS)
        self._fdm = fdm
        self._stopped, self._left_ns = False, 0
        self._bind()
        fdm["ic/lat-geod-rad"], fdm["ic/long-gc-rad"] = self._latitude, self._longitude
        fdm["ic/terrain-elevation-ft"] = self._altitude / FOOT
        fdm.run_ic()
        standing_height = self._height_over_contacts()
        fdm["ic/h-agl-ft"] = standing_height / FOOT
        fdm.run_ic()
        started = self._start_engines()
        self.set_controls(0.0, 0.0, 0.0, 0.0)
        for node in self._brakes:
            node.set_double_value(1.0)
        for _ in range(round(_RESTING_S * NANOSECONDS / self._step_ns)):
            fdm.run()
        self._resting_down = 0.0
        self._read()
        for i in started:
            if not self._is_running(i):
                raise RuntimeError(f"engine {i} stops within {_RESTING_S:g} s of idling")
        self._check_at_rest(standing_height)
        self._resting_down = float(self.truth[2])
        roll, pitch, _ = euler_from_quaternion(*self.truth[3:7].tolist())
        rest = np.zeros(19)
        rest[:3] = *self._initial_position, self._resting_down
        rest[3:7] = quaternion_from_euler(roll, pitch, 0.0)
        self._set_chocks(True)
        self._place(rest)

    def _height_over_contacts(self) -> float:
        """Height of the centre of mass over the lowest contact point in level attitude, m."""
        reactions = self._fdm.get_ground_reactions()
        count = reactions.get_num_gear_units()
        if count == 0:
            raise RuntimeError("it has no contact points to stand on the ground")
        # In the structural frame, the third component is up, in inches.
        lowest = min(float(reactions.get_gear_unit(i).get_location()[2, 0]) for i in range(count))
        return (float(self._fdm["inertia/cg-z-in"]) - lowest) / 12.0 * FOOT

    def _check_at_rest(self, standing_height: float) -> None:
        """Raise RuntimeError if the aircraft is not at rest near the ground; it may roll on its wheels."""
        height, down = -float(self.truth[2]), float(self._fdm["velocities/v-down-fps"]) * FOOT
        rate = float(np.linalg.norm(self.truth[10:13]))
        if abs(height - standing_height) > _DEEPEST or max(abs(down), rate) > _SMALLEST_MOTION:
            raise RuntimeError(
                f"it does not come to rest on the ground: {_RESTING_S:g} s after it was set on its wheels, its centre "
                f"of mass is {abs(height):.1f} m {'above' if height > 0.0 else 'below'} the ground, "
                f"{'sinks' if down > 0.0 else 'rises'} at {abs(down):.1f} m/s and turns at {rate:.2f} rad/s"
            )

    def _set_chocks(self, chocked: bool) -> None:
        self._chocked = chocked
        self._hold_down.set_double_value(float(chocked))

    def _bind(self) -> None:
        """Look up the properties of each step, once."""
        self._matrix = self._fdm.get_propagate().get_Tl2b
        self._state = self._nodes(_STATE)
        self._forces = self._nodes(_FORCES)
        self._moments = self._nodes(_MOMENTS)
        self._winds = self._nodes(_WIND)
        self._controls = self._nodes(_CONTROLS)
        self._brakes = self._nodes(_BRAKES)
        (self._hold_down,) = self._nodes(["forces/hold-down"])
        count = self._fdm.get_propulsion().get_num_engines()
        self._throttles = self._nodes(f"fcs/throttle-cmd-norm[{i}]" for i in range(count))

    def _nodes(self, names: Iterable[str]) -> list[Any]:
        """Properties by name, of which every aircraft must have all."""
        node = self._fdm.get_property_manager().get_node
        found = {name: node(name) for name in names}
        missing = [name for name, property_node in found.items() if property_node is None]
        if missing:
            raise RuntimeError(f"it has no property {', '.join(missing)}")
        return list(found.values())

    def _start_engines(self) -> list[int]:
        """Start the engines that need it, mixture rich and propeller fine; returns their numbers."""
        propulsion, exists = self._fdm.get_propulsion(), self._fdm.get_property_manager().hasNode
        started = [
            i
            for i in range(propulsion.get_num_engines())
            if any(exists(f"propulsion/engine[{i}]/{name}") for name in _STARTED)
        ]
        for i in started:
            self._fdm[f"fcs/mixture-cmd-norm[{i}]"] = 1.0
            self._fdm[f"fcs/advance-cmd-norm[{i}]"] = 1.0
            # This also runs the engine at full throttle until its thrust is steady, which stops some engines again.
            propulsion.init_running(i)
        for i in started:
            if not self._is_running(i):
                propulsion.get_engine(i).init_running()
        return started

    def _is_running(self, engine: int) -> bool:
        return bool(self._fdm[f"propulsion/engine[{engine}]/set-running"])

    def _place(self, truth: NDArray[np.float64]) -> None:
        fdm = self._fdm
        north, east, down = truth[:3].tolist()
        roll, pitch, yaw = euler_from_quaternion(*truth[3:7].tolist())
        fdm["ic/lat-geod-rad"] = self._latitude + north / self._per_latitude
        fdm["ic/long-gc-rad"] = self._longitude + east / self._per_longitude
        fdm["ic/terrain-elevation-ft"] = self._altitude / FOOT
        fdm["ic/h-agl-ft"] = -min(down, self._resting_down) / FOOT
        # JSBSim extracts the other two angles anew at each of these assignments, which fails at a pitch of 90 degrees.
        fdm["ic/theta-rad"] = 0.0
        fdm["ic/phi-rad"], fdm["ic/psi-true-rad"], fdm["ic/theta-rad"] = roll, yaw, pitch
        for axis, speed, rate, value in zip("uvw", truth[7:10].tolist(), "pqr", truth[10:13].tolist(), strict=True):
            fdm[f"ic/{axis}-fps"] = speed / FOOT
            fdm[f"ic/{rate}-rad_sec"] = value
        fdm.run_ic()
        # Initialisation resets the wind, on which the forces in the new state depend.
        self._give_wind()
        fdm.suspend_integration()
        fdm.run()
        fdm.resume_integration()
        self.truth[3:7] = truth[3:7]
        self._read()

    def _read(self) -> None:
        """Copy the truth from JSBSim, in this package's frames and units."""
        latitude, longitude, height, roll, pitch, yaw, *rest = [node.get_double_value() for node in self._state]
        if abs(pitch) < _STEEPEST:
            attitude = quaternion_from_euler(roll, pitch, yaw)
        else:
            attitude = quaternion_from_matrix(np.ascontiguousarray(self._matrix().T))
        u, v, w, p, q, r, pi, qi, ri, du, dv, dw, dp, dq, dr = rest
        new = [
            (latitude - self._latitude) * self._per_latitude,
            math.remainder(longitude - self._longitude, 2.0 * math.pi) * self._per_longitude,
            self._altitude - height * FOOT,
            *attitude,
            *(u * FOOT, v * FOOT, w * FOOT, p, q, r),
        ]
        # w + 2 W, where the inertial rate is w + W.
        x, y, z = 2.0 * pi - p, 2.0 * qi - q, 2.0 * ri - r
        new += [(du + y * w - z * v) * FOOT, (dv + z * u - x * w) * FOOT, (dw + x * v - y * u) * FOOT, dp, dq, dr]
        for index, value in enumerate(new):
            if not abs(value) <= _LIMITS[index]:
                raise self._stop(StateDivergedError(_NAMES[index], value))
        # Of the two quaternions of the attitude, the one near the last.
        if sum(a * b for a, b in zip(new[3:7], self.truth[3:7].tolist(), strict=True)) < 0.0:
            new[3:7] = [-element for element in new[3:7]]
        self.truth[:] = new

    def _stop(self, error: StateDivergedError) -> StateDivergedError:
        self._stopped = True
        return error


_NAMES = [next(name for name, first, last in QUANTITIES[1:7] if first <= i < last) for i in range(19)]
_LIMIT = {"position": LARGEST_POSITION, "velocity": LARGEST_VELOCITY, "body rate": LARGEST_BODY_RATE}
_LIMITS = [_LIMIT.get(name, 1e300) for name in _NAMES]


def radii_of_curvature(latitude: float, altitude: float) -> tuple[float, float]:
    """Metres north per radian of latitude and east per radian of longitude, at a latitude (rad) and altitude (m)."""
    eccentricity_squared = _FLATTENING * (2.0 - _FLATTENING)
    part = 1.0 - eccentricity_squared * math.sin(latitude) ** 2
    meridian = _SEMI_MAJOR * (1.0 - eccentricity_squared) / part**1.5
    prime_vertical = _SEMI_MAJOR / math.sqrt(part)
    return meridian + altitude, (prime_vertical + altitude) * math.cos(latitude)
