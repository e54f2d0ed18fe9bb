"""A gimbal: outputs of the flight controller turn one of the cameras.

Servos without lag. A pulse between the shortest and the longest one turns its axis in proportion between the ends of
its range, as ArduPilot's servo mount commands it (libraries/AP_Mount/AP_Mount_Servo.cpp), whose default ranges are the
defaults here. The angles take the place of the camera's own, in body axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rosflight_py_sim.camera.pinhole import Camera
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values
from rosflight_py_sim.ground.pulse_width import NO_PULSE_US, OUTPUTS

GIMBAL_PARAMETERS = ParameterTable(
    Parameter(
        "gimbal_outputs",
        [-1, -1, -1],
        "Outputs that turn the gimbal's camera in roll, pitch and yaw, counted from 0; -1: none, which keeps the "
        "angle in camera_angles",
        minimum=-1,
        maximum=OUTPUTS - 1,
        length=3,
        read_only=True,
    ),
    Parameter("gimbal_camera", "front", "Name of the camera that gimbal_outputs turn", read_only=True),
    Parameter(
        "gimbal_angles",
        [-30.0, 30.0, -90.0, 20.0, -180.0, 180.0],
        "Angles of the gimbal at the shortest and the longest pulse: roll, pitch, yaw, two each",
        "deg",
        minimum=-360.0,
        maximum=360.0,
        length=6,
    ),
    Parameter(
        "gimbal_pulses",
        [1100.0, 1900.0],
        "Shortest and longest pulse of the gimbal's servos",
        "us",
        minimum=NO_PULSE_US,
        maximum=3000.0,
        length=2,
    ),
)


class Gimbal:
    """Turns a camera by the pulse widths of the outputs.

    Attributes:
        camera: name of the camera; empty if no output turns one.
    """

    def __init__(self, values: Values, cameras: Sequence[str]) -> None:
        """Store the values of GIMBAL_PARAMETERS.

        Raises:
            ParameterError: there is no such camera, or the longest pulse is not longer than the shortest.
        """
        outputs, angles, pulses = (
            [float(str(one)) for one in values[name]]  # type: ignore[union-attr]
            for name in ("gimbal_outputs", "gimbal_angles", "gimbal_pulses")
        )
        self._outputs = [int(output) for output in outputs]
        self.camera = str(values["gimbal_camera"]) if max(self._outputs) >= 0 else ""
        if self.camera and self.camera not in cameras:
            raise ParameterError(
                f"parameter 'gimbal_camera': '{self.camera}' given; allowed: one of camera_names, {list(cameras)}"
            )
        self._shortest_us, longest_us = pulses
        if longest_us <= self._shortest_us:
            raise ParameterError(f"parameter 'gimbal_pulses': {pulses} given; allowed: the longest pulse last")
        self._range_us = longest_us - self._shortest_us
        ends = [math.radians(angle) for angle in angles]
        self._ranges = list(zip(ends[0::2], ends[1::2], strict=True))

    def turned(self, camera: Camera, pwm_us: Sequence[float]) -> Camera:
        """The camera as the outputs (us) turn it; an output without a pulse keeps the camera's own angle."""
        roll, pitch, yaw = (
            self._angle(pwm_us[output] if output >= 0 else 0.0, ends, own)
            for output, ends, own in zip(self._outputs, self._ranges, camera.angles, strict=True)
        )
        return replace(camera, angles=(roll, pitch, yaw))

    def _angle(self, pulse_us: float, ends: tuple[float, float], own: float) -> float:
        if pulse_us < NO_PULSE_US:
            return own
        share = min(max((pulse_us - self._shortest_us) / self._range_us, 0.0), 1.0)
        return ends[0] + share * (ends[1] - ends[0])
