"""What flies a vehicle in the state that it is told, whatever kind of vehicle it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from rosflight_py_sim.autopilot.flight_state import FlightState
from rosflight_py_sim.autopilot.fly_target import FlyTarget
from rosflight_py_sim.autopilot.guided import Guided

Self = TypeVar("Self", bound="TargetController")


class TargetController(ABC):
    """Commands that bring a vehicle into the state of a `FlyTarget` and hold it there.

    Targets may change at each call, in value and in kind: integrators are handed on so that the actuators do not jump,
    and stand still while an actuator is at its limit. Limits are the parameters of the vehicle; a target beyond one is
    flown as far as the limit. One of `fly`, `take_off` and `stand` is called each period.
    """

    @abstractmethod
    def fly(self, state: FlightState, target: FlyTarget, dt: float) -> Guided:
        """The command for the next `dt` seconds; 0 after a gap, in which integrators must not move.

        Raises:
            ValueError: a state that is not finite; the controller is left as it was.
        """

    @abstractmethod
    def take_off(self, state: FlightState, dt: float) -> Guided:
        """The command for the next `dt` seconds of a take-off.

        It leads from where the vehicle was at the first call after `stand` or `reset`, on the heading that it had then,
        up to the height at which `fly` may take over.

        Raises:
            ValueError: a state that is not finite; the controller is left as it was.
        """

    @property
    @abstractmethod
    def has_taken_off(self) -> bool:
        """Whether the take-off that was flown last is high enough; false from `reset` and `stand` on."""

    @abstractmethod
    def stand(self, state: FlightState) -> Guided:
        """The command to a vehicle that waits on the ground, without thrust; it forgets all, as `reset` does."""

    @abstractmethod
    def reset(self) -> None:
        """Forget what integrators and filters have gathered, and the take-off."""

    @abstractmethod
    def adopt(self: Self, old: Self) -> None:
        """Carry on from `old`, after a change of parameters."""
