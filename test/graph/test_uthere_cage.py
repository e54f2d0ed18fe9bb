"""A program flies the whole graph by plain datagrams, leaves its cage on purpose, and recovers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from free_ports import free_ports

from rosflight_py_sim.autopilot.cage import CageBit
from rosflight_py_sim.autopilot.guided_mode_states import Mode
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.interfaces.diagnostics import DIAGNOSTICS_QOS
from rosflight_py_sim.protocols.uthere import Data, ErrorReply
from rosflight_py_sim.vehicles import vehicle
from test.bridge.uthere_bench import Program

MAXIMUM_M = 50.0
HOME_M = 40.0
FOOT = 0.3048


class Streamer:
    """A program that receives all variables at 10 Hz and acts on them."""

    def __init__(self, graph: Any, program: Program) -> None:
        self.graph = graph
        self.variables: dict[str, float] = {}
        self._program = program
        self._latest_s = self._next_s = 0.0
        self._line = ""

    def send_line(self, line: str) -> None:
        self._program.send(line)

    def stream(self, line: str) -> None:
        """Send a line at 5 Hz of the plane's time from now on; an empty line stops this."""
        self._line, self._next_s = line, 0.0

    def until(self, condition: Callable[[dict[str, float]], object], what: str) -> None:
        """Run the graph until a condition on the variables holds."""

        def holds() -> bool:
            for reply in self._program.replies():
                if not isinstance(reply, Data):
                    # Lines streamed after fly() has ended are refused.
                    assert isinstance(reply, ErrorReply)
                    continue
                self.variables |= reply.values
                self._latest_s = reply.time_s
            if self._line and self._latest_s >= self._next_s:
                self._next_s = self._latest_s + 0.2
                self.send_line(self._line)
            return bool(self.variables and condition(self.variables))

        self.graph.spin_until(holds, what)

    def until_mode(self, mode: Mode) -> None:
        self.until(lambda latest: latest["control_operate_mode"] == mode, mode.label)


@pytest.fixture
def program(graph: Callable[..., Any]) -> Iterator[Streamer]:
    """A program that has just received the first variables of an anaconda circling over home."""
    port_in, port_out = free_ports(2)
    made = graph(
        *("-p", f"uthere.udp_port_in:={port_in}", "-p", f"uthere.udp_port_out:={port_out}"),
        *("-p", f"uthere.home_altitude:={HOME_M}"),
        # A quarter of the usual number of steps, to keep the test short.
        *("-p", "step_size:=0.01"),
        vehicles=[Member(vehicle("anaconda"))],
        flight_controller="uthere",
    )
    made.set_parameter("bridge", "uthere.cage_altitude_maximum", MAXIMUM_M)
    made.arm()
    assert made.call("toggle_override").success
    socket_pair = Program("127.0.0.1", ("127.0.0.1", port_in), port_out)
    one = Streamer(made, socket_pair)
    one.send_line("data_request(plane=12345, variable=all, interval=0.1)")
    one.until_mode(Mode.WAYPOINT)
    yield one
    socket_pair.close()


