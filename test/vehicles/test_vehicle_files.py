"""Vehicle files: values read, locations, and invalid entries refused with path and line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rosflight_py_sim.commands.cli import command_parser, main
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.options import all_options
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES, NODE_KINDS, NodeKind, present_name
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.vehicles import (
    Actuator,
    all_vehicles,
    known_dynamics,
    known_vehicles,
    names_of_vehicles,
    reference,
    vehicle,
    vehicles_and_errors,
)
from rosflight_py_sim.vehicles.vehicle_file import OPTIONAL, REQUIRED

CONFIG = share_directory() / "config"

KITE = """\
description: kite with two motors
forces_and_moments: multirotor_forces_and_moments
parameters: kite.params
firmware: kite.firmware
autopilot: fixedwing_autopilot
actuators:
  - {name: left, output: 0, kind: motor}
  - {name: rudder, output: 3, kind: servo}
pairings:
  ardupilot:
    parameters: kite.params
    command: fly {folder}/kite.parm over {config}
mission: {waypoints: kite.waypoints}
spacing: 7.5
"""

Write = Callable[[str], Path]


@pytest.fixture
def kite(tmp_path: Path) -> Write:
    """A function that writes the kite's file, and the files that it names."""

    def write(text: str) -> Path:
        for name in ("params", "firmware", "waypoints", "program"):
            (tmp_path / f"kite.{name}").touch()
        file = tmp_path / "kite.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_file_is_parsed_correctly(kite: Write) -> None:
    file = kite(KITE)
    read = vehicle(str(file))
    assert (read.name, read.description, read.spacing) == ("kite", "kite with two motors", 7.5)
    assert read.actuators == (Actuator("left", 0, is_motor=True), Actuator("rudder", 3, is_motor=False))
    assert read.parameter_file == file.with_suffix(".params")
    assert read.pairings["ardupilot"].command == f"fly {file.parent}/kite.parm over {CONFIG}"
    assert read.settings == {
        "firmware_param_file": str(file.with_suffix(".firmware")),
        "appearance": "dart",
        "output_kinds": ["motor", "none", "none", "servo"],
        "waypoint_file": str(file.with_suffix(".waypoints")),
    }
    # Defaults of keys that the file does not contain.
    assert (read.dynamics, read.flight_controller, read.mission) == ("standalone_dynamics", "sil_board", None)
    assert read.weather_file == CONFIG / "wind.yaml"


