"""Messages of PX4's simulator interface, and frames of MAVLink 2, against pymavlink."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import px4_frames
import pytest
from pymavlink.dialects.v20 import common

from rosflight_py_sim.protocols.mavlink.frames import Frame, FrameReader, Mavlink2
from rosflight_py_sim.protocols.px4_simulator import dialect
from rosflight_py_sim.protocols.px4_simulator.dialect import LAYOUTS, HilActuatorControls, HilSensor
from rosflight_py_sim.protocols.px4_simulator.step_frames import SensorFrame, StepFrame, read_outputs

SENSOR = HilSensor(1_234_567, 0.5, -0.25, -9.75, 0.1, 0.2, -0.3, 0.2, 0.0, 0.4, 860.5, 1.5, 1400.0, 6.5, 0x1FFF)
OUTPUTS = HilActuatorControls(1_234_567, (0.5, 0.25, *(0.0,) * 14), 129, 1)


def frame_of(message: Any, sequence: int = 0) -> bytes:
    return Mavlink2.encode(LAYOUTS, Frame(message, sequence, 1, 51))


def by_pymavlink(data: bytes) -> list[Any]:
    return common.MAVLink(None).parse_buffer(data) or []


@pytest.mark.parametrize("number", LAYOUTS.numbered)
def test_names_checksums_and_order_of_fields_are_those_of_the_common_dialect(number: int) -> None:
    layout, theirs = LAYOUTS.numbered[number], common.mavlink_map[number]
    assert (layout.name, layout.crc_extra) == (theirs.msgname, theirs.crc_extra)
    # pymavlink's size includes extensions.
    assert layout.size <= theirs.unpacker.size


def test_messages_are_read_by_pymavlink() -> None:
    (sensor,) = by_pymavlink(frame_of(SENSOR))
    for name, value in zip(HilSensor._fields, SENSOR, strict=True):
        assert getattr(sensor, name) == pytest.approx(value)
    # The extension `id` is not sent, and therefore 0.
    assert sensor.id == 0


@pytest.mark.parametrize("seed", range(20))
def test_sensor_frame_of_the_kernel_is_that_of_the_message(seed: int) -> None:
    rng = random.Random(seed)
    frame = SensorFrame(1, 51)
    for sequence in (0, 1, 255):
        # Zeros, numbers beyond single precision, and those that single precision rounds.
        readings = [rng.choice([0.0, -0.0, 1e300, -1e300, rng.gauss(0.0, 1e3)]) for _ in range(13)]
        time_us, updated = rng.randrange(1 << 40), rng.choice([0, 0x3F, 0x1FFF])
        frame.readings[:] = readings
        assert frame.written(time_us, updated, sequence) == frame_of(HilSensor(time_us, *readings, updated), sequence)


def test_outputs_are_read_from_a_whole_frame_only() -> None:
    memory, controls = StepFrame(), np.zeros(16)

    def read(data: bytes) -> int:
        memory.memory[: len(data)] = data
        return read_outputs(*memory.payload, controls, len(data))

    rng = random.Random(1)
    sent = tuple(rng.choice([0.0, -1.0, 0.1, float("inf"), 1e-40]) for _ in range(16))
    frame = frame_of(HilActuatorControls(1_234_567, sent, 129, 1))
    assert read(frame) == 1_234_567
    (message,) = (one.message for one in FrameReader(Mavlink2, LAYOUTS).frames(frame))
    assert tuple(controls) == message.controls
    others = [b"", frame[:-1], frame + b"\0", frame * 2, frame_of(SENSOR), frame_of(dialect.Heartbeat(0, 12))]
    for place in range(len(frame)):
        damaged = bytearray(frame)
        damaged[place] ^= 1 << rng.randrange(8)
        others.append(bytes(damaged))
    assert [read(one) for one in others] == [-1] * len(others)


def test_messages_of_pymavlink_are_read() -> None:
    sent = common.MAVLink(None, srcSystem=1, srcComponent=1)
    message = sent.hil_actuator_controls_encode(OUTPUTS.time_usec, list(OUTPUTS.controls), 129, 1).pack(sent)
    (frame,) = FrameReader(Mavlink2, LAYOUTS).frames(message)
    assert (frame.message, frame.system, frame.component) == (OUTPUTS, 1, 1)


def test_zeros_at_the_end_are_not_sent_and_extensions_are_ignored() -> None:
    beat = dialect.Heartbeat(0, 0, 0, 0, 0, 0)
    assert len(frame_of(beat)) == 12 + 1
    (frame,) = FrameReader(Mavlink2, LAYOUTS).frames(frame_of(beat))
    assert frame.message == beat
    sent = common.MAVLink(None)
    whole = sent.distance_sensor_encode(7, 20, 1200, 300, 0, 0, 25, 4, 0.5, 0.5, [1.0, 0.0, 0.0, 0.0], 90).pack(sent)
    (frame,) = FrameReader(Mavlink2, LAYOUTS).frames(whole)
    assert frame.message == dialect.DistanceSensor(7, 20, 1200, 300, 0, 0, 25, 4)


def test_damage_costs_only_the_damaged_frame() -> None:
    rng = random.Random(5)
    data, expected = b"", []
    for sequence in range(200):
        frame = bytearray(frame_of(OUTPUTS, sequence))
        if rng.random() < 0.3:
            frame[rng.randrange(1, len(frame))] ^= 1 << rng.randrange(8)
        else:
            expected.append(sequence)
        data += bytes(frame) + rng.randbytes(rng.randrange(4)).replace(b"\xfd", b"")
    for size in (1, 7, len(data)):
        counters: Counter[str] = Counter()
        reader = FrameReader(Mavlink2, LAYOUTS, counters)
        read = [frame.sequence for at in range(0, len(data), size) for frame in reader.frames(data[at : at + size])]
        # A length that is damaged may hide the frames that it spans until more bytes arrive.
        assert set(read) <= set(expected) and len(read) > 0.9 * len(expected)
        assert counters["wrong_checksum"] > 0


def test_signed_frames_are_not_read() -> None:
    frame = bytearray(frame_of(OUTPUTS))
    frame[2] = 1
    counters: Counter[str] = Counter()
    assert list(FrameReader(Mavlink2, LAYOUTS, counters).frames(bytes(frame))) == []
    assert counters["unsupported_flags"] == 1


# The stand-in's own codec.


def test_stand_in_sends_px4s_messages() -> None:
    heartbeat, request, outputs = by_pymavlink(
        px4_frames.heartbeat(0) + px4_frames.interval_request(5000.0, 1) + px4_frames.outputs(77, [0.5, 1.0], 2)
    )
    assert (heartbeat.autopilot, heartbeat.type) == (common.MAV_AUTOPILOT_PX4, 0)
    assert (request.command, request.param1, request.param2) == (common.MAV_CMD_SET_MESSAGE_INTERVAL, 115.0, 5000.0)
    assert (outputs.time_usec, outputs.controls[:3], outputs.mode, outputs.flags) == (77, [0.5, 1.0, 0.0], 129, 1)


def test_stand_in_reads_the_simulators_messages_and_nothing_else() -> None:
    state = dialect.HilStateQuaternion(
        5, (1.0, 0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 402_463_724, -1_116_474_138, 1_387_000, 100, -200, 50, 0, 0, 0, 0, 0
    )
    data = frame_of(state) + frame_of(SENSOR, 1)
    reader = px4_frames.Reader()
    read = [one for byte in data for one in reader.messages(bytes((byte,)))]
    assert read[0] == px4_frames.State(
        5, (1.0, 0.0, 0.0, 0.0), 402_463_724, -1_116_474_138, 1_387_000, (1.0, -2.0, 0.5)
    )
    assert isinstance(read[1], px4_frames.Sensor) and read[1].accel == (0.5, -0.25, -9.75)
    for bad in (b"\xfe" + data[1:], data[:20] + b"\0" + data[21:], frame_of(OUTPUTS)):
        with pytest.raises(px4_frames.FrameError):
            list(px4_frames.Reader().messages(bad))
