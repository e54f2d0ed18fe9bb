"""`rosflight_py_sim status` with running graphs: the nodes and values shown, and the exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from rclpy.node import Node
from std_msgs.msg import String

from rosflight_py_sim.step.topics import TRUTH_STATE

CHAIN = {"dynamics", "forces_and_moments", "rc", "sensors", "sil_board", "time_manager"}

# A pace that even a busy machine keeps.
SLOWLY = ("--real-time-multiplier", "0.05")


def start(processes: Any, *arguments: str, truth: str = TRUTH_STATE.name) -> Any:
    """Start a composed graph; return an observer once time advances."""
    processes.command("sim", *SLOWLY, *arguments)
    observer = processes.observer(truth=truth)
    observer.wait_for_advance(0.1, "the simulation starts")
    return observer


def status_data(processes: Any, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and parsed output."""
    program = processes.command("status", "--once", "--json", *arguments)
    code = program.wait()
    assert program.stdout, program.stderr
    return code, json.loads(program.stdout)


def by_name(data: dict[str, Any]) -> dict[str, Any]:
    return {node["name"]: node for node in data["nodes"]}


def test_missing_graph_is_reported_in_one_line(processes: Any) -> None:
    program = processes.command("status", "--once")
    assert program.wait() == 1
    expected = f"rosflight_py_sim: no nodes in ROS domain {processes.domain}; is a simulation running?"
    assert program.stderr.strip() == expected
    assert program.stdout == ""


def test_healthy_graph_is_shown_and_drawn_with_foreign_nodes(processes: Any, tmp_path: Path) -> None:
    observer = start(processes)
    foreign = Node("foreign", namespace="elsewhere", context=observer.context)
    foreign.create_publisher(String, "words", 1)
    observer.add(foreign)
    picture, flowchart = tmp_path / "graph.svg", tmp_path / "graph.mmd"
    shown = processes.command("status", "--once")
    refused = processes.command("status", "--svg", str(tmp_path / "no" / "such.svg"))
    code, data = status_data(processes, "--svg", str(picture), "--mermaid", str(flowchart))
    nodes = by_name(data)
    assert (code, data["well"]) == (0, True), {name: node["message"] for name, node in nodes.items()}
    assert {f"/{name}" for name in CHAIN} < set(nodes)
    assert nodes["/elsewhere/foreign"]["health"] == "UNKNOWN"
    assert not any("status" in name for name in nodes)
    rates = {topic["name"]: topic["rate_hz"] for topic in data["topics"]}
    assert rates["/elsewhere/words"] is None
    # 20 messages in a period, plus or minus one.
    assert rates["/sim/truth_state"] == pytest.approx(400.0, rel=0.1)

    assert shown.wait() == 0, shown.stdout
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert next(line.split()[1] for line in lines if line.startswith("sensors ")) == "OK"
    assert "publishes 1, subscribes to 0 topics" in " ".join(shown.stdout.split())

    names = {element.text for element in ElementTree.parse(picture).iter()}
    assert {f"/{name}" for name in CHAIN} | {"/elsewhere/foreign"} < names
    assert '  node_elsewhere_foreign("/elsewhere/foreign"):::UNKNOWN' in flowchart.read_text().splitlines()
    assert refused.wait() == 1
    assert "cannot write the drawing" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_stalled_fleet_is_reported_by_name_and_exit_code(processes: Any) -> None:
    processes.run(
        "commands.cli", "sim", "--namespace", "range", "--count", "2", *SLOWLY, "--ros-args", "-p", "use_timer:=false"
    )
    observer = processes.observer(namespace="range")
    observer.wait_for(lambda: "time_manager" in observer.node.get_node_names(), "the time manager")
    while True:
        code, data = status_data(processes)
        nodes = by_name(data)
        if nodes.get("/range/time_manager", {}).get("message", "").startswith("stalled"):
            break
    assert (code, data["well"]) == (1, False)
    for number in (1, 2):
        assert {f"/range/multirotor_{number}/{name}" for name in CHAIN - {"time_manager"}} < set(nodes)
        forces = nodes[f"/range/multirotor_{number}/forces_and_moments"]
        assert forces["message"] == f"no /range/multirotor_{number}/sim/pwm_output so far"
