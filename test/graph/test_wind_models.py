"""The wind model of docs/physics.md flies, from a package outside of this one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Vector3Stamped

from rosflight_py_sim.nodes.standalone_dynamics import WIND_STREAM
from rosflight_py_sim.parameters import ParameterError
from rosflight_py_sim.physics.wind import ENTRY_POINTS, WIND_PARAMETERS, Wind

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "physics.md").read_text(encoding="utf-8").partition("### Add a wind model")[2]
EXAMPLE = PAGE.split("```python\n")[1].split("```")[0]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *entries: str) -> None:
    """Install a package with the example's module and these entry points, as pip would."""
    package, told = folder / "my_winds", folder / "my_winds-1.0.dist-info"
    package.mkdir()
    told.mkdir()
    (package / "__init__.py").touch()
    (package / "thermal.py").write_text(EXAMPLE, encoding="utf-8")
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: my_winds\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINTS}]", *entries]), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


def test_wind_model_of_another_package_flies(
    graph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "thermal = my_winds.thermal:Thermal")
    words = ("sim_has_wind:=true", "wind_models:=[constant, thermal]", "use_random_wind:=false", "seed:=3")
    given = [word for setting in (*words, "steady_state_wind:=[3.0, 0.0, 0.0]") for word in ("-p", setting)]
    g = graph(*given)
    heard = g.hear("sim/truth_wind", Vector3Stamped)
    g.spin_until(lambda: g.time_s > 0.5, "half a second")
    north, east = np.random.default_rng([3, WIND_STREAM]).spawn(1)[0].uniform(-20.0, 20.0, 2)
    rising = 3.0 * math.exp(-((math.hypot(north, east) / 20.0) ** 2))
    vector = heard[-1].vector
    # The vehicle moves by millimetres in a thermal of 20 m.
    assert [vector.x, vector.y, -vector.z] == pytest.approx([3.0, 0.0, rising], abs=1e-3)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("thermal = my_winds.elsewhere:Thermal", "my_winds.elsewhere:Thermal cannot be loaded: No module named"),
        ("thermal = math:pi", "math:pi is not a subclass of WindModel"),
        ("other = my_winds.thermal:Thermal", "'thermal' given; allowed: constant, .*, dryden, other"),
    ],
)
def test_wind_model_that_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, told: str
) -> None:
    install(tmp_path, monkeypatch, entry)
    values = WIND_PARAMETERS.checked({"sim_has_wind": True, "wind_models": ["thermal"]})
    with pytest.raises(ParameterError, match=told):
        Wind(values, np.random.default_rng(0))