def test_cage_ends_fly_engage_resumes_it_and_safety_pilot_overrides_all(program: Streamer) -> None:
    program.send_line("fly_engage(plane=12345)")
    program.until(lambda latest: latest["ap_target_from_packet_enabled"] == 1, "fly() engaged")
    program.stream("fly(plane=12345,heading=180,airspeed=18,climb=15)")
    program.until_mode(Mode.PACKET_TARGET)
    program.until_mode(Mode.RETURN_HOME)
    latest = program.variables
    assert latest["ap_target_from_packet_enabled"] == 0
    assert latest["ap_target_from_packet_cage_triggered_last"] == 1 << CageBit.ALTITUDE
    assert latest["cage_altitude_maximum"] == pytest.approx(MAXIMUM_M / FOOT, abs=1e-6)
    # The program receives the mode up to 0.1 s later, at a climb rate of 5 m/s.
    assert latest["altitude"] * FOOT == pytest.approx(MAXIMUM_M, abs=1.0)

    program.stream("")
    program.until(lambda latest: latest["cage_triggered"] == 0, "the plane inside of its cage")
    assert program.variables["ap_target_from_packet_cage_triggered_last"] == 1 << CageBit.ALTITUDE
    program.send_line("fly_engage(plane=12345)")
    program.until(lambda latest: latest["ap_target_from_packet_cage_triggered_last"] == 0, "the latch cleared")
    program.stream("fly(plane=12345,heading=180,airspeed=18,altitude=130)")
    program.until_mode(Mode.PACKET_TARGET)
    program.until(lambda latest: abs(latest["heading"] - 180.0) < 10.0, "the nose to the south")

    assert program.graph.call("toggle_override").success
    program.until_mode(Mode.MANUAL)
    assert program.variables["ap_target_from_packet_enabled"] == 0
    assert program.graph.call("toggle_override").success
    program.until_mode(Mode.WAYPOINT)

    program.send_line("fly_engage(plane=12345)")
    program.until_mode(Mode.PACKET_TARGET)
    program.graph.set_parameter("sensors", "gnss_num_satellites", 3)
    program.until_mode(Mode.RETURN_HOME)
    assert program.variables["ap_target_from_packet_cage_triggered_last"] == 1 << CageBit.GPS_BAD
    program.until(lambda latest: int(latest["cage_triggered"]) >> CageBit.NAV_LOST & 1, "navigation lost")
    shown = program.graph.collect_messages("/diagnostics", DiagnosticArray, DIAGNOSTICS_QOS)

    def are_shown() -> bool:
        # A blind plane may leave its cage in further ways before the next report.
        return any({"gps bad", "nav lost"} <= set(value.split(", ")) for value in _values(shown, "cage_triggered"))

    program.graph.spin_until(are_shown, "the cage's state on /diagnostics")
    assert "gps bad" in _values(shown, "ap_target_from_packet_cage_triggered_last")
    program.graph.set_parameter("sensors", "gnss_num_satellites", 12)
    program.until(lambda latest: latest["cage_triggered"] == 0, "a position again")

    program.send_line("fly_engage(plane=12345)")
    program.until_mode(Mode.PACKET_TARGET)
    program.graph.remove(program.graph.node("rc"))
    program.until(lambda latest: latest["failsafe"] == 1, "the transmitter lost")
    lost_s = program.variables["time"]
    program.until(lambda latest: latest["time"] > lost_s + 10.0, "a flight without it")
    latest = program.variables
    assert (latest["control_operate_mode"], latest["offboard"], latest["cage_triggered"]) == (Mode.PACKET_TARGET, 1, 0)
    assert latest["altitude"] == pytest.approx(130.0, abs=10.0)
    assert latest["throttle"] > 20.0
    program.send_line("fly_disengage(plane=12345)")
    program.until_mode(Mode.RETURN_HOME)
    program.send_line("fly_engage(plane=12345)")
    program.until_mode(Mode.PACKET_TARGET)

    program.graph.set_parameter("bridge", "uthere.cage_handheld_lost_comm", True)
    program.until_mode(Mode.RETURN_HOME)
    assert program.variables["ap_target_from_packet_cage_triggered_last"] == 1 << CageBit.HANDHELD_LOST_COMM
    assert int(program.variables["cage_triggered"]) >> CageBit.HANDHELD_LOST_COMM & 1
    program.stream("")
    lost_s = program.variables["time"]
    program.until(lambda latest: latest["time"] > lost_s + 10.0, "a flight under power")
    program.until(lambda latest: latest["range"] * FOOT < 120.0, "home")
    latest = program.variables
    assert latest["control_operate_mode"] == Mode.RETURN_HOME
    assert latest["altitude"] * FOOT == pytest.approx(HOME_M, abs=5.0)
    assert latest["airspeed"] == pytest.approx(18.0, abs=3.0)


def _values(shown: list[DiagnosticArray], key: str) -> set[str]:
    """All values published under this key."""
    statuses = (status for message in shown for status in message.status)
    return {pair.value for status in statuses for pair in status.values if pair.key == key}
