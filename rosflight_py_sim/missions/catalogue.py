"""Selection of the mission that `rosflight_py_sim fly` flies with a vehicle."""

from __future__ import annotations

from rosflight_py_sim.missions.autopilot.flight import AutopilotFlight
from rosflight_py_sim.missions.client_flight import ClientFlight
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.flight import Flight
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.registry import registered_class
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles


def flight_of(vehicle: Vehicle) -> Flight:
    """The vehicle's mission: flown by its client program, or by its autopilot.

    Raises:
        ParameterError: the vehicle has neither, or its task cannot be loaded.
    """
    if vehicle.mission is not None:
        task: type[ClientTask] = registered_class("missions", vehicle.mission.task, ClientTask)
        return ClientFlight(vehicle.mission, task(vehicle))
    if vehicle.autopilot:
        return AutopilotFlight(vehicle)
    able = names_of_vehicles(lambda one: bool(one.mission or one.autopilot))
    raise ParameterError(f"vehicle '{vehicle.name}' given, which has no mission; allowed: {', '.join(able)}")
