"""Interface of target controllers for all kinds of vehicles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeVar

from rosflight_py_sim.autopilot.autopilot_command import AutopilotCommand
from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import FlyTarget
from rosflight_py_sim.ground.parameters import ParameterTable, Values

TARGET_LIMITS = {
    "target_airspeed_min": "slowest airspeed commanded; nine tenths of it are kept while a pitch angle is given",
    "target_airspeed_max": "fastest airspeed commanded: that of level flight at full throttle",
    "target_climb_min": "climb without throttle at the design airspeed; the airspeed takes precedence below",
    "target_climb_max": "climb at full throttle and the design airspeed; the airspeed takes precedence above",
    "target_pitch_max": "largest pitch angle held at present: less at low airspeed; of a multirotor as target_roll_max",
    "target_roll_max": "largest roll angle at which the vehicle can keep its height, at the present airspeed",
}
"""Variables of limits that the vehicle sets, and their meaning."""

Self = TypeVar("Self", bound="TargetController")


class TargetController(ABC):
    """Computes commands that bring a vehicle to the state of a `FlyTarget` and hold it there.

    Targets may change in value and kind at each call: integrators are carried over so that the actuators do not jump,
    and are frozen while an actuator is at its limit. Limits are parameters of the vehicle; a target beyond a limit is
    clipped to it. One of `fly`, `take_off` and `stand` is called each period.

    Class attributes:
        NAME: name of the controller, as users select it.
        PARAMETERS: its parameters; a controller is made of their values.
        FLIES_BY_ESTIMATE: whether the commands are angles, which the flight controller holds by its own attitude
            estimate, and not outputs, on which that estimate has no effect.
    """

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[ParameterTable]
    FLIES_BY_ESTIMATE: ClassVar[bool]

    @abstractmethod
    def __init__(self, values: Values) -> None:
        """`values` contains the checked values of PARAMETERS; others are ignored.

        Raises:
            ParameterError: the values do not fit together.
        """

    @abstractmethod
    def fly(self, state: FlightState, target: FlyTarget, dt: float) -> AutopilotCommand:
        """Command for the next `dt` seconds; 0 after a gap, during which integrators must not move.

        Raises:
            ValueError: the state is not finite; the controller is unchanged.
        """

    @abstractmethod
    def take_off(self, state: FlightState, dt: float) -> AutopilotCommand:
        """Command for the next `dt` seconds of a take-off.

        The take-off begins at the position and heading of the first call after `stand` or `reset`, and ends at the
        height at which `fly` may take over.

        Raises:
            ValueError: the state is not finite; the controller is unchanged.
        """

    @property
    @abstractmethod
    def has_taken_off(self) -> bool:
        """Whether the last take-off has reached its final height; false after `reset` and `stand`."""

    @abstractmethod
    def stand(self, state: FlightState) -> AutopilotCommand:
        """Command without thrust for a vehicle on the ground; also resets as `reset` does."""

    def limits(self, state: FlightState) -> dict[str, float]:
        """Limits of targets that the vehicle sets at present, as variables for ground stations, in SI units.

        The names are among `TARGET_LIMITS`.
        """
        return {}

    @abstractmethod
    def reset(self) -> None:
        """Reset integrators, filters and take-off."""

    @abstractmethod
    def adopt(self: Self, old: Self) -> None:
        """Copy the state of `old`, after a change of parameters."""