@pytest.mark.parametrize(
    ("old", "new", "line", "path", "words"),
    [
        ("spacing", "spacin", 14, "spacin", "unknown key given.*did you mean spacing"),
        ("description: kite with two motors\n", "", 1, "", "no description given"),
        ("multirotor_forces", "kite_forces", 2, "forces_and_moments", "kite_forces_and_moments given; allowed: .*auv"),
        (
            "parameters: kite.params\nf",
            "parameters: no.yaml\nf",
            3,
            "parameters",
            "no.yaml, not a file, given; .*the path of a file",
        ),
        (
            "fixedwing_autopilot",
            "rc",
            5,
            "autopilot",
            "rc given; allowed: autopilot, follower_autopilot, fixedwing_auto",
        ),
        (
            "fixedwing_autopilot",
            "auv_controller",
            5,
            "autopilot",
            "auv_controller given; allowed: autopilot, follower_",
        ),
        (
            *("fixedwing_autopilot", "fixedwing_autopilot\ndynamics: multirotor_forces_and_moments", 6, "dynamics"),
            "multirotor_forces_and_moments given; allowed: standalone_dynamics, jsbsim_dynamics",
        ),
        ("output: 3", "output: 14", 8, r"actuators\[1\].output", "14 given; allowed: .*at most 13"),
        ("output: 3", "output: 1.5", 8, r"actuators\[1\].output", "1.5 given; allowed: a whole number"),
        ("output: 3", "output: 0", 8, r"actuators\[1\].output", "a second 0 given"),
        ("name: rudder", "name: left", 8, r"actuators\[1\].name", "a second 'left' given"),
        ("kind: servo", "kind: sail", 8, r"actuators\[1\].kind", "sail given; allowed: motor, servo"),
        ("ardupilot:\n", "betaflight:\n", 10, "pairings.betaflight", "unknown key given; allowed: .*zeromq"),
        (
            "{config}",
            "{home}",
            12,
            "pairings.ardupilot.command",
            "allowed: a command with no placeholders except {config} and {folder}",
        ),
        (
            "{config}",
            "{folder.nowhere}",
            12,
            "pairings.ardupilot.command",
            "allowed: a command with no placeholders except {config} and {folder}",
        ),
        *(
            (
                "over {config}",
                f"over {{config}}\n    instance: '{instance}'",
                13,
                "pairings.ardupilot.instance",
                "allowed: a text with no placeholders except {index}",
            )
            for instance in ("-I {number}", "-I {}", "-I {", "-I {index[a]}", "-I {index.nowhere}")
        ),
        ("autopilot: fixedwing_autopilot\n", "", 12, "mission", "waypoints without an autopilot given"),
        ("spacing: 7.5", "extra_nodes: [camera, camera]", 14, r"extra_nodes\[1\]", "a second camera given"),
        ("{waypoints:", "{parts: 2, waypoints:", 13, "mission.parts", "both given"),
        (
            "{waypoints: kite.waypoints}",
            "{program: kite.program, parts: 0, task: dive}",
            13,
            "mission.parts",
            "0 given",
        ),
        ("{waypoints: kite.waypoints}", "{task: dive}", 13, "mission", "no program given"),
        ("spacing: 7.5", "appearance: zeppelin", 14, "appearance", "zeppelin given; allowed: dart, multirotor"),
        ("spacing: 7.5", "flight_controller: me", 14, "flight_controller", "me given; allowed: sil_board"),
        ("spacing: 7.5", "extra_nodes: [dog]", 14, r"extra_nodes\[0\]", "dog given; allowed: camera"),
        *(
            (
                "spacing: 7.5",
                f"extra_nodes: [camera, {other}]",
                14,
                r"extra_nodes\[1\]",
                f"{other} given; allowed: camera",
            )
            for other in NODE_CLASSES
            if NODE_KINDS[other] is not NodeKind.FURTHER
        ),
        (
            "spacing: 7.5",
            "flight_controller: autopilot",
            14,
            "flight_controller",
            "autopilot given; allowed: sil_board",
        ),
        ("spacing: 7.5", "flight_controller: bridge", 14, "flight_controller", "bridge given; allowed: sil_board"),
        ("spacing: 7.5", "spacing: 0", 14, "spacing", "0 given; allowed: .*greater than 0"),
    ],
)
def test_invalid_values_are_rejected_with_path_and_line(
    kite: Write, old: str, new: str, line: int, path: str, words: str
) -> None:
    assert old in KITE
    file = kite(KITE.replace(old, new))
    with pytest.raises(ParameterError, match=rf"kite.yaml, line {line}: {path}.*{words}"):
        vehicle(str(file))


def test_autopilot_whose_flight_controller_does_not_follow_it_is_refused(
    kite: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kite(KITE + "flight_controller: auv_controller\n")
    with pytest.raises(SystemExit) as end:
        main(["fly", "--vehicle", str(file)])
    assert end.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        "autopilot requested with flight controller 'auv_controller', which does not follow the autopilot "
        "'fixedwing_autopilot' of vehicle 'kite'; allowed: sil_board"
    ) in line


def test_name_invalid_as_a_namespace_is_rejected(kite: Write) -> None:
    file = kite(KITE)
    with pytest.raises(ParameterError, match=r"7-kites.yaml: the file name is the vehicle's name; allowed: letters"):
        vehicle(str(file.rename(file.with_name("7-kites.yaml"))))


