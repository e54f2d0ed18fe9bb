"""Scenario files: values read, and invalid entries refused with their path and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.graph.fleet import seed_of
from rosflight_py_sim.graph.scenario import Scenario, known_scenarios, load_scenario
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.missions.autopilot.flight import AutopilotFlight
from rosflight_py_sim.missions.catalogue import flight_of
from rosflight_py_sim.missions.client_flight import ClientFlight

TEXT = """\
description: two of a kind, and another
world: pool
seed: 4
observers: [auv_zeromq]
parameters: {steady_state_wind: [1, 0, 0]}
vehicles:
  - name: first
    kind: multirotor
    start: {position: [1, 2], heading_deg: 90}
    autopilot: true
    parameters: {mass: 3, uthere.cage_roll_max: 0.5}
  - name: second
    kind: bluerov2
    flight_controller: ardupilot
    cameras: false
    start: {position: [3, 4, 5]}
  - {name: third, kind: fixedwing, dynamics: jsbsim}
"""


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Scenario]:
    def read(text: str) -> Scenario:
        file = tmp_path / "scenario.yaml"
        file.write_text(text, encoding="utf-8")
        return load_scenario(str(file))

    return read


def test_file_is_read_whole(read: Callable[[str], Scenario]) -> None:
    scenario = read(TEXT)
    assert scenario.description == "two of a kind, and another"
    assert scenario.time_mode == "lockstep"
    assert scenario.observers == ("auv_zeromq",)
    assert scenario.settings == {"world": "pool", "steady_state_wind": [1.0, 0.0, 0.0]}
    first, second, third = scenario.members
    assert (first.namespace, first.vehicle.name, first.executables) == ("first", "multirotor", ("autopilot",))
    assert first.settings == {
        "seed": seed_of(4, "first"),
        "initial_position": [1.0, 2.0],
        "use_world_start": False,
        "initial_heading": 90.0,
        "mass": 3.0,
        "uthere.cage_roll_max": 0.5,
    }
    assert (second.flight_controller, second.vehicle.extra_nodes) == ("ardupilot", ())
    assert second.settings["initial_altitude"] == -5.0
    assert not second.settings["starts_on_ground"]
    assert (third.vehicle.dynamics, third.flight_controller) == ("jsbsim_dynamics", "sil_board")


@pytest.mark.parametrize("name", known_scenarios())
def test_scenarios_of_the_package_are_found_by_name(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.description
    assert len(scenario.members) > 1


def test_seed_of_a_vehicle_depends_on_its_name_and_the_scenarios_seed() -> None:
    seeds = {seed_of(seed, name) for seed in range(3) for name in ("a", "b")}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**31 for seed in seeds)
    # Recorded value: any other would change every flight.
    assert seed_of(1, "leader") == 1018805618


MISSION = """\
description: a plane for a program, and a multirotor that follows it
vehicles:
  - name: plane
    kind: uthere
    mission: {program: fly.py, parts: 3, task: skywriting, settings: {uthere.cage_altitude_maximum: 100}}
  - {name: copter, kind: multirotor, autopilot: follower_autopilot, parameters: {leader: plane}}
  - {name: other, kind: uthere}
