"""The example of a further node in docs/add_a_node.md runs in the graph's process and in a separate process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import Float64

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "add_a_node.md").read_text(encoding="utf-8").partition("## A further node")[2]
EXAMPLE = PAGE.split("```python\n")[1].split("```")[0]

SETTINGS = ("sim_has_wind:=true", "use_random_wind:=false", "steady_state_wind:=[3.0, 4.0, 0.0]")
WIND = [word for setting in SETTINGS for word in ("-p", setting)]


def example(name: str) -> Any:
    """A name that the example defines."""
    names: dict[str, Any] = {"__name__": "airspeed_meter"}
    exec(compile(EXAMPLE, "docs/add_a_node.md", "exec"), names)
    return names[name]


def assert_airspeed_at_rest_is_the_wind(g: Any) -> None:
    received = g.collect_messages("true_airspeed", Float64)
    g.spin_until(lambda: len(received) > 10 and g.time_s > 0.5, "the true airspeed")
    # The vehicle has settled on the ground: the remaining motion is less than 1 mm/s.
    assert received[-1].data == pytest.approx(5.0, abs=1e-3)


def test_example_publishes_from_the_graph_process(graph: Callable[..., Any]) -> None:
    g = graph(*WIND)
    g.join(example("AirspeedMeter"))
    assert_airspeed_at_rest_is_the_wind(g)


def test_example_publishes_from_its_own_process(graph: Callable[..., Any], tmp_path: Path) -> None:
    program = tmp_path / "airspeed_meter.py"
    program.write_text(EXAMPLE, encoding="utf-8")
    words = [sys.executable, str(program), "--ros-args", "-p", "time_mode:=lockstep", "-p", "use_sim_time:=true"]
    g = graph(*WIND, multiplier=1.0)
    process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    try:
        assert_airspeed_at_rest_is_the_wind(g)
        process.send_signal(signal.SIGINT)
        assert process.wait(10.0) == 0
    finally:
        process.kill()
        process.wait()