def test_former_name_of_a_flight_controller_is_accepted_with_a_note(
    kite: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    present_name.cache_clear()
    chosen = vehicle(str(kite(KITE + "flight_controller: auv_autopilot\n")))
    assert chosen.flight_controller == "auv_controller"
    assert chosen_flight_controller("auv_autopilot").name == "auv_controller"
    assert capsys.readouterr().err == (
        "rosflight_py_sim: 'auv_autopilot' is the former name of 'auv_controller': use the new name\n"
    )
    for words in (["--flight-controller", "auv_autopilot"], ["--flight-controller=auv_controller"]):
        assert command_parser().parse_args(["sim", *words]).flight_controller == "auv_controller"
    assert all_options()["flight_controller"].parsed("auv_autopilot") == "auv_controller"
    assert all_options()["vehicle"].parsed("auv_autopilot") == "auv_autopilot"


def test_dynamics_are_also_named_by_their_executables() -> None:
    option = all_options()["dynamics"]
    assert [option.parsed(text) for text in ("standalone_dynamics", "jsbsim_dynamics", "jsbsim")] == [
        "standalone",
        *2 * ["jsbsim"],
    ]
    parsed = command_parser().parse_args(["sim", "--dynamics", "jsbsim_dynamics"])
    assert parsed.dynamics == "jsbsim" and option.further_names == ["standalone_dynamics", "jsbsim_dynamics"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("zeppelin", "'zeppelin' given; allowed: .*aerosonde.*with --dynamics jsbsim, or the path"),
        ("./no.yaml", "there is no file"),
    ],
)
def test_unknown_vehicle_is_rejected(given: str, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        vehicle(given)


def test_other_dynamics_need_their_own_parameter_file(kite: Write) -> None:
    file = kite(KITE)
    with pytest.raises(ParameterError, match=r"there is no file '.*/jsbsim/kite.yaml'"):
        vehicle(str(file), "jsbsim")
    with pytest.raises(ParameterError, match="'auv with --dynamics jsbsim' given"):
        vehicle("auv", "jsbsim")
    assert vehicle("fixedwing", "jsbsim").dynamics == "jsbsim_dynamics"
    assert known_dynamics() == ["standalone", "jsbsim"]


def test_user_folder_takes_precedence_over_package_folder(
    kite: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kite(KITE)
    assert "kite" not in known_vehicles()
    assert reference(vehicle(str(file))) == str(file)
    own = file.parent / "multirotor.yaml"
    own.write_text(KITE, encoding="utf-8")
    monkeypatch.setenv("ROSFLIGHT_PY_SIM_VEHICLES", os.pathsep.join(["/no/such/folder", str(file.parent)]))
    assert vehicle("kite").file == file and vehicle("multirotor").file == own
    assert reference(vehicle("kite")) == "kite"
    assert "kite" in names_of_vehicles(lambda one: one.autopilot == "fixedwing_autopilot")
    with pytest.raises(SystemExit, match="0"):
        main(["vehicles"])
    assert f"kite: kite with two motors ({file})" in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["description: half a kite\n", "description: [\n"])
def test_invalid_file_affects_only_commands_that_name_its_vehicle(
    kite: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    file = kite(KITE)
    bad = file.with_name("bad.yaml")
    bad.write_text(broken, encoding="utf-8")
    monkeypatch.setenv("ROSFLIGHT_PY_SIM_VEHICLES", str(file.parent))

    def rejection(*words: str) -> tuple[str, str]:
        with pytest.raises(SystemExit, match="1"):
            main(words)
        return capsys.readouterr()

    listed, reason = rejection("vehicles")
    assert f"kite: kite with two motors ({file})\n" in listed and "\nmultirotor: " in listed and "bad" not in listed
    assert reason.startswith(f"rosflight_py_sim: {bad}") and reason.count("\n") == 1
    assert rejection("sim", "--vehicle", "bad") == ("", reason)
    _, unrelated = rejection("sim", "--vehicle", "uthere", "--autopilot")
    assert "vehicle 'uthere', which has none; allowed: kite, " in unrelated and "bad" not in unrelated


def test_all_vehicle_files_of_the_package_are_valid() -> None:
    assert vehicles_and_errors()[1] == []


@pytest.mark.parametrize("name", known_vehicles())
def test_multirotor_actuators_are_its_rotors_in_order(name: str) -> None:
    one = all_vehicles()[name, "standalone"]
    if one.forces_and_moments == "multirotor_forces_and_moments":
        assert [(each.output, each.is_motor) for each in one.actuators] == [
            (k, True) for k in range(len(one.actuators))
        ]


def test_page_shows_hexarotor_file_and_documents_every_key() -> None:
    page = (share_directory() / "docs" / "add_a_vehicle.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert (CONFIG / "vehicles" / "hexarotor.yaml").read_text(encoding="utf-8").endswith(f"folder.\n{shown}")
    assert [key for key in (*REQUIRED, *OPTIONAL) if f"| `{key}" not in page] == []
