"""docs/sensors.md lists the parameters of the code, and no others."""

from pathlib import Path

import pytest

from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.sensing import SENSOR_PARAMETERS

PAGE = Path(__file__).parents[2] / "docs" / "sensors.md"


def row(parameter: Parameter) -> str:
    """The parameter's row in a table of the page."""
    default = parameter.default if isinstance(parameter.default, (str, int, list)) else f"{parameter.default:.10g}"
    return f"| `{parameter.name}` | {default} | {parameter.unit} | {parameter.allowed or 'any'} | {parameter.text} |"


def rows_of_the_page():
    return [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("parameter", SENSOR_PARAMETERS, ids=lambda parameter: parameter.name)
def test_documented_parameter_matches_code(parameter):
    assert row(parameter) in rows_of_the_page()


def test_page_lists_each_parameter_exactly_once():
    assert len(rows_of_the_page()) == len(SENSOR_PARAMETERS)
