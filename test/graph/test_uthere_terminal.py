"""The terminal for uThere's protocol, connected to a simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from free_ports import free_ports

from rosflight_py_sim.commands.uthere_terminal.completion import VARIABLES
from rosflight_py_sim.protocols.uthere import Data, PlaneList, parse_reply

PROJECT = Path(__file__).parents[2]


def test_typed_commands_are_answered_and_offered_variables_exist(graph: Callable[..., Any], tmp_path: Path) -> None:
    port_in, port_out = free_ports(2)
    made = graph(
        *("-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"),
        vehicle_name="uthere",
        flight_controller="uthere",
        multiplier=1.0,
    )
    made.ready()
    names = [name for name in VARIABLES if name != "all"]
    asked = "; ".join(f"data_request(plane=12345,variable={name},interval=60)" for name in names)
    shown = tmp_path / "shown"
    with shown.open("w") as output:
        terminal = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "rosflight_py_sim",
                "uthere-terminal",
                "--listen",
                "100",
                "--port-in",
                str(port_in),
                "--port-out",
                str(port_out),
            ],
            stdin=subprocess.PIPE,
            stdout=output,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
    try:
        assert terminal.stdin is not None
        terminal.stdin.write(f"request_plane_list\n{asked}\n")
        terminal.stdin.close()

        def replies() -> list[Any]:
            return [parse_reply(line) for line in shown.read_text().splitlines(keepends=True) if line.endswith("\n")]

        made.spin_until(lambda: len(replies()) > len(names), "all answers")
    finally:
        terminal.terminate()
        terminal.wait()
    assert replies()[0] == PlaneList((12345,))
    assert [list(reply.values) for reply in replies() if isinstance(reply, Data)] == [[name] for name in names]
