"""Precedence of several values of a parameter."""

from pathlib import Path

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.given_values import given_by, merged_values, sources_of_arguments
from rosflight_py_sim.interfaces.parameter_files import files_of_arguments

FILE = """
/**: {ros__parameters: {mass: 1.0, gravity: 9.0, rho: 1e-1}}
/standalone_dynamics: {ros__parameters: {mass: 2.0, Jxx: 0.2}}
/**/dynamics: {ros__parameters: {Jxx: 0.3}}
/sensors: {ros__parameters: {gravity: 1.0}}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "vehicle.yaml"
    path.write_text(FILE)
    return str(path)


def of_dynamics(*arguments: str) -> dict[str, object]:
    return merged_values(sources_of_arguments(["--ros-args", *arguments]), ("dynamics", "standalone_dynamics"), "/")


def test_own_name_takes_precedence_over_aliases_and_aliases_over_wildcards(file: str) -> None:
    assert of_dynamics("--params-file", file) == {"mass": 2.0, "gravity": 9.0, "rho": 0.1, "Jxx": 0.3}


def test_value_after_a_file_overrides_every_section_of_the_file(file: str) -> None:
    values = of_dynamics("--params-file", file, "-p", "Jxx:=0.5", "-p", "dynamics:mass:=4")
    assert (values["Jxx"], values["mass"]) == (0.5, 4)


def test_file_after_a_value_overrides_the_value(file: str) -> None:
    assert of_dynamics("-p", "Jxx:=0.5", "--params-file", file)["Jxx"] == 0.3


def test_value_for_another_node_is_ignored(file: str) -> None:
    assert of_dynamics("-p", "sensors:gravity:=1.0") == {}


def test_numbers_parse_as_in_rcl() -> None:
    values = of_dynamics(
        "-p", "a:=1e-5", "-p", "b:=true", "-p", "c:=[1, 2e1, -.5, .5E3]", "-p", "d:=text", "-p", "e:='12'"
    )
    assert values == {"a": 1e-5, "b": True, "c": [1, 20.0, -0.5, 500.0], "d": "text", "e": "12"}


def test_dates_are_texts_as_in_rcl() -> None:
    values = of_dynamics("-p", "a:=2026-07-01", "-p", "b:=2026-07-01T12:00:00Z")
    assert values == {"a": "2026-07-01", "b": "2026-07-01T12:00:00Z"}


def test_section_namespace_must_match_the_node(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("/one/dynamics: {ros__parameters: {mass: 1.0}}\n/two: {dynamics: {ros__parameters: {mass: 2.0}}}\n")
    arguments = ["--params-file", str(path)]
    assert files_of_arguments(arguments) == [str(path)]
    assert merged_values([path], ("dynamics",), "/one") == {"mass": 1.0}
    assert merged_values([path], ("dynamics",), "/two") == {"mass": 2.0}
    assert merged_values([path], ("dynamics",)) == {}


@pytest.mark.parametrize(
    ("text", "expected_error"),
    [
        ("a: [", "is not YAML"),
        ("- 1", "ros__parameters"),
        ("a: 1", "ros__parameters"),
        ("x:\n  1: 3", "line 2: section 'x/1'"),
        ("yes: 2", "line 1: section 'True'"),
    ],
)
def test_file_that_is_not_a_parameter_file_is_rejected(tmp_path: Path, text: str, expected_error: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=expected_error):
        of_dynamics("--params-file", str(path))


def test_list_parses_as_written_by_launch_ros(tmp_path: Path) -> None:
    file = tmp_path / "launch_params"
    file.write_text("/dynamics:\n  ros__parameters:\n    wind: !!python/tuple\n    - 1.0\n    - 2.0\n")
    assert of_dynamics("--params-file", str(file)) == {"wind": [1.0, 2.0]}


def test_single_value_for_node_in_another_namespace_is_ignored() -> None:
    given = ["--ros-args", "-p", "/two/dynamics:mass:=2.0", "-p", "/one/dynamics:mass:=1.0", "-p", "dynamics:Jxx:=0.3"]
    assert merged_values(sources_of_arguments(given), ("dynamics",), "/one") == {"mass": 1.0, "Jxx": 0.3}


def test_settings_of_a_node_override_those_of_all() -> None:
    settings = {"tyre:grip": "hard", "grip": 1.0, "hand:mass": 3.0}
    assert merged_values([settings], ("tyre",)) == {"grip": "hard"}
    assert merged_values([settings], ("hand",)) == {"grip": 1.0, "mass": 3.0}


def test_every_value_knows_its_place(file: str) -> None:
    given = given_by([{"rho": 1.0}, file, {"mass": 3.0}], ("dynamics", "standalone_dynamics"))
    places = {one.name: one.place for one in given}
    assert places == {"mass": "", "gravity": f"{file}, line 2", "rho": f"{file}, line 2", "Jxx": f"{file}, line 4"}


SECTIONS = ("/**", "/one/**", "/one/*", "/*/n", "/**/n", "n", "/n", "one/n", "/one/n", "/two/n", "/**/two/*", "m")


def test_sections_match_by_the_rules_of_rcl_and_without_a_namespace(tmp_path: Path) -> None:
    path = tmp_path / "sections.yaml"
    path.write_text("".join(f"{name}: {{ros__parameters: {{p{k}: {k}}}}}\n" for k, name in enumerate(SECTIONS)))
    matched = {
        namespace: [SECTIONS[value] for value in sorted(merged_values([path], ("n",), namespace).values())]
        for namespace in ("/", "/one", "/one/two")
    }
    assert matched["/"] == ["/**", "/*/n", "/**/n", "n", "/n"]
    assert matched["/one"] == ["/**", "/one/**", "/one/*", "/*/n", "/**/n", "n", "/n", "one/n", "/one/n"]
    assert matched["/one/two"] == ["/**", "/one/**", "/*/n", "/**/n", "n", "/n", "/**/two/*"]


def test_many_wildcards_take_no_longer_than_one(tmp_path: Path) -> None:
    path = tmp_path / "wildcards.yaml"
    path.write_text(f"{40 * '/**'}/m: {{ros__parameters: {{mass: 1.0}}}}\n")
    assert merged_values([path], ("n",), "/a/b/c/d/e/f") == {}
    assert merged_values([path], ("m",), "/a/b/c/d/e/f") == {"mass": 1.0}
