"""A plane of Ground Control: commanded by a GuidedModeSupervisor, with variables for ground stations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.cage import CAGE_LIMITS, Observed, ShownUnit
from rosflight_py_sim.autopilot.flight_state import flight_state
from rosflight_py_sim.autopilot.fly_target import TargetError
from rosflight_py_sim.autopilot.guided_mode_supervisor import GUIDED_MODE_PARAMETERS, GuidedModeSupervisor
from rosflight_py_sim.autopilot.target_controller import TARGET_LIMITS, TargetController
from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.bridge.uthere_targets import target_of_fly, target_of_fly_to, waypoint_of
from rosflight_py_sim.bridge.uthere_units import UTHERE_UNIT_PARAMETERS, UthereUnits
from rosflight_py_sim.bridge.uthere_variables import (
    FIRST,
    VARIABLES,
    mean_throttle,
    vehicle_variables,
    vertical_error,
    wing_load,
)
from rosflight_py_sim.firmware import ErrorFlag, Override
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.uthere import (
    Fly,
    FlyDisengage,
    FlyEngage,
    FlyTo,
    FlyToWaypoint,
    WaypointAdd,
    WaypointClearAll,
)
from rosflight_py_sim.vehicles.physics_model import control_loops

if TYPE_CHECKING:
    from rosflight_py_sim.step.topics import StatusReport

PlaneCommand: TypeAlias = Fly | FlyDisengage | FlyEngage | FlyTo | WaypointAdd | WaypointClearAll
"""Commands that name one plane or address all of them."""

FlightCommand: TypeAlias = PlaneCommand | FlyToWaypoint
"""Commands that affect a plane's flight."""

CONTROLLER = "uthere.controller"
"""Name of the parameter that selects the control loops."""

_OWN = "uthere."

_LARGEST_NUMBER = 2**31 - 1


_LOOPS = control_loops()
"""Control loops by name."""

UTHERE_PLANE_PARAMETERS = (
    ParameterTable(
        Parameter(
            "uthere.plane_id",
            12345,
            "Number of the first plane that programs command; the others have the numbers after it, then the observed "
            "vehicles, unless they have numbers of their own",
            minimum=0,
            maximum=_LARGEST_NUMBER,
            read_only=True,
        ),
        Parameter(
            CONTROLLER,
            "fixedwing",
            "Target controller that follows the programs' commands; the graph sets that of the vehicle's physics",
            choices=tuple(_LOOPS),
            read_only=True,
        ),
        Parameter(
            "uthere.throttle_outputs",
            [4],
            "Numbers of the motor outputs, from 0; the variable throttle is their mean",
            minimum=0,
            maximum=OUTPUTS - 1,
            read_only=True,
        ),
        *(replace(one, name=f"{_OWN}{one.name}") for one in GUIDED_MODE_PARAMETERS),
    )
    + UTHERE_UNIT_PARAMETERS
    + sum((loops.PARAMETERS for loops in _LOOPS.values()), start=ParameterTable())
)

# The pilot's switches end guided flight; a moved stick or a missing command does not.
_PILOT_HAS_IT = Override.ATT_SWITCH | Override.THR_SWITCH

_FIX_WITH_HEIGHT = 3

# Estimation error of the vertical, rad, beyond which the flight controller cannot hold an angle. It reports an
# unhealthy estimate much sooner: after half a second of a turn, when the accelerometer does not measure the vertical.
_LOST = 0.5


