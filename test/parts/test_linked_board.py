"""A flight controller behind a link: lost messages, missing replies, restarts, and time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.task import Future

from rosflight_py_sim.firmware import BoardCommand, FirmwareParameterOutOfRange, FirmwareParameters, Refused
from rosflight_py_sim.firmware.parameter_file import ParameterFileError
from rosflight_py_sim.firmware.parameters import UnknownFirmwareParameter
from rosflight_py_sim.parts.rosflight_io.linked_board import REPLY_LIMIT_S, LinkedBoard
from rosflight_py_sim.parts.rosflight_io.linked_time import LinkedTime
from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.protocols.rosflight_mavlink import dialect
from rosflight_py_sim.step.part import NoLog
from rosflight_py_sim.step.topics import ImuSample

STEP_NS = 2_500_000


class Wire:
    """Both ports of a link, without sockets; `loses` selects the messages that do not arrive."""

    def __init__(self) -> None:
        self.counters: Counter[str] = Counter()
        self.to_board: list[Any] = []
        self.to_companion: list[Any] = []
        self.loses: Callable[[Any], bool] = lambda message: False

    def messages(self) -> Iterator[Any]:
        arrived, self.to_board = self.to_board, []
        yield from arrived

    def time_passed(self, time_ns: int) -> None:
        """Nothing is limited."""

    def send(self, message: Any, system: int | None = None) -> None:
        """Send from the board, whose port gives its system, or from the companion computer."""
        if not self.loses(message):
            (self.to_board if system is None else self.to_companion).append(message)


class Linked:
    """A board that runs, and the companion computer's view of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.part = RosflightBoard({**RosflightBoard.PARAMETERS.defaults(), "offers_rosflight_io": False})
        self.wire = Wire()
        self.part.connect_link(self.wire)
        self.part.begin()
        self.board = LinkedBoard(self.wire, NoLog(), strict_files=True)
        self.time_ns = 10**9
        self._system_s = 100.0
        monkeypatch.setattr("time.monotonic", lambda: self._system_s)

    def run(self, seconds: float) -> None:
        """Run at real time, with ten ticks of the companion computer a second."""
        for k in range(round(seconds * 400)):
            if k % 40 == 0:
                self.board.tick(self.time_ns)
            self.part.run(self.time_ns, ImuSample(self.time_ns, (0.0, 0.0, 0.0), (0.0, 0.0, -9.80665)))
            arrived, self.wire.to_companion = self.wire.to_companion, []
            for message in arrived:
                self.board.take(message, self.time_ns)
            self.time_ns += STEP_NS
            self._system_s += STEP_NS * 1e-9

    def wait_in_vain(self, seconds: float) -> None:
        """Let system time pass while the board stands still."""
        self._system_s += seconds
        self.board.tick(self.time_ns)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Linked:
    return Linked(monkeypatch)


def later(outcome: Any) -> Future[str]:
    assert isinstance(outcome, Future)
    return outcome


def test_all_parameters_arrive_although_messages_are_lost(linked: Linked) -> None:
    generator = np.random.default_rng(1)
    linked.wire.loses = lambda message: bool(generator.random() < 0.2)
    assert not linked.board.has_all_parameters
    linked.run(12.0)
    assert linked.board.has_all_parameters and linked.board.parameters_changed
    assert linked.board.parameters.snapshot() == FirmwareParameters().snapshot()
    assert not linked.board.parameters.unsaved


def test_parameter_that_is_set_is_known_when_the_board_reports_it(linked: Linked) -> None:
    linked.run(1.5)
    outcome = later(linked.board.set_parameter("FAILSAFE_THR", 0.3))
    assert linked.board.parameters["FAILSAFE_THR"] != 0.3
    linked.run(0.05)
    assert outcome.result() == "FAILSAFE_THR 0.3"
    assert linked.board.parameters["FAILSAFE_THR"] == linked.part.board.parameters["FAILSAFE_THR"] == 0.3
    assert linked.board.parameters.unsaved
    later(linked.board.perform(BoardCommand.WRITE_PARAMS))
    linked.run(0.05)
    assert not linked.board.parameters.unsaved


def test_parameter_that_the_board_refuses_ends_with_its_reason(linked: Linked) -> None:
    linked.run(1.5)
    outcome = later(linked.board.set_parameter("FAILSAFE_THR", 3.0))
    linked.run(0.05)
    with pytest.raises(FirmwareParameterOutOfRange, match=r"'FAILSAFE_THR': 3\.0 given; allowed: a number from 0 to 1"):
        outcome.result()


