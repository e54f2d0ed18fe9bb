"""Thousands of datagrams, valid and invalid: only valid frames have an effect, and every datagram is counted."""

from __future__ import annotations

import itertools
import socket
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from free_ports import free_ports
from mutated_frames import mutated_frames

from rosflight_py_sim.bridge.ardupilot_front_end import ArduPilotFrontEnd
from rosflight_py_sim.bridge.front_end_interface import START_OVER, Snapshot
from rosflight_py_sim.protocols.ardupilot_json import ProtocolError, decode_frame, encode_frame

DATAGRAMS = 40_000
STEP_NS = 2_500_000

# Number of datagrams that a socket's buffer is sure to hold.
BATCH = 64

# The allocator's own memory grows a little at first; a leak of 20 bytes per datagram would be 800 KB.
FLAT_BYTES = 1 << 19


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_codec_accepts_or_rejects_whole_frames() -> None:
    kinds: Counter[str] = Counter()
    for datagram in mutated_frames(1, DATAGRAMS):
        try:
            frame = decode_frame(datagram)
        except ProtocolError as error:
            kinds[type(error).__name__] += 1
            assert "allowed" in str(error)
            continue
        kinds["frame"] += 1
        assert frame.frame_rate > 0
        assert len(frame.pwm_us) in (16, 32)
        assert encode_frame(frame) == datagram
    assert set(kinds) == {"frame", "FrameLengthError", "MagicError", "FrameRateError"}
    # No kind is rare.
    assert min(kinds.values()) > DATAGRAMS / 200, kinds


class Warnings:
    """A logger that stores the times of warnings: of restarts, which no flood may hide, and of everything else."""

    def __init__(self) -> None:
        self.times_s: dict[bool, list[float]] = {False: [], True: []}

    def info(self, message: str) -> None:
        pass

    def warning(self, message: str) -> None:
        self.times_s["restarted" in message].append(time.monotonic())


def snapshot(step: int) -> Snapshot:
    truth = np.zeros(19)
    truth[3] = 1.0
    return Snapshot(step * STEP_NS, truth, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -9.81))


@pytest.mark.parametrize("senders", [1, 3])
def test_front_end_counts_every_datagram_and_leaks_no_memory(senders: int) -> None:
    log = Warnings()
    values = ArduPilotFrontEnd.PARAMETERS.checked({"ardupilot.port": free_ports()[0]})
    front_end = ArduPilotFrontEnd(values, log, ("",))
    front_end.open()
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(senders)]
    for one in sockets:
        one.connect(("127.0.0.1", int(str(values["ardupilot.port"]))))
        one.setblocking(False)
    datagrams = mutated_frames(2, DATAGRAMS)
    steps = sent = started_over = 0
    began_bytes = 0
    while batch := list(itertools.islice(datagrams, BATCH)):
        for k, datagram in enumerate(batch):
            sockets[k % senders].send(datagram)
        sent += len(batch)
        # Each call that returns commands is a step; None requests more frames.
        while (answer := front_end.exchange(0, snapshot(steps))) is not None:
            if answer is START_OVER:
                started_over += 1
                continue
            steps += 1
            assert len(answer) == 14
            assert all(0 <= us <= 65535 for us in answer)
        for one in sockets:
            drain(one)
        if sent == 10 * BATCH:
            began_bytes = resident_bytes()
    assert resident_bytes() - began_bytes < FLAT_BYTES
    counters = front_end.counters
    assert counters["steps"] == steps > 0
    one_for_each = sum(counters[name] for name in counters if name not in NOT_OF_A_DATAGRAM)
    assert one_for_each == sent, dict(counters)
    assert (counters["refused_frames"] > 0) == (senders > 1)
    for times_s in log.times_s.values():
        assert times_s
        assert np.all(np.diff(times_s) >= 0.99), times_s
    for one in sockets:
        one.close()
    front_end.close()


# Counters that do not count each datagram once: a frame may increase them in addition to its step, several times
# or not at all.
NOT_OF_A_DATAGRAM = ("lost_frames", "restarts", "unsent_replies")


def drain(receiver: socket.socket) -> None:
    try:
        while True:
            receiver.recv(4096)
    except BlockingIOError:
        return
