"""The two frames of each step, HIL_SENSOR and HIL_ACTUATOR_CONTROLS, written and read by kernels.

The numbers go between arrays and bytes in a fraction of the time that messages take; the bytes are those of
`Mavlink2.encode`. Other messages use `dialect.py`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.protocols.mavlink.frames import LARGEST_FRAME, Mavlink2
from rosflight_py_sim.protocols.px4_simulator.dialect import CHANNELS, LAYOUTS, HilActuatorControls, HilSensor

Bytes: TypeAlias = NDArray[np.uint8]

READINGS = 13
"""Number of readings in HIL_SENSOR: the fields between `time_usec` and `fields_updated`."""

_START = Mavlink2.START
_HEADER = Mavlink2.HEADER.size
_SENSOR, _OUTPUTS = LAYOUTS.of[HilSensor], LAYOUTS.of[HilActuatorControls]
_SENSOR_ID, _SENSOR_SIZE, _SENSOR_SEED = _SENSOR.number, _SENSOR.size, _SENSOR.crc_extra
_UPDATED = _HEADER + 8 + 4 * READINGS
_OUTPUTS_ID, _OUTPUTS_SIZE, _OUTPUTS_SEED = _OUTPUTS.number, _OUTPUTS.size, _OUTPUTS.crc_extra

# Bytes before a frame, so that its payload is aligned as numbers of 64 bits are.
_ALIGNING = 16 - _HEADER


@kernel
def frame_checksum(frame: Bytes, end: int, seed: int) -> int:
    """CRC-16/MCRF4XX of the bytes from the second one to before `end`, and of the seed."""
    crc = 0xFFFF
    for place in range(1, end + 1):
        byte = seed if place == end else int(frame[place])
        mixed = (crc ^ byte) & 0xFF
        mixed = (mixed ^ (mixed << 4)) & 0xFF
        crc = (crc >> 8) ^ (mixed << 8) ^ (mixed << 3) ^ (mixed >> 4)
    return crc


@kernel
def write_sensor(
    frame: Bytes,
    times: NDArray[np.int64],
    floats: NDArray[np.float32],
    readings: NDArray[np.float64],
    time_us: int,
    updated: int,
    sequence: int,
    system: int,
    component: int,
) -> int:
    """Write HIL_SENSOR (see `SensorFrame`), and return the size of the frame."""
    times[0] = time_us
    for reading in range(READINGS):
        floats[2 + reading] = readings[reading]
    # Four bytes in the order of the processor, as the other numbers: x86-64 and arm64 have that of MAVLink.
    frame[_UPDATED] = updated & 0xFF
    frame[_UPDATED + 1] = updated >> 8
    frame[_UPDATED + 2] = 0
    frame[_UPDATED + 3] = 0
    end = _HEADER + _SENSOR_SIZE
    # MAVLink 2 leaves out the last zeros.
    while frame[end - 1] == 0 and end > _HEADER + 1:
        end -= 1
    frame[0] = _START
    frame[1] = end - _HEADER
    frame[2] = 0
    frame[3] = 0
    frame[4] = sequence
    frame[5] = system
    frame[6] = component
    frame[7] = _SENSOR_ID
    frame[8] = 0
    frame[9] = 0
    crc = frame_checksum(frame, end, _SENSOR_SEED)
    frame[end] = crc & 0xFF
    frame[end + 1] = crc >> 8
    return end + 2


@kernel
def read_outputs(
    frame: Bytes, times: NDArray[np.int64], floats: NDArray[np.float32], controls: NDArray[np.float64], size: int
) -> int:
    """Read the outputs (16,) if the first `size` bytes are one whole HIL_ACTUATOR_CONTROLS; return its time (us) or -1.

    Of the frames that a `FrameReader` reads, it reads those with a whole payload.
    """
    end = _HEADER + _OUTPUTS_SIZE
    if size != end + 2 or frame[0] != _START or frame[1] != _OUTPUTS_SIZE or frame[2] != 0:
        return -1
    if frame[7] != _OUTPUTS_ID or frame[8] != 0 or frame[9] != 0:
        return -1
    if frame_checksum(frame, end, _OUTPUTS_SEED) != int(frame[end]) + (int(frame[end + 1]) << 8):
        return -1
    # The payload begins with time and flags, 64 bits each.
    for channel in range(CHANNELS):
        controls[channel] = floats[4 + channel]
    return int(times[0])


class StepFrame:
    """Memory of a frame, and views of its payload as numbers.

    Attributes:
        memory: the bytes, for sockets.
        payload: the bytes as an array, and the payload as integers of 64 bits and as numbers in single precision.
    """

    def __init__(self) -> None:
        """Contain zeros."""
        memory = np.zeros((_ALIGNING + LARGEST_FRAME) // 8 + 1, np.uint64).view(np.uint8)
        frame, numbers = memory[_ALIGNING:], memory[_ALIGNING + _HEADER :][: max(_SENSOR_SIZE, _OUTPUTS_SIZE) // 8 * 8]
        self.memory = frame.data
        self.payload = frame, numbers.view(np.int64), numbers.view(np.float32)


class SensorFrame(StepFrame):
    """A frame of HIL_SENSOR.

    Attributes:
        readings: the readings (13,), in the order and the units of the message.
    """

    def __init__(self, system: int, component: int) -> None:
        """Frames of a sender with these numbers."""
        super().__init__()
        self.readings: NDArray[np.float64] = np.zeros(READINGS)
        self._sender = system, component
        self._write = bound(write_sensor, *self.payload, self.readings)

    def written(self, time_us: int, updated: int, sequence: int) -> memoryview:
        """Bytes of the frame, which the next call overwrites."""
        return self.memory[: self._write(time_us, updated, sequence, *self._sender)]
