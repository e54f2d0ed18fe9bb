"""Autopilot of a plane in guided mode: modes, cage, deadman, and the target of each mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.cage import CAGE_PARAMETERS, SI_UNITS, Cage, CageBit, Observed, ShownUnit, bit_names
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    PositionTarget,
)
from rosflight_py_sim.autopilot.guided_mode_states import TRANSITIONS, Event, Mode
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.autopilot.waypoint_route import ROUTE_PARAMETERS, Route, RouteWaypoint
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number

_LOST_SIGNAL_EVENTS = {"waypoint": Event.GOES_TO_WAYPOINT, "return_home": Event.GOES_HOME}

GUIDED_MODE_PARAMETERS = (
    ParameterTable(
        Parameter(
            "ap_target_from_packet_timeout",
            2.0,
            "Time after a fly() command within which the next one must arrive",
            "s",
            minimum=1.0,
            maximum=10.0,
        ),
        Parameter(
            "lost_signal_mode",
            "return_home",
            "Behaviour when fly() ends: resume the last waypoint command, or circle over home",
            choices=tuple(_LOST_SIGNAL_EVENTS),
        ),
        Parameter(
            "lost_comm_timeout",
            10.0,
            "Time without packets after which the ground station counts as lost",
            "s",
            minimum=1.0,
            maximum=1e6,
        ),
        Parameter(
            "nav_lost_timeout",
            5.0,
            "Time without a position, or without the attitude estimate that flies a multirotor, after which navigation "
            "counts as lost",
            "s",
            minimum=0.1,
            maximum=1e6,
        ),
        Parameter(
            "home_altitude", 60.0, "Height above home for waiting and for the return", "m", minimum=-1e5, maximum=1e5
        ),
        Parameter("home_airspeed", 18.0, "Airspeed for waiting and for the return", "m/s", minimum=0.1, maximum=300.0),
        Parameter(
            "ground_height",
            3.0,
            "Height above home below which an armed vehicle takes off first",
            "m",
            minimum=-1e5,
            maximum=1e5,
        ),
    )
    + ROUTE_PARAMETERS
    + CAGE_PARAMETERS
)

MOST_WAYPOINTS = 10_000
"""Capacity of the buffer."""

_COMMANDED = frozenset((Mode.WAYPOINT, Mode.PACKET_TARGET))

# Bits that fly_engage clears.
_OF_PACKETS = (
    1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE | 1 << CageBit.PACKET_TIMEOUT_LOST_COMM | 1 << CageBit.TARGET
)

# Time constant (s) of smoothing: battery monitors are noisy, and voltage changes more slowly, except for sag at full
# throttle.
_BATTERY_LAG = 2.0


class Silence(NamedTuple):
    """Time since the last packet, or the last fly() command, and the time limit, s of the supervisor's time."""

    what: str
    lasted_s: float
    limit_s: float


