"""Selection of the missions that `rosflight_py_sim fly` flies and `report` judges."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.scenario import Scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.registry import registered_class
from rosflight_py_sim.missions.autopilot.flight import AutopilotFlight
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge
from rosflight_py_sim.missions.client_flight import ClientFlight
from rosflight_py_sim.missions.client_task import ClientTask
from rosflight_py_sim.missions.flight import AUTOPILOT, Flight
from rosflight_py_sim.missions.mission_judge import MissionJudge
from rosflight_py_sim.vehicles import Vehicle, names_of_vehicles


def single_member(vehicle: Vehicle) -> Member:
    """Make the vehicle the only one of a simulation, with its autopilot unless a client program flies its mission.

    Raises:
        ParameterError: the vehicle has no mission, or its flight controller does not follow its autopilot.
    """
    if vehicle.mission is None and not vehicle.autopilot:
        able = names_of_vehicles(lambda one: bool(one.mission or one.autopilot))
        raise ParameterError(f"vehicle '{vehicle.name}' given, which has no mission; allowed: {', '.join(able)}")
    if vehicle.mission is not None:
        return Member(vehicle)
    name = vehicle.autopilot_flight_controller
    controller = chosen_flight_controller(name or vehicle.flight_controller)
    autopilots = controller.requested_autopilots(vehicle, wanted=True)
    return Member(vehicle, flight_controller=name, executables=tuple(autopilots))


def single_scenario(vehicle: Vehicle, files: Sequence[str] = (), *, calm: bool = False) -> Scenario:
    """Scenario in which a vehicle alone flies its mission, in the weather of its file unless `calm`.

    `files` are parameter files, which override the weather.

    Raises:
        ParameterError: the vehicle has no mission.
    """
    return Scenario(
        [single_member(vehicle)],
        "lockstep",
        files=[*([] if calm else [str(vehicle.weather_file)]), *files],
        settings=vehicle.mission.settings if vehicle.mission is not None else {},
        name=vehicle.name,
        time_manager=vehicle.time_manager,
    )


def flight_of(member: Member) -> Flight | None:
    """Mission of the vehicle, flown by its client program, or by its autopilot if that is started; None if neither.

    Raises:
        ParameterError: the vehicle's task cannot be loaded, or the vehicle cannot perform it.
    """
    mission = member.vehicle.mission
    if mission is not None:
        return ClientFlight(mission, _task(mission.task)(member))
    return AutopilotFlight(member) if member.vehicle.autopilot in member.executables else None


def flights_of(members: Sequence[Member]) -> list[Flight]:
    """Missions of all vehicles that have one.

    Raises:
        ParameterError: as of `flight_of`.
    """
    return [flight for member in members if (flight := flight_of(member)) is not None]


def mission_name(vehicle: Vehicle) -> str:
    """Name of the vehicle's own mission; empty if it has none."""
    if vehicle.mission is not None:
        return vehicle.mission.task
    return AUTOPILOT if vehicle.autopilot else ""


def judge_class(mission: str) -> type[MissionJudge]:
    """Class of a mission's judge.

    Raises:
        ParameterError: there is no such mission, or its task cannot be loaded.
    """
    return AutopilotJudge if mission == AUTOPILOT else _task(mission).JUDGE


def _task(name: str) -> type[ClientTask]:
    task: type[ClientTask] = registered_class("missions", name, ClientTask)
    return task
