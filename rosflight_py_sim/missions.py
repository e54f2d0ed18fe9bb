"""Which mission `rosflight_py_sim fly` flies with a vehicle."""

from __future__ import annotations

from rosflight_py_sim.autopilot_flight import AutopilotFlight
from rosflight_py_sim.client_flight import ClientFlight
from rosflight_py_sim.client_task import ClientTask
from rosflight_py_sim.dive_task import DiveTask
from rosflight_py_sim.flight import Flight
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.skywriting_task import SkywritingTask
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles

TASKS: dict[str, type[ClientTask]] = {"dive": DiveTask, "skywriting": SkywritingTask}
"""Name of a client mission's task to the class that judges it."""


def flight_of(vehicle: Vehicle) -> Flight:
    """The mission of a vehicle: its client program's, or its autopilot's.

    Raises:
        ParameterError: it has neither, or a task that there is not.
    """
    if vehicle.mission is not None:
        if vehicle.mission.task not in TASKS:
            raise ParameterError(
                f"{vehicle.file}: mission.task: {vehicle.mission.task} given; allowed: {', '.join(TASKS)}"
            )
        return ClientFlight(vehicle.mission, TASKS[vehicle.mission.task](vehicle))
    if vehicle.autopilot:
        return AutopilotFlight(vehicle)
    able = names_of_vehicles(lambda one: bool(one.mission or one.autopilot))
    raise ParameterError(f"vehicle '{vehicle.name}' given, which has no mission; allowed: {', '.join(able)}")
