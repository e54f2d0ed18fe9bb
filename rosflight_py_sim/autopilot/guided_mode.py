"""The autopilot of a plane that programs steer by packets: modes, cage, deadman, and the target of each mode."""

from __future__ import annotations

import math

from rosflight_py_sim.autopilot.cage import CAGE_PARAMETERS, Cage, CageBit, Observed, words
from rosflight_py_sim.autopilot.fly_target import AirspeedTarget, AltitudeTarget, FlyTarget, PositionTarget
from rosflight_py_sim.autopilot.guided import Guided
from rosflight_py_sim.autopilot.guided_modes import TRANSITIONS, Event, Mode
from rosflight_py_sim.autopilot.target_controller import TargetController
from rosflight_py_sim.autopilot.waypoint_route import ROUTE_PARAMETERS, Route, RouteWaypoint
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Values, number

_GOES = {"waypoint": Event.GOES_TO_WAYPOINT, "return_home": Event.GOES_HOME}

GUIDED_MODE_PARAMETERS = (
    ParameterTable(
        Parameter(
            "ap_target_from_packet_timeout",
            2.0,
            "time after a fly() command in which the next one must come",
            "s",
            minimum=1.0,
            maximum=10.0,
        ),
        Parameter(
            "lost_signal_mode",
            "return_home",
            "what the plane does when fly() ends: fly on by its last waypoint command, or circle over home",
            choices=tuple(_GOES),
        ),
        Parameter(
            "lost_comm_timeout",
            10.0,
            "time without any packet after which the ground station counts as lost",
            "s",
            minimum=1.0,
        ),
        Parameter(
            "nav_lost_timeout",
            5.0,
            "time without a position, or without an attitude to trust, after which navigation counts as lost",
            "s",
            minimum=0.1,
        ),
        Parameter("home_altitude", 60.0, "height over home at which it waits for commands, and returns", "m"),
        Parameter("home_airspeed", 18.0, "airspeed of the same", "m/s", minimum=0.0, above_minimum=True),
        Parameter("ground_height", 3.0, "below this an armed vehicle takes off before anything else, above home", "m"),
    )
    + ROUTE_PARAMETERS
    + CAGE_PARAMETERS
)

MOST_WAYPOINTS = 10_000
"""Of the buffer."""

_COMMANDED = frozenset((Mode.WAYPOINT, Mode.PACKET_TARGET))

# A fly_engage that comes while one of these is set puts that right itself.
_OF_PACKETS = (
    1 << CageBit.PACKET_TIMEOUT_FOR_SELECTED_MODE | 1 << CageBit.PACKET_TIMEOUT_LOST_COMM | 1 << CageBit.TARGET
)

# Battery monitors are noisy; no battery changes as fast as this (s), but for the sag of a full throttle.
_BATTERY_LAG = 2.0


