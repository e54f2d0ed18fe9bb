"""`--view`: a page that starts and ends with the composed run."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.step.topics import TRUTH_STATE

pytestmark = pytest.mark.timeout(180)

TIMEOUT_S = 60.0
PROJECT = Path(__file__).parents[2]
ANY_PORT = ("--ros-args", "-p", "web_viewer.port:=0", "-p", "device:=none")


def address(program: Any) -> str:
    """Address of the page, from the program's output."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        urls = re.findall(r"http://\S+", program.stdout)
        if urls:
            assert len(urls) == 1
            return str(urls[0])
        assert program.process.poll() is None, program.stderr
        time.sleep(0.05)
    pytest.fail("no address")


def is_served(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


def test_page_is_served_until_the_simulation_ends(processes: Any) -> None:
    program = processes.command("sim", "--view", *ANY_PORT)
    url = address(program)
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        assert b"<html" in answer.read().lower()
    observer = processes.observer(truth="view/truth_state")
    # The viewer subscribes to the relay only: subscribing to step topics would cost the step a wake-up per message.
    observer.wait_for_advance(0.5)
    # Node names have a topic of their own, and arrive after the data.
    observer.wait_for(lambda: observer.has_node("web_viewer"), "the viewer's name")
    assert observer.node.get_node_names().count("web_viewer") == 1

    def subscribers() -> set[str]:
        return {end.node_name for end in observer.node.get_subscriptions_info_by_topic(f"/{TRUTH_STATE.name}")}

    observer.wait_for(lambda: "view_relay" in subscribers(), "the relay's subscription")
    assert "web_viewer" not in subscribers()
    program.signal(signal.SIGINT)
    assert program.wait() == 130
    assert not is_served(url)
    assert program.error_lines == []
    # The program does not wait for a browser, and prints the address once.
    assert len(re.findall("http://", program.stdout)) == 1


def test_non_http_bytes_do_not_disturb_the_viewer(processes: Any) -> None:
    viewer = processes.node("web_viewer", "-p", "web_viewer.port:=0")
    url = address(viewer)
    for nonsense in (b"\x00\xff" * 200, b"POST / HTTP/1.1\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b""):
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=TIMEOUT_S) as line:
            line.sendall(nonsense)
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        assert answer.status == 200
    viewer.signal(signal.SIGTERM)
    assert viewer.wait() == 0
    assert viewer.error_lines == []


def test_port_in_use_ends_simulation_with_one_line(processes: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        program = processes.command("sim", "--view", "--ros-args", "-p", f"web_viewer.port:={port}")
        assert program.wait() == 1
    assert len(program.error_lines) == 1
    assert f"127.0.0.1:{port} (Address already in use)" in program.error_lines[0]


def test_missing_viser_error_names_the_extra(processes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "viser.py").write_text("raise ImportError(\"No module named 'viser'\")\n")
    processes.environment["PYTHONPATH"] = f"{tmp_path}:{processes.environment['PYTHONPATH']}"
    program = processes.command("fly", "--view")
    assert program.wait() == 1
    assert len(program.error_lines) == 1
    assert "viser, which serves the viewer's page, is not installed" in program.error_lines[0]
    assert "`pip install viser`" in program.error_lines[0]


@pytest.mark.parametrize(("variables", "shown"), [([], True), (["CI=true"], False), (["VIEW="], False)])
def test_make_fly_shows_the_page_except_in_continuous_integration(variables: list[str], shown: bool) -> None:
    command = ["env", "-u", "CI", "make", "--dry-run", "fly", *variables]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    (line,) = [line for line in done.stdout.splitlines() if "rosflight_py_sim fly" in line]
    assert ("--view" in line.split()) == shown