"""


def test_missions_are_those_of_the_scenario(read: Callable[[str], Scenario], tmp_path: Path) -> None:
    (tmp_path / "fly.py").touch()
    plane, copter, other = read(MISSION).members
    mission = plane.vehicle.mission
    assert mission is not None
    assert (mission.program, mission.task) == (tmp_path / "fly.py", "skywriting")
    assert plane.settings["uthere.cage_altitude_maximum"] == 100.0
    assert copter.executables == ("follower_autopilot",)
    # The vehicle file's own mission is not flown.
    assert other.vehicle.mission is None
    flights = [flight_of(member) for member in (plane, copter, other)]
    assert [type(flight) for flight in flights] == [ClientFlight, AutopilotFlight, type(None)]


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("fly.py", "walk.py", 5, "vehicles[0].mission.program: walk.py, not a file, given"),
        ("skywriting", "landing", 5, "vehicles[0].mission.task: landing given; allowed: "),
        ("uthere.cage_altitude_maximum", "step_size", 5, "mission.settings.step_size: there is no parameter 'step_"),
        (": 100}", ": high}", 5, "settings.uthere.cage_altitude_maximum: high given; allowed: number"),
        ("{leader: plane}", "{ledaer: plane}", 6, "there is no parameter 'ledaer'; did you mean 'leader'"),
    ],
)
def test_invalid_mission_is_refused_with_its_place(
    read: Callable[[str], Scenario], tmp_path: Path, old: str, new: str, line: int, text: str
) -> None:
    (tmp_path / "fly.py").touch()
    with pytest.raises(ParameterError) as error:
        read(MISSION.replace(old, new))
    assert f"scenario.yaml, line {line}: " in str(error.value)
    assert text in str(error.value)


def test_failures_are_a_setting_of_the_vehicles_nodes(read: Callable[[str], Scenario]) -> None:
    text = TEXT.replace("    cameras: false", "    failures: [gnss  jammed at 4, servo 1 stuck]")
    assert read(text).members[1].settings["failures"] == ["gnss jammed at 4", "servo 1 stuck"]


@pytest.mark.parametrize(
    ("vehicle", "rest"),
    [
        ("kind: auv", ""),
        ("kind: uthere", ""),
        ("kind: multirotor, parameters: {mavlink.port: 14525}", ""),
        ("kind: multirotor", "parameters: {mavlink.port: 14525}"),
        ("kind: multirotor, parameter_files: [link.yaml]", ""),
    ],
)
def test_link_of_a_vehicle_with_programs_may_fail(
    read: Callable[[str], Scenario], tmp_path: Path, vehicle: str, rest: str
) -> None:
    (tmp_path / "link.yaml").write_text("sil_board:\n  ros__parameters: {mavlink.port: 14525}\n", encoding="utf-8")
    text = f"description: one\nvehicles:\n  - {{name: a, {vehicle}, failures: [link damaged 0.5]}}\n{rest}\n"
    assert read(text).members[0].settings["failures"] == ["link damaged 0.5"]


def test_paths_begin_at_the_files_folder(read: Callable[[str], Scenario], tmp_path: Path) -> None:
    (tmp_path / "still.yaml").write_text("/**:\n  ros__parameters: {sim_has_wind: false}\n", encoding="utf-8")
    text = "description: one\nparameter_files: [still.yaml]\nvehicles:\n  - {name: a, kind: auv}\n"
    assert read(text).files == [str(tmp_path / "still.yaml")]


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("world: pool", "world: lake", 2, "world: there is no world 'lake'; allowed: a name ("),
        ("seed: 4", "seed: -1", 3, "seed: -1 given; allowed: integer, from 0 to"),
        ("seed: 4", "sed: 4", 3, "sed: an unknown key given; allowed: description, world, seed, "),
        ("seed: 4", "time_mode: paced", 3, "paced given; allowed: lockstep, which flight controller 'ardupilot' req"),
        ("[auv_zeromq]", "[ardupilot]", 4, "observers: 'ardupilot' given; allowed with flight controller"),
        ("steady_state_wind: [1, 0, 0]", "steady_wind: [1, 0, 0]", 5, "there is no parameter 'steady_wind'; did you"),
        ("[1, 0, 0]}", "[1, 0]}", 5, "parameters.steady_state_wind: [1, 0] given; allowed: list of 3 numbers"),
        (
            "name: first",
            "name: 1st",
            7,
            "vehicles[0].name: 1st given; allowed: letters, digits and _, beginning with a letter",
        ),
        ("name: second", "name: first", 12, "vehicles[1].name: a second 'first' given; allowed: each name once"),
        ("kind: multirotor", "kind: zeppelin", 8, "vehicles[0].kind: vehicle 'zeppelin' given; allowed: aerosonde"),
        ("position: [1, 2]", "position: [1]", 9, "[1] given; allowed: [north, east] on the ground, or [north, east, d"),
        ("heading_deg: 90", "heading_deg: 900", 9, "start.heading_deg: 900 given; allowed: a number at least -360"),
        (
            "    cameras: false",
            "    failures:\n      - gnss jammed at 4\n      - motr 2 off",
            17,
            "vehicles[1].failures[1]: failure 'motr 2 off': motr given; allowed: motor, servo, ",
        ),
        (
            "    cameras: false",
            "    failures:\n      - gnss jammed at 4\n      - link late 2",
            17,
            "vehicles[1].failures[1]: failure 'link late 2': the link of vehicle 'second' cannot fail: each step waits "
            "for a frame of ArduPilot",
        ),
        (
            "autopilot: true",
            "autopilot: true\n    failures: [uplink lost]",
            11,
            "vehicles[0].failures[0]: failure 'uplink lost': the link of vehicle 'first' cannot fail: no program "
            "commands it over a link (flight controllers with such a link: ",
        ),
        ("    cameras: false", "    failures: motor 2 off", 15, "failures: motor 2 off given; allowed: a list"),
        ("    cameras: false", "    failures: [off]", 15, "failures[0]: off given; allowed: a text"),
        ("mass: 3", "mas: 3", 11, "parameters.mas: there is no parameter 'mas'; did you mean 'mass'"),
        ("mass: 3", "mass: -3", 11, "vehicles[0].parameters.mass: -3 given; allowed: number, from 1e-06 to 1e+06 kg"),
        ("mass: 3", "uthere.udp_port_in: 3", 11, "there is no parameter 'uthere.udp_port_in'"),
        ("controller: ardupilot", "controller: uthere", 14, "uthere given; allowed: sil_board, ardupilot, "),
        (
            "cameras: false",
            "autopilot: true",
            15,
            "autopilot requested with flight controller 'ardupilot', which does not follow the autopilot "
            "'underwater_autopilot' of vehicle 'bluerov2'; allowed: auv_controller",
        ),
        ("autopilot: true", "autopilot: auv_controller", 10, "auv_controller given; allowed: true, false, autopilot, "),
        ("autopilot: true", "autopilot: rc", 10, "vehicles[0].autopilot: rc given; allowed: true, false, autopilot, "),
        (
            "cameras: false",
            "mission: {task: dive}",
            15,
            "vehicles[1].mission: no program given; allowed: only with the keys program, parts",
        ),
        ("dynamics: jsbsim", "dynamics: gazebo", 17, "vehicles[2].dynamics: gazebo given; allowed: standalone, jsbsim"),
        (
            "dynamics: jsbsim",
            "dynamics: jsbsim, start: {position: [0, 0], heading_deg: 10}",
            17,
            "vehicles[2].start.heading_deg: 10 given; allowed: no heading with these dynamics",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    read: Callable[[str], Scenario], old: str, new: str, line: int, text: str
) -> None:
    assert old in TEXT
    with pytest.raises(ParameterError) as error:
        read(TEXT.replace(old, new, 1))
    assert f"scenario.yaml, line {line}: " in str(error.value)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("description: none\nvehicles: []\n", "vehicles: [] given; allowed: at least one vehicle"),
        ("description: none\n", "no vehicles given; allowed: only with the keys description, vehicles"),
        ("[]\n", "allowed: a mapping with description, world"),
    ],
)
def test_file_without_vehicles_is_refused(read: Callable[[str], Scenario], text: str, reason: str) -> None:
    with pytest.raises(ParameterError) as error:
        read(text)
    assert reason in str(error.value)


def test_unknown_scenario_is_refused_with_the_known_names() -> None:
    with pytest.raises(
        ParameterError, match="no scenario 'desert'; allowed: a name \\(crossing, harbour, relay, swarm\\)"
    ):
        load_scenario("desert")