class GuidedModeSupervisor:
    """Flies one plane as packets say, within its cage; it knows neither sockets nor the packets' text.

    Each command answers with the reason of a refusal, or with nothing when it was taken; its time is that of the last
    `update`. Home is the origin of NED.

    Attributes:
        mode: the present mode.
        cage_triggered: bitmap of what is exceeded at present (see `CageBit`).
        triggered_last: what last switched fly() off; cleared by `engage`.
        enabled: whether fly() commands are taken.
    """

    def __init__(self, values: Values, controller: TargetController) -> None:
        """`values` holds every parameter of GUIDED_MODE_PARAMETERS, checked; it may hold others.

        Raises:
            ParameterError: bounds of the cage that contradict each other, or a home outside of them.
        """
        self.mode = Mode.STANDBY
        self.cage_triggered = 0
        self.triggered_last = 0
        self.enabled = False
        # When it was last told something to fly, heard anything, and knew where it was.
        self._now = self._flown = self._heard = self._located = -math.inf
        self._battery: float | None = None
        self._waypoints: dict[int, RouteWaypoint] = {}
        # Where waypoint commands lead; None: home.
        self._goal: FlyTarget | Route | None = None
        self._controller = controller
        self.configure(values, controller)
        self._target = self._home

    def configure(self, values: Values, controller: TargetController) -> None:
        """Take over changed parameters; `controller` goes on where the one before was.

        Raises:
            ParameterError: bounds of the cage that contradict each other, or a home outside of them; nothing changes.
        """
        cage = Cage(values)
        height, airspeed = number(values, "home_altitude"), number(values, "home_airspeed")
        home = FlyTarget(PositionTarget(0.0, 0.0), AirspeedTarget(airspeed), AltitudeTarget(height))
        outside = cage.of_target(home) & ~_OF_PACKETS
        if outside:
            raise ParameterError(
                f"parameters 'home_altitude' and 'home_airspeed': {height:g} m and {airspeed:g} m/s given; allowed: "
                f"inside of the cage, which that leaves ({words(outside)})"
            )
        if controller is not self._controller:
            controller.adopt(self._controller)
        self._controller, self._cage, self._home = controller, cage, home
        self._values = values
        self._timeout = number(values, "ap_target_from_packet_timeout")
        self._lost_comm_timeout = number(values, "lost_comm_timeout")
        self._nav_lost_timeout = number(values, "nav_lost_timeout")
        self._ground_height = number(values, "ground_height")
        self._lost_signal = _GOES[str(values["lost_signal_mode"])]

    def hear(self) -> None:
        """Some packet of a ground station has come, whatever is in it."""
        self._heard = self._now

    def engage(self) -> str:
        """Take fly() commands from now on (fly_engage); the plane must be inside its cage."""
        if self.mode not in (*_COMMANDED, Mode.RETURN_HOME):
            return self._not_now("fly_engage")
        outside = self.cage_triggered & ~_OF_PACKETS
        if outside:
            return f"fly_engage refused: outside of the cage ({words(outside)})"
        self.enabled, self.triggered_last = True, 0
        self._happens(Event.ENGAGED)
        return ""

    def disengage(self) -> str:
        """Take no more fly() commands; if one is being flown, go to the lost-signal mode (fly_disengage)."""
        self.enabled = False
        self._happens(Event.DISENGAGED)
        return ""

    def fly(self, target: FlyTarget) -> str:
        """Take a target for now; one outside of the cage ends this. What is refused does not feed the deadman."""
        if self.mode not in _COMMANDED:
            return self._not_now("fly")
        if not self.enabled:
            why = f", switched off by {words(self.triggered_last)}" if self.triggered_last else ""
            return f"fly refused: ap_target_from_packet_enabled is 0{why}; fly_engage comes first"
        outside = self._cage.of_target(target)
        if outside:
            self.cage_triggered |= outside
            self._switch_off(outside, Event.TARGET_OUTSIDE)
            return f"fly refused and switched off: outside of the cage ({words(outside)})"
        self._target, self._flown = target, self._now
        self._happens(Event.FLY)
        return ""

    def fly_to(self, target: FlyTarget) -> str:
        """Fly to a place and circle it."""
        return self._take_goal("fly_to", target)

    def add_waypoint(self, waypoint: RouteWaypoint) -> str:
        """Put a waypoint in the buffer, in the place of one with the same number."""
        if self.mode is Mode.MANUAL:
            return self._not_now("waypoint_add")
        if len(self._waypoints) >= MOST_WAYPOINTS and waypoint.id not in self._waypoints:
            return f"waypoint_add refused: the buffer holds {MOST_WAYPOINTS} waypoints"
        self._waypoints[waypoint.id] = waypoint
        return ""

    def clear_waypoints(self) -> str:
        """Empty the buffer; a route being flown ends at the waypoint that it leads to."""
        if self.mode is Mode.MANUAL:
            return self._not_now("waypoint_clear_all")
        self._waypoints.clear()
        return ""

    def has_waypoint(self, waypoint_id: int) -> bool:
        """Whether the buffer holds a waypoint of this number."""
        return waypoint_id in self._waypoints

    def fly_to_waypoint(self, waypoint_id: int) -> str:
        """Fly the route that begins with this waypoint of the buffer."""
        if self.mode not in _COMMANDED:
            return self._not_now("fly_to_waypoint")
        if waypoint_id not in self._waypoints:
            return f"fly_to_waypoint refused: the buffer holds no waypoint {waypoint_id}"
        return self._take_goal("fly_to_waypoint", Route(self._waypoints, waypoint_id, self._values))

    def update(self, observed: Observed, dt: float) -> Guided | None:
        """The command for the next `dt` seconds; None where the safety pilot flies, or the state is not finite."""
        if not observed.state.is_finite:
            return None
        self._keep_time(observed.time_s)
        self._happens(self._situation(observed))
        self._keep_cage(observed, dt)
        controller, state = self._controller, observed.state
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
        """Every variable that a ground station may ask of it, in SI units; waypoint_id is -1 where there is none."""
        return {
            "control_operate_mode": float(self.mode),
            "cage_triggered": float(self.cage_triggered),
            "ap_target_from_packet_enabled": float(self.enabled),
            "ap_target_from_packet_cage_triggered_last": float(self.triggered_last),
            "ap_target_from_packet_timeout": self._timeout,
            "waypoint_id": float(self._goal.waypoint_id if isinstance(self._goal, Route) else -1),
            **self._cage.limits,
        }

    def _not_now(self, command: str) -> str:
        return f"{command} refused: control_operate_mode is {self.mode} ({self.mode.label})"

    def _take_goal(self, command: str, goal: FlyTarget | Route) -> str:
        if self.mode not in _COMMANDED:
            return self._not_now(command)
        self._goal = goal
        self._happens(Event.WAYPOINT_COMMAND)
        return ""

    def _keep_time(self, now: float) -> None:
        if now < self._now:
            # The simulation has started again, and nothing that was timed before counts.
            self._flown = self._heard = self._located = now
        if self._heard == -math.inf:
            self._heard = self._located = now
        self._now = now

    def _situation(self, observed: Observed) -> Event:
        # Where the safety pilot's transmitter is not heard, nobody holds the override switch.
        if observed.override and not observed.rc_lost:
            return Event.OVERRIDE_ON
        if not observed.armed:
            return Event.DISARMED
        return Event.ON_GROUND if observed.state.height < self._ground_height else Event.IN_AIR

    def _keep_cage(self, observed: Observed, dt: float) -> None:
        """Judge the plane and its packets, and end fly() if something is exceeded."""
        measured = observed.battery_voltage
        if measured is not None:
            known = measured if self._battery is None else self._battery
            self._battery = known + (1.0 - math.exp(-dt / _BATTERY_LAG)) * (measured - known)
        overdue = self.mode is Mode.PACKET_TARGET and self._now - self._flown > self._timeout
        lost = self._now - self._heard > self._lost_comm_timeout
        # Accelerations make a flight controller doubt its attitude for a moment, which is no reason for anything.
        if observed.gps_ok and observed.nav_ok:
            self._located = self._now
        strayed = self._now - self._located > self._nav_lost_timeout
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
        """Go to the mode to which the event leads, if it leads anywhere."""
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