class UtherePlane:
    """One plane.

    Attributes:
        number: identifies the plane to programs.
        pilot: commands the plane.
        names: all variables, in the order of data_all.
    """

    def __init__(self, values: Values, constants: Mapping[str, float]) -> None:
        """`values` contains the checked values of UTHERE_PLANE_PARAMETERS for this plane; others are ignored.

        `constants` are variables of Ground Control itself, which follow those of the plane.
        """
        self.number = int(number(values, "uthere.plane_id"))
        self._constants = dict(constants)
        self._units = UthereUnits(values)
        outputs = values["uthere.throttle_outputs"]
        assert isinstance(outputs, list)
        self._motors = [int(output) for output in outputs]
        controller = _controller(values)
        self.pilot = GuidedModeSupervisor(_own(values), controller, _shown_units(self._units))
        self._flies_by_estimate = controller.FLIES_BY_ESTIMATE
        self._scales = _scales(self._units)
        known = (*self.pilot.variables(), "cage_handheld_lost_comm", *TARGET_LIMITS, *VARIABLES, *self._constants)
        self.names = (*FIRST, *(name for name in known if name not in FIRST))

    def configure(self, values: Values) -> None:
        """Apply changed parameters, even in flight.

        Raises:
            ParameterError: the values contradict each other; nothing is changed.
        """
        units = UthereUnits(values)
        self.pilot.configure(_own(values), _controller(values))
        self._units, self._scales = units, _scales(units)

    @property
    def mode(self) -> str:
        """Label of the mode."""
        return self.pilot.mode.label

    def packet_received(self) -> None:
        """Restart the communication timeout."""
        self.pilot.note_packet()

    def has_waypoint(self, number: int) -> bool:
        """Whether the plane's buffer contains a waypoint with this number."""
        return self.pilot.has_waypoint(number)

    def execute(self, command: FlightCommand) -> str:
        """Execute a command; return the reason if it is refused, otherwise an empty text."""
        pilot = self.pilot
        try:
            match command:
                case Fly():
                    return pilot.fly(target_of_fly(command, self._units))
                case FlyEngage():
                    return pilot.engage()
                case FlyDisengage():
                    return pilot.disengage()
                case FlyTo():
                    return pilot.fly_to(target_of_fly_to(command, self._units))
                case WaypointAdd():
                    return pilot.add_waypoint(waypoint_of(command, self._units))
                case WaypointClearAll():
                    return pilot.clear_waypoints()
                case FlyToWaypoint():
                    return pilot.fly_to_waypoint(command.waypointid)
        except TargetError as error:
            return str(error)

    def update(self, snapshot: Snapshot, dt: float) -> AutopilotCommand | None:
        """Command for the next `dt` seconds; None before the flight controller's first status."""
        if snapshot.status is None:
            return None
        return self.pilot.update(self._observed(snapshot, snapshot.status), dt)

    def variables(self, snapshot: Snapshot) -> dict[str, float]:
        """Value of each variable that is known so far, in the order of `names`."""
        pilot = self.pilot.variables() | self.pilot.limits()
        own = {name: value * self._scales.get(name, 1.0) for name, value in pilot.items()}
        known = own | vehicle_variables(snapshot, self._units, self._motors) | self._constants
        return {name: known[name] for name in self.names if name in known and math.isfinite(known[name])}

    def _observed(self, snapshot: Snapshot, status: StatusReport) -> Observed:
        gnss = snapshot.gnss
        return Observed(
            time_s=snapshot.time_ns / NANOSECONDS,
            state=flight_state(snapshot.truth.tolist(), snapshot.wind_ned),
            throttle=mean_throttle(snapshot, self._motors) or 0.0,
            wing_load=wing_load(snapshot, self._units.gravity),
            battery_voltage=None if snapshot.battery is None else snapshot.battery[0],
            armed=status.armed,
            override=bool(status.rc_override & _PILOT_HAS_IT),
            rc_lost=status.failsafe or bool(status.error_code & ErrorFlag.RC_LOST),
            gps_ok=gnss is not None and gnss.fix_type >= _FIX_WITH_HEIGHT,
            nav_ok=not self._flies_by_estimate or vertical_error(snapshot) < _LOST,
            imu_ok=not status.error_code & ErrorFlag.IMU_NOT_RESPONDING,
        )


def _own(values: Values) -> dict[str, Value]:
    """The values with the protocol's prefix, without the prefix."""
    return {name.removeprefix(_OWN): value for name, value in values.items() if name.startswith(_OWN)}


def _controller(values: Values) -> TargetController:
    return _LOOPS[str(values[CONTROLLER])](values)


def _shown_units(units: UthereUnits) -> dict[str, ShownUnit]:
    """Ground Control's unit of each quantity of a target."""
    return {
        "altitude": ShownUnit(1.0 / units.altitude, units.altitude_name),
        "range": ShownUnit(1.0 / units.altitude, units.altitude_name),
        "climb": ShownUnit(1.0 / units.climb, "ft/s"),
        "airspeed": ShownUnit(1.0 / units.speed, units.speed_name),
        "throttle": ShownUnit(100.0, "%"),
        "roll": ShownUnit(math.degrees(1.0), "deg"),
        "pitch": ShownUnit(math.degrees(1.0), "deg"),
    }


def _scales(units: UthereUnits) -> dict[str, float]:
    """Factor from SI to Ground Control's unit for each limit of the cage and of targets, by name."""
    shown = _shown_units(units)
    quantities = {limit.name: limit.quantity for limit in CAGE_LIMITS}
    quantities |= {name: name.split("_")[1] for name in TARGET_LIMITS}
    return {name: shown[quantity].per_si for name, quantity in quantities.items() if quantity in shown}
