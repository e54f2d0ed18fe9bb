"""Ctrl-C and SIGTERM end every process at once and without error output, whatever it is doing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.graph.time_modes import TIME_MANAGERS
from rosflight_py_sim.step.qos import LATCHED
from test.processes.conftest import CHAIN_NODES, PROJECT, SLOWLY, few_steps

pytestmark = [pytest.mark.timeout(120), pytest.mark.new_interpreter]

TIME_MODES = ["wall", "paced", "lockstep"]


def mixed_graph(simulate: Callable[..., Any], time_mode: str, forked: Sequence[str], *further: str) -> Any:
    """A graph with some forked nodes; the others, and always the time manager, are new interpreters."""
    manager = TIME_MANAGERS.get(time_mode)
    executables = [*CHAIN_NODES, *([manager] if manager else []), *further]
    simulation = simulate(time_mode, SLOWLY, *few_steps(time_mode), leave_out=executables)
    for executable in executables:
        simulation.forked = executable in forked
        simulation.start(executable)
    return simulation


def assert_clean_exit(program: Any, code: int = 0) -> None:
    assert program.wait() == code, program.stderr
    assert program.error_lines == [], program.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("time_mode", TIME_MODES)
def test_signal_ends_each_process_of_a_running_graph(
    simulate: Callable[..., Any], time_mode: str, number: signal.Signals
) -> None:
    # Some of the nodes are new interpreters, which shut down, too: with each signal, each node in one time mode.
    shift = TIME_MODES.index(time_mode) + (number == signal.SIGTERM)
    nodes = enumerate((*CHAIN_NODES, "autopilot"), shift)
    simulation = mixed_graph(simulate, time_mode, [one for place, one in nodes if place % len(TIME_MODES)], "autopilot")
    observer = simulation.observer()
    observer.wait_for_advance(0.1)
    observer.wait_for(lambda: observer.has_node("autopilot"), "autopilot")
    if (time_mode, number) == ("lockstep", signal.SIGINT):
        assert_signal_ends_paused_time_manager_with_pending_step(simulation, observer)
    # One by one: later processes end while the graph is stalled.
    for program in simulation.programs.values():
        program.signal(number)
        assert_clean_exit(program)


def assert_signal_ends_paused_time_manager_with_pending_step(simulation: Any, observer: Any) -> None:
    """Dynamics is stopped meanwhile, which keeps the step pending; then the graph goes on with another time manager."""
    dynamics, manager = (simulation.programs[name] for name in ("standalone_dynamics", "lockstep_time_manager"))
    observer.trigger("time_manager/toggle_pause")
    dynamics.signal(signal.SIGSTOP)
    client = observer.node.create_client(Trigger, "time_manager/step")
    observer.wait_for(client.service_is_ready, "time_manager/step")
    future = client.call_async(Trigger.Request())
    observer.spin(0.5)
    assert not future.done()
    manager.signal(signal.SIGINT)
    assert_clean_exit(manager)
    observer.node.destroy_client(client)
    dynamics.signal(signal.SIGCONT)
    simulation.start("lockstep_time_manager")
    observer.wait_for_advance(0.1)


def test_signal_ends_nodes_waiting_for_others(processes: Any) -> None:
    observer = processes.observer()
    programs = {}
    for executable, node_name in (("lockstep_time_manager", "time_manager"), ("rc", "rc"), ("sil_board", "sil_board")):
        programs[node_name] = processes.node(executable)
    for node_name, program in programs.items():
        observer.wait_for(lambda n=node_name: observer.has_node(n), node_name)
        program.signal(signal.SIGINT)
    for program in programs.values():
        assert_clean_exit(program)


# From the moment SIGTERM has a handler. Before, Python's default handling applies.
@pytest.mark.parametrize("delay_s", [0.0, 0.15, 0.3, 0.45, 0.65, 0.95])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_during_start_up_ends_node_cleanly(processes: Any, number: signal.Signals, delay_s: float) -> None:
    started = [processes.node(executable) for executable in ("rc", "sil_board")]
    while not all(_handles_sigterm(program.process.pid) for program in started):
        time.sleep(0.005)
    time.sleep(delay_s)
    for program in started:
        program.signal(number)
    for program in started:
        assert_clean_exit(program)


def _handles_sigterm(process_id: int) -> bool:
    status = Path(f"/proc/{process_id}/status").read_text()
    (caught,) = re.findall(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def test_second_signal_has_no_effect(processes: Any) -> None:
    observer = processes.observer()
    for executable in ("rc", "sil_board"):
        program = processes.node(executable)
        observer.wait_for(lambda n=executable: observer.has_node(n), executable)
        program.signal(signal.SIGINT)
        time.sleep(0.02)
        program.signal(signal.SIGINT)
        time.sleep(0.05)
        if program.process.poll() is None:
            program.signal(signal.SIGTERM)
        assert_clean_exit(program)


def test_ctrl_c_ends_runner_with_130_and_no_traceback(processes: Any) -> None:
    observer = processes.observer()
    program = processes.command("sim", "--real-time-multiplier", str(SLOWLY), "--ros-args", *few_steps("lockstep"))
    observer.wait_for_advance(0.1)
    program.signal(signal.SIGINT)
    time.sleep(0.05)
    if program.process.poll() is None:
        program.signal(signal.SIGINT)
    assert_clean_exit(program, 130)


def test_ctrl_c_in_flight_leaves_no_traceback_and_a_complete_line(processes: Any) -> None:
    observer = processes.observer()
    program = processes.command("fly", "--real-time-multiplier", "1")
    received: list[str] = []
    _subscribe_to_phase(observer.node, received)
    observer.wait_for(lambda: "take off" in received, "take-off")
    observer.wait_for_advance(0.5)
    program.signal(signal.SIGINT)
    assert_clean_exit(program, 130)
    assert "Traceback" not in program.stdout
    assert program.stdout == "" or program.stdout.endswith("\n")


def _subscribe_to_phase(node: Node, received: list[str]) -> None:
    node.create_subscription(String, "autopilot/phase", lambda m: received.append(m.data), LATCHED)


SLOW_TO_END = """\
import os
import time
from rosflight_py_sim.ground.process_signals import exit_on_signals

class Slow:
    def __del__(self, write=os.write, sleep=time.sleep):
        write(1, b"ending\\n")
        sleep(0.5)

exit_on_signals(130)
slow = Slow()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_at_the_very_end_does_not_change_the_exit_code(number: signal.Signals) -> None:
    program = subprocess.Popen([sys.executable, "-c", SLOW_TO_END], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "ending\n"
    program.send_signal(number)
    assert program.wait(60.0) == 0
    program.stdout.close()


INTERRUPTED_IN_EXEC = """\
import signal, sys
from rosflight_py_sim.ground.process_signals import INTERRUPTED, interrupt_on_signals
interrupt_on_signals()
try:
    exec("signal.raise_signal(signal.{name})")
except KeyboardInterrupt:
    sys.exit(INTERRUPTED)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_during_exec_of_a_text_keeps_the_exit_code(tmp_path: Path, name: str) -> None:
    # dataclasses and namedtuple execute texts while modules are imported.
    (tmp_path / "program.py").write_text(INTERRUPTED_IN_EXEC.format(name=name))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-m", "program"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")