@pytest.mark.parametrize(("name", "value"), [("RC_NUM_CHN", 6.5), ("FAILSAFE_THR", math.nan)])
def test_value_that_the_link_cannot_carry_is_refused_at_once(linked: Linked, name: str, value: float) -> None:
    with pytest.raises(FirmwareParameterOutOfRange):
        linked.board.set_parameter(name, value)
    with pytest.raises(UnknownFirmwareParameter, match="did you mean FAILSAFE_THR"):
        linked.board.set_parameter("FAILSAFE_TH", 0.1)


def test_requests_end_when_the_board_does_not_reply(linked: Linked) -> None:
    linked.run(1.5)
    outcomes = [
        later(linked.board.perform(BoardCommand.ACCEL_CALIBRATION)),
        later(linked.board.set_parameter("SYS_ID", 1)),
    ]
    linked.wait_in_vain(REPLY_LIMIT_S - 0.1)
    assert not any(one.done() for one in outcomes)
    linked.wait_in_vain(0.2)
    with pytest.raises(Refused, match="accel calibration: no reply from the flight controller within 2 s"):
        outcomes[0].result()
    with pytest.raises(Refused, match="firmware parameter 'SYS_ID': no reply"):
        outcomes[1].result()


def test_file_is_loaded_whole_or_not_at_all(linked: Linked, tmp_path: Path) -> None:
    linked.run(1.5)
    file = tmp_path / "some.yaml"
    file.write_text("- {name: FAILSAFE_THR, type: 9, value: 0.3}\n- {name: RC_NUM_CHN, type: 6, value: 7}\n")
    outcome = later(linked.board.load(file))
    linked.run(0.05)
    assert outcome.result() == f"loaded {file}"
    assert linked.part.board.parameters["RC_NUM_CHN"] == 7
    assert linked.board.load(file) == f"loaded {file}"
    file.write_text("- {name: FAILSAFE_THR, type: 9, value: 0.4}\n- {name: RC_NUM_CHN, type: 6, value: 99}\n")
    with pytest.raises(ParameterFileError, match="line 2"):
        linked.board.load(file)
    linked.run(0.05)
    assert linked.part.board.parameters["FAILSAFE_THR"] == 0.3


def test_restart_of_the_board_is_noticed_and_its_parameters_are_read_again(linked: Linked) -> None:
    linked.run(1.5)
    later(linked.board.set_parameter("RC_NUM_CHN", 7))
    linked.run(0.05)
    outcome = later(linked.board.perform(BoardCommand.REBOOT))
    linked.run(0.05)
    assert outcome.result() == "rebooting"
    linked.run(3.0)
    assert linked.board.reboots == 1
    assert linked.board.has_all_parameters
    assert linked.board.parameters["RC_NUM_CHN"] == linked.part.board.parameters["RC_NUM_CHN"] == 6


def test_magnetometer_is_calibrated_by_the_measurements_on_the_link(linked: Linked) -> None:
    linked.run(1.5)
    with pytest.raises(Refused, match="magnetometer calibration: refused, no sample received yet"):
        linked.board.calibrate_mag()
    offset = np.array([4e-6, -3e-6, 2e-6])
    generator = np.random.default_rng(2)
    linked.board.take(dialect.SmallMag(0.0, 0.0, 5e-5), linked.time_ns)
    assert str(linked.board.calibrate_mag()).startswith("calibrating: rotate the vehicle")
    for _ in range(1500):
        direction = generator.standard_normal(3)
        field = 5e-5 * direction / np.linalg.norm(direction) + offset
        linked.board.take(dialect.SmallMag(*field.tolist()), linked.time_ns)
    linked.run(0.2)
    found = [linked.part.board.parameters[f"MAG_{axis}_BIAS"] for axis in "XYZ"]
    assert found == pytest.approx(offset.tolist(), abs=1e-9)
    linked.board.take(dialect.RosflightStatus(1, 0, 0, 0, 0, 0, 0, 0), linked.time_ns)
    with pytest.raises(Refused, match="refused while armed"):
        linked.board.calibrate_mag()


def test_offset_of_the_times_is_the_smallest_and_follows_a_restart() -> None:
    times = LinkedTime()
    assert times.stamp_ns(5, 1000) == 1000
    assert not times.update(1_000_000, 8_000_000)
    assert not times.update(2_000_000, 8_500_000)
    assert not times.update(3_000_000, 12_000_000)
    assert times.stamp_ns(4_000_000, 0) == 10_500_000
    assert times.update(1_000_000, 20_000_000)
    assert times.stamp_ns(1_000_000, 0) == 20_000_000
    # The companion computer's clock was set.
    assert not times.update(2_000_000, 5_021_000_000)
    assert times.stamp_ns(2_000_000, 0) == 5_021_000_000
