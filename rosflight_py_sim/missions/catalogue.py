"""Selection of a vehicle's mission: for `rosflight_py_sim fly` to fly, and for `report` to judge."""

from __future__ import annotations

from rosflight_py_sim.missions.autopilot.flight import AutopilotFlight
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge
from rosflight_py_sim.missions.client_flight import ClientFlight
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.registry import registered_class
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles

AUTOPILOT = "autopilot"
"""Name of the mission of a vehicle's autopilot."""


def flight_of(vehicle: Vehicle) -> Flight:
    """The vehicle's mission: flown by its client program, or by its autopilot.

    Raises:
        ParameterError: the vehicle has neither, or its task cannot be loaded.
    """
    if vehicle.mission is not None:
        return ClientFlight(vehicle.mission, _task(vehicle.mission.task)(vehicle))
    if vehicle.autopilot:
        return AutopilotFlight(vehicle)
    able = names_of_vehicles(lambda one: bool(one.mission or one.autopilot))
    raise ParameterError(f"vehicle '{vehicle.name}' given, which has no mission; allowed: {', '.join(able)}")


def judge_of(vehicle: Vehicle) -> tuple[str, type[MissionJudge]] | None:
    """Name of the vehicle's mission and class of its judge; None if the vehicle has no mission.

    Raises:
        ParameterError: the vehicle's task cannot be loaded.
    """
    if vehicle.mission is not None:
        return vehicle.mission.task, _task(vehicle.mission.task).JUDGE
    return (AUTOPILOT, AutopilotJudge) if vehicle.autopilot else None


def _task(name: str) -> type[ClientTask]:
    task: type[ClientTask] = registered_class("missions", name, ClientTask)
    return task
