"""A flight that shows the parameters of a fixed wing: level flight, glides and climbs, with steps of each control.

The vehicle's own target controller flies the legs, each in another direction, and steps of surfaces and throttle are
added to its commands. The airspeeds show lift, drag and trim; glides, in which the propeller gives no thrust, tell the
drag from the thrust; steps of a surface show the derivatives of the moments (Klein and Morelli, sections 9.1 and 9.3).
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.flight_state import flight_state
from rosflight_py_sim.autopilot.fly_target import (
    AirspeedTarget,
    AltitudeTarget,
    CourseTarget,
    FlyTarget,
    ThrottleTarget,
)
from rosflight_py_sim.firmware import CommandMode
from rosflight_py_sim.ground.parameters import ParameterTable, Values, number
from rosflight_py_sim.identification.excitation import Excitation, Step, multisteps
from rosflight_py_sim.identification.flight_log import Array


class Leg(NamedTuple):
    """A leg of the flight.

    Attributes:
        airspeed: 0 for the slowest and 1 for the fastest commanded one.
        throttle: 0 for a glide, 1 for a climb at full throttle; None for level flight.
    """

    airspeed: float
    throttle: float | None = None


LEG_S = 12.0
"""Length of a leg, s."""

LEGS = (Leg(0.35), Leg(0.75), Leg(0.4, 0.0), Leg(0.15), Leg(0.5, 1.0), Leg(0.7, 0.0), Leg(0.25), Leg(0.9))
"""The legs; the flight begins again after the last."""

_TURN = 0.5 * math.pi

# At the design airspeed; the effect of a surface grows with the square of the airspeed.
_ELEVATOR, _AILERON, _RUDDER, _THROTTLE = 0.12, 0.25, 0.5, 0.25

_ELEVATOR_STEPS = (Step(3.5, 0.25), Step(9.6, 0.15))
_AILERON_STEPS = (Step(5.4, 0.2),)
_RUDDER_STEPS = (Step(6.8, 0.4),)
_THROTTLE_STEPS = (Step(10.0, 0.25),)


class FixedwingExcitation(Excitation):
    """Commands of surfaces and throttle that fly the legs about a height and add the manoeuvres."""

    SECONDS: ClassVar[float] = LEG_S * len(LEGS)
    MODE: ClassVar[CommandMode] = CommandMode.PASS_THROUGH
    PARAMETERS: ClassVar[ParameterTable] = FixedwingTargetController.PARAMETERS

    def __init__(self, values: Values, height_m: float) -> None:
        """Fly about a height above the origin; `values` contains PARAMETERS."""
        self._controller, self._height_m = FixedwingTargetController(values), height_m
        self._design = number(values, "design_airspeed")
        self._slowest = number(values, "rotation_airspeed")
        self._fastest = number(values, "full_throttle_airspeed") or 1.5 * self._design
        self._course, self._last_s = math.nan, math.nan

    @property
    def start_airspeed(self) -> float:
        """The design airspeed."""
        return self._design

    def command(self, time_s: float, truth: Array, wind_ned: Array) -> tuple[float, ...]:
        """Aileron, elevator, rudder and throttle."""
        state = flight_state(truth.tolist(), wind_ned.tolist())
        if math.isnan(self._course):
            self._course = state.course
        number_of_leg, within = divmod(time_s, LEG_S)
        leg = LEGS[int(number_of_leg) % len(LEGS)]
        target = FlyTarget(
            CourseTarget(self._course + _TURN * number_of_leg),
            AirspeedTarget(self._slowest + leg.airspeed * (self._fastest - self._slowest)),
            AltitudeTarget(self._height_m) if leg.throttle is None else ThrottleTarget(leg.throttle),
        )
        passed_s = 0.0 if math.isnan(self._last_s) else time_s - self._last_s
        self._last_s = time_s
        throttle, _, _, aileron, elevator, rudder, *rest = self._controller.fly(state, target, passed_s).u
        share = min(2.0, (self._design / max(state.airspeed, 1.0)) ** 2)
        aileron += share * _AILERON * multisteps(within, _AILERON_STEPS)
        elevator += share * _ELEVATOR * multisteps(within, _ELEVATOR_STEPS)
        rudder += share * _RUDDER * multisteps(within, _RUDDER_STEPS)
        if leg.throttle is None:
            throttle = min(1.0, max(0.0, throttle + _THROTTLE * multisteps(within, _THROTTLE_STEPS)))
        return (throttle, 0.0, 0.0, *(min(1.0, max(-1.0, one)) for one in (aileron, elevator, rudder)), *rest)
