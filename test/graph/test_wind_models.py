"""The wind model of docs/physics.md works from a separate package, with a parameter of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Vector3Stamped
from rcl_interfaces.srv import DescribeParameters, SetParameters
from rclpy.parameter import Parameter

from rosflight_py_sim.ground import registry
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.shared_parameters import WIND_STREAM
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "physics.md").read_text(encoding="utf-8").partition("### Add a wind model")[2]
EXAMPLE = PAGE.split("```python\n")[1].split("```")[0]

CHIMNEY = "chimney = my_winds.chimney:Chimney"
NAMED = {"sim_has_wind": True, "wind_models": ["chimney"]}

CLASHES = """
from my_winds.chimney import *

class Heavy(WindField):
    PARAMETERS = ParameterTable(Parameter("mass", 3.0, "Mass of the air", "kg"))

class Other(WindField):
    PARAMETERS = ParameterTable(Parameter("chimney_speed", 9.0, "Another speed", "m/s"))
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that installs a package with the example's module and the given entry points, as pip would."""

    def installed(*entries: str) -> None:
        package, metadata = tmp_path / "my_winds", tmp_path / "my_winds-1.0.dist-info"
        package.mkdir()
        metadata.mkdir()
        (package / "__init__.py").touch()
        (package / "chimney.py").write_text(EXAMPLE, encoding="utf-8")
        (package / "clashes.py").write_text(CLASHES, encoding="utf-8")
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my_winds\nVersion: 1.0\n", encoding="utf-8")
        (metadata / "entry_points.txt").write_text("\n".join(["[rosflight_py_sim.wind_models]", *entries]), "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        registry.search_again()

    yield installed
    registry.search_again()


def given(*settings: str) -> list[str]:
    """ROS arguments for the chimney's wind and a steady wind of 3 m/s."""
    words = ("sim_has_wind:=true", "wind_models:=[constant, chimney]", "use_random_wind:=false", "seed:=3")
    return [word for one in (*words, "steady_state_wind:=[3.0, 0.0, 0.0]", *settings) for word in ("-p", one)]


def rising(speed: float) -> float:
    """Speed of the air at the origin, m/s, for seed 3."""
    north, east = np.random.default_rng([3, WIND_STREAM]).spawn(1)[0].uniform(-20.0, 20.0, 2)
    return speed * math.exp(-((math.hypot(north, east) / 20.0) ** 2))


def test_third_party_wind_model_is_used_in_flight(graph: Callable[..., Any], install: Install) -> None:
    install(CHIMNEY)
    g = graph(*given())
    received = g.collect_messages("sim/truth_wind", Vector3Stamped)
    g.spin_until(lambda: g.time_s > 0.5, "half a second")
    vector = received[-1].vector
    # The vehicle moves by millimetres in a column of 20 m.
    assert [vector.x, vector.y, -vector.z] == pytest.approx([3.0, 0.0, rising(3.0)], abs=1e-3)


def test_wind_model_parameter_is_described_set_and_rejected_like_a_node_parameter(
    graph: Callable[..., Any], install: Install
) -> None:
    install(CHIMNEY)
    g = graph(*given("chimney_speed:=5.0"))
    described = g.call("dynamics/describe_parameters", DescribeParameters, names=["chimney_speed"]).descriptors[0]
    assert described.description == "Speed of the air on the column's axis [m/s]"
    assert described.additional_constraints == "number, from 0 to 10 m/s"
    assert [described.floating_point_range[0].from_value, described.floating_point_range[0].to_value] == [0.0, 10.0]

    def set_to(speed: float) -> Any:
        changed = Parameter("chimney_speed", value=speed).to_parameter_msg()
        return g.call("dynamics/set_parameters", SetParameters, parameters=[changed]).results[0]

    received = g.collect_messages("sim/truth_wind", Vector3Stamped)
    for speed in (5.0, 8.0):
        assert set_to(speed).successful
        received.clear()
        g.spin_until(lambda: len(received) > 10, "wind")
        assert -received[-1].vector.z == pytest.approx(rising(speed), abs=1e-3)
    refused = set_to(11.0)
    assert not refused.successful
    assert refused.reason == "parameter 'chimney_speed': 11.0 given; allowed: number, from 0 to 10 m/s"


def test_parameter_file_sets_wind_model_parameter(graph: Callable[..., Any], install: Install, tmp_path: Path) -> None:
    install(CHIMNEY)
    file = tmp_path / "chimney.yaml"
    file.write_text(
        "/**/dynamics:\n  ros__parameters: {sim_has_wind: true, wind_models: [chimney], chimney_speed: 2}\n"
    )
    assert graph("--params-file", str(file)).node("dynamics").get_parameter("chimney_speed").value == 2.0


def test_misspelt_wind_model_parameter_is_rejected(graph: Callable[..., Any], install: Install, tmp_path: Path) -> None:
    install(CHIMNEY)
    file = tmp_path / "chimney.yaml"
    file.write_text("/**/dynamics:\n  ros__parameters: {wind_models: [chimney], chimney_sped: 2}\n")
    with pytest.raises(ParameterError, match="no parameter 'chimney_sped'; did you mean 'chimney_speed'"):
        graph("--params-file", str(file))


def test_wind_model_with_undeclared_parameters_is_rejected_at_runtime(
    graph: Callable[..., Any], install: Install
) -> None:
    install(CHIMNEY)
    g = graph("-p", "sim_has_wind:=true")
    changed = Parameter("wind_models", value=["chimney"]).to_parameter_msg()
    refused = g.call("dynamics/set_parameters", SetParameters, parameters=[changed]).results[0]
    assert not refused.successful
    assert "start the node with 'chimney' in wind_models" in refused.reason


@pytest.mark.parametrize(
    ("models", "owner"),
    [
        ("[heavy]", "parameter 'mass' of wind model 'heavy' given, and of the node"),
        ("[chimney, other]", "parameter 'chimney_speed' of wind model 'other' given, and of wind model 'chimney'"),
    ],
)
def test_duplicate_parameter_name_is_rejected_naming_both_owners(
    graph: Callable[..., Any], install: Install, models: str, owner: str
) -> None:
    install(CHIMNEY, "heavy = my_winds.clashes:Heavy", "other = my_winds.clashes:Other")
    with pytest.raises(ParameterError, match=owner):
        graph("-p", f"wind_models:={models}")


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("chimney = my_winds.elsewhere:Chimney", r"my_winds.elsewhere:Chimney' .* cannot be loaded: No module named"),
        ("chimney = math:pi", "'chimney = math:pi' .* allowed: classes derived from WindModel"),
        ("other = my_winds.chimney:Chimney", "'chimney' .* allowed: other, constant, .*, dryden"),
        (
            "dryden = my_winds.chimney:Chimney",
            "'dryden' of .* is registered twice: my_winds.chimney:Chimney and .*DrydenTurbulence",
        ),
    ],
)
def test_unusable_wind_model_is_rejected(install: Install, entry: str, error: str) -> None:
    install(entry)
    names = ["dryden"] if entry.startswith("dryden") else ["chimney"]
    with pytest.raises(ParameterError, match=error):
        Wind(WIND_PARAMETERS.checked({**NAMED, "wind_models": names}), np.random.default_rng(0))