class GuidedModeSupervisor:
    """Flies one plane by commands within its cage, independent of sockets and of the protocol's text.

    Each command method returns the reason for a refusal, or an empty text if the command was accepted; its time is that
    of the last `update`. Home is the origin of NED.

    Attributes:
        mode: current mode.
        cage_triggered: bitmap of the limits currently exceeded (see `CageBit`).
        triggered_last: bitmap that last switched fly() off; cleared by `engage`.
        enabled: whether fly() commands are accepted.
    """

    def __init__(self, values: Values, controller: TargetController, units: Mapping[str, ShownUnit] = SI_UNITS) -> None:
        """`values` contains the checked values of GUIDED_MODE_PARAMETERS; others are ignored.

        `units` are those of the quantities in refusals.

        Raises:
            ParameterError: cage limits contradict each other, or home is outside them.
        """
        self._units = units
        self.mode = Mode.STANDBY
        self.cage_triggered = 0
        self.triggered_last = 0
        self.enabled = False
        # Times of the last fly() command, the last packet and the last valid navigation.
        self._now = self._last_fly = self._last_packet = self._last_fix = -math.inf
        self._battery: float | None = None
        self._waypoints: dict[int, RouteWaypoint] = {}
        # Target of waypoint commands; None for home.
        self._goal: FlyTarget | Route | None = None
        self._controller = controller
        self._target_limits: dict[str, float] = {}
        self.configure(values, controller)
        self._target = self._home

    def configure(self, values: Values, controller: TargetController) -> None:
        """Apply changed parameters; `controller` continues from its predecessor's state.

        Raises:
            ParameterError: cage limits contradict each other, or home is outside them; nothing changes.
        """
        cage = Cage(values, self._units)
        height, airspeed = number(values, "home_altitude"), number(values, "home_airspeed")
        home = FlyTarget(PositionTarget(0.0, 0.0), AirspeedTarget(airspeed), AltitudeTarget(height))
        outside = cage.of_target(home) & ~_OF_PACKETS
        if outside:
            raise ParameterError(
                f"parameters 'home_altitude' and 'home_airspeed': {height:g} m and {airspeed:g} m/s given; allowed: "
                f"inside the cage; exceeded: {bit_names(outside)}"
            )
        if controller is not self._controller:
            controller.adopt(self._controller)
        self._controller, self._cage, self._home = controller, cage, home
        self._values = values
        self._timeout = number(values, "ap_target_from_packet_timeout")
        self._lost_comm_timeout = number(values, "lost_comm_timeout")
        self._nav_lost_timeout = number(values, "nav_lost_timeout")
        self._ground_height = number(values, "ground_height")
        self._lost_signal = _LOST_SIGNAL_EVENTS[str(values["lost_signal_mode"])]

    def note_packet(self) -> None:
        """Record the arrival of a packet from a ground station, of any content."""
        self._last_packet = self._now

    def overdue(self, time_s: float) -> Silence | None:
        """The silence that will end fly() unless a command arrives; None before half of its time limit has passed."""
        if not self.enabled:
            return None
        silences = [Silence("packet", time_s - self._last_packet, self._lost_comm_timeout)]
        if self.mode is Mode.PACKET_TARGET:
            silences.append(Silence("fly", time_s - self._last_fly, self._timeout))
        late = [one for one in silences if one.lasted_s > 0.5 * one.limit_s]
        return max(late, key=lambda one: one.lasted_s / one.limit_s, default=None)

    def engage(self) -> str:
        """Enable fly() commands (fly_engage); the plane must be inside its cage."""
        if self.mode not in (*_COMMANDED, Mode.RETURN_HOME):
            return self._refused_in_mode("fly_engage")
        outside = self.cage_triggered & ~_OF_PACKETS
        if outside:
            return f"fly_engage refused: outside the cage ({bit_names(outside)})"
        self.enabled, self.triggered_last = True, 0
        self._happens(Event.ENGAGED)
        return ""

    def disengage(self) -> str:
        """Disable fly() commands; if one is being flown, enter the lost-signal mode (fly_disengage)."""
        self.enabled = False
        self._happens(Event.DISENGAGED)
        return ""

    def fly(self, target: FlyTarget) -> str:
        """Set the current target (fly); a target outside the cage ends this mode.

        A refused target does not reset the deadman timer.
        """
        if self.mode not in _COMMANDED:
            return self._refused_in_mode("fly")
        if not self.enabled:
            why = f", switched off by {bit_names(self.triggered_last)}" if self.triggered_last else ""
            return f"fly refused: ap_target_from_packet_enabled is 0{why}; send fly_engage first"
        outside = self._cage.of_target(target)
        if outside:
            self.cage_triggered |= outside
            self._switch_off(outside, Event.TARGET_OUTSIDE)
            return f"fly refused and switched off: outside the cage: {self._cage.excess(target)}"
        self._target, self._last_fly = target, self._now
        self._happens(Event.FLY)
        return ""

    def fly_to(self, target: FlyTarget) -> str:
        """Fly over a position and circle it; altitude and airspeed must be inside the cage."""
        refusal = self._refused_outside("fly_to", target)
        if refusal:
            return refusal
        assert isinstance(target.lateral, PositionTarget)
        return self._take_goal("fly_to", replace(target, lateral=replace(target.lateral, overfly=True)))

    def add_waypoint(self, waypoint: RouteWaypoint) -> str:
        """Add a waypoint to the buffer, replacing one with the same number; the cage is that of `fly_to`."""
        if self.mode is Mode.MANUAL:
            return self._refused_in_mode("waypoint_add")
        refusal = self._refused_outside("waypoint_add", waypoint.target)
        if refusal:
            return refusal
        if len(self._waypoints) >= MOST_WAYPOINTS and waypoint.id not in self._waypoints:
            return f"waypoint_add refused: the buffer is full ({MOST_WAYPOINTS} waypoints)"
        self._waypoints[waypoint.id] = waypoint
        return ""

    def clear_waypoints(self) -> str:
        """Clear the buffer; a route being flown ends at its current waypoint."""
        if self.mode is Mode.MANUAL:
            return self._refused_in_mode("waypoint_clear_all")
        self._waypoints.clear()
        return ""

    def has_waypoint(self, waypoint_id: int) -> bool:
        """Whether the buffer contains a waypoint with this number."""
        return waypoint_id in self._waypoints

    def fly_to_waypoint(self, waypoint_id: int) -> str:
        """Fly the route that begins at this waypoint of the buffer."""
        if self.mode not in _COMMANDED:
            return self._refused_in_mode("fly_to_waypoint")
        if waypoint_id not in self._waypoints:
            return f"fly_to_waypoint refused: no waypoint {waypoint_id} in the buffer"
        return self._take_goal("fly_to_waypoint", Route(self._waypoints, waypoint_id, self._values))

    def update(self, observed: Observed, dt: float) -> AutopilotCommand | None:
        """Command for the next `dt` seconds; None if the safety pilot flies or the state is not finite."""
        if not observed.state.is_finite:
            return None
        self._keep_time(observed.time_s)
        self._happens(self._situation(observed))
        self._keep_cage(observed, dt)
        controller, state = self._controller, observed.state
        self._target_limits = controller.limits(state)
        if self.mode is Mode.TAKE_OFF:
            guided = controller.take_off(state, dt)
            if controller.has_taken_off:
                self._happens(Event.HIGH_ENOUGH)
            return guided
        if self.mode is Mode.MANUAL:
            return None
        if self.mode is Mode.STANDBY:
            return controller.stand(state)
        if self.mode is Mode.PACKET_TARGET:
            return controller.fly(state, self._target, dt)
        goal = self._goal
        return controller.fly(state, goal.update(state) if isinstance(goal, Route) else goal or self._home, dt)

    def variables(self) -> dict[str, float]:
        """All variables for ground stations, in SI units; waypoint_id is -1 if there is none."""
        return {
            "control_operate_mode": float(self.mode),
            "cage_triggered": float(self.cage_triggered),
            "ap_target_from_packet_enabled": float(self.enabled),
            "ap_target_from_packet_cage_triggered_last": float(self.triggered_last),
            "ap_target_from_packet_timeout": self._timeout,
            "waypoint_id": float(self._goal.waypoint_id if isinstance(self._goal, Route) else -1),
            **self._cage.limits,
        }

    def limits(self) -> dict[str, float]:
        """Further variables of limits, in SI units; those of the vehicle are known after the first update."""
        return {"cage_handheld_lost_comm": float(self._cage.needs_handheld), **self._target_limits}

    def _refused_in_mode(self, command: str) -> str:
        return f"{command} refused: control_operate_mode is {self.mode} ({self.mode.label})"

    def _refused_outside(self, command: str, target: FlyTarget) -> str:
        """Refusal of a waypoint whose altitude or airspeed is outside the cage; empty if it is inside.

        The range limits the plane, not its route.
        """
        excess = self._cage.excess(replace(target, lateral=CourseTarget(0.0)))
        return f"{command} refused: outside the cage: {excess}" if excess else ""

    def _take_goal(self, command: str, goal: FlyTarget | Route) -> str:
        if self.mode not in _COMMANDED:
            return self._refused_in_mode(command)
        self._goal = goal
        self._happens(Event.WAYPOINT_COMMAND)
        return ""

    def _keep_time(self, now: float) -> None:
        if now < self._now:
            # The simulation has restarted, so earlier times are invalid.
            self._last_fly = self._last_packet = self._last_fix = now
        if self._last_packet == -math.inf:
            self._last_packet = self._last_fix = now
        self._now = now

    def _situation(self, observed: Observed) -> Event:
        # The override switch is ignored while the safety pilot's signal is lost.
        if observed.override and not observed.rc_lost:
            return Event.OVERRIDE_ON
        if not observed.armed:
            return Event.DISARMED
        return Event.ON_GROUND if observed.state.height < self._ground_height else Event.IN_AIR

    def _keep_cage(self, observed: Observed, dt: float) -> None:
        """Check plane and packets against the cage, and end fly() if a limit is exceeded."""
        measured = observed.battery_voltage
        if measured is not None:
            known = measured if self._battery is None else self._battery
            self._battery = known + (1.0 - math.exp(-dt / _BATTERY_LAG)) * (measured - known)
        overdue = self.mode is Mode.PACKET_TARGET and self._now - self._last_fly > self._timeout
        lost = self._now - self._last_packet > self._lost_comm_timeout
        # Accelerations briefly make the attitude estimate unhealthy, which is not a failure.
        if observed.gps_ok and observed.nav_ok:
            self._last_fix = self._now
        strayed = self._now - self._last_fix > self._nav_lost_timeout
        self.cage_triggered = (
            self._cage.of_state(observed, self._battery)
            | overdue << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE
            | lost << CageBit.PACKET_TIMEOUT_LOST_COMM
            | strayed << CageBit.NAV_LOST
        )
        if self.enabled and self.cage_triggered:
            self._switch_off(self.cage_triggered, Event.CAGE_LEFT)

    def _switch_off(self, bits: int, event: Event) -> None:
        self.enabled, self.triggered_last = False, bits
        self._happens(event)

    def _happens(self, event: Event) -> None:
        """Enter the mode that the transition table gives for the event, if any."""
        mode = TRANSITIONS[self.mode].get(event, self.mode)
        if mode is self.mode:
            return
        self.mode = mode
        if mode is Mode.LOST_SIGNAL:
            self._happens(self._lost_signal)
        elif mode is Mode.RETURN_HOME:
            self._goal = None
        elif mode in (Mode.MANUAL, Mode.STANDBY):
            self.enabled = False
            self._controller.reset()
            if mode is Mode.STANDBY:
                self._goal = None
