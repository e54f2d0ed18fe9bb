"""Vibration of the airframe at the frequencies of its rotors and their harmonics.

An unbalanced rotor of speed w moves a free airframe by an amplitude that does not depend on w: with the rotor's mass m
and the eccentricity e of its centre of mass, the vehicle's mass M, its moment of inertia J and the rotor's distance r
from the centre of mass, the displacement is m e / M and the angle m e r / J (law of motion of a free rigid body). The
acceleration is w^2 times the one, the angular rate w times the other. Harmonics, from the blades above all, have a
given share of the first. Each rotor, harmonic and axis has a phase of its own, drawn once; the amplitudes are the same
for all, because bending of the airframe couples the axes.

The phase of a rotor is the integral of its true speed, and the vibration is evaluated at the time of the sample. A
harmonic above half the sample rate therefore appears at its alias.

The default amplitudes are estimates, for four rotors of 50 g at 0.25 m on a vehicle of 3.5 kg and 0.1 kg m^2, which
turn with 500 rad/s and are balanced to grade G 16 of ISO 21940-11 (w e = 16 mm/s). At that speed each rotor contributes
0.12 m/s^2 and 0.002 rad/s, and all of them about ROSflight's white noise of 0.2 m/s^2 and 0.00226 rad/s again.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.kernels.jit import kernel

HARMONICS = 4

PARAMETERS = ParameterTable(
    Parameter(
        "vibration_displacement",
        5e-7,
        "Amplitude of the IMU's displacement due to the imbalance of one rotor, on each axis",
        "m",
        minimum=0.0,
        maximum=1e-3,
    ),
    Parameter(
        "vibration_angle",
        4e-6,
        "Amplitude of the IMU's rotation due to the imbalance of one rotor, on each axis",
        "rad",
        minimum=0.0,
        maximum=1e-2,
    ),
    Parameter(
        "vibration_harmonics",
        [1.0, 0.5, 0.2, 0.1],
        "Acceleration and angular rate at the first four harmonics of the rotor speed, relative to the first",
        minimum=0.0,
        maximum=100.0,
        length=HARMONICS,
    ),
)


class Vibration:
    """Amplitudes and phases of the vibration.

    Attributes:
        waves: amplitudes of cosine and sine, for a speed of 1 rad/s (OUTPUTS, HARMONICS, 6, 2): three axes of
            acceleration (m), three of angular rate (rad).
        phases: angle of each rotor, rad (OUTPUTS,).
    """

    def __init__(self, values: Values, rng: np.random.Generator) -> None:
        self._angles = rng.uniform(0.0, 2.0 * math.pi, (OUTPUTS, HARMONICS, 6))
        self._amplitudes = np.outer(
            np.array(cast("list[float]", values["vibration_harmonics"])),
            np.repeat([number(values, "vibration_displacement"), number(values, "vibration_angle")], 3),
        )
        self.phases: NDArray[np.float64] = np.zeros(OUTPUTS)
        self.waves: NDArray[np.float64] = np.zeros((OUTPUTS, HARMONICS, 6, 2))
        self._fill_waves()

    def adopt(self, other: Vibration) -> None:
        """Copy the phases of another vibration."""
        self._angles[:] = other._angles
        self.phases[:] = other.phases
        self._fill_waves()

    def _fill_waves(self) -> None:
        self.waves[..., 0] = self._amplitudes * np.cos(self._angles)
        self.waves[..., 1] = self._amplitudes * np.sin(self._angles)


@kernel
def vibrate(
    speeds: NDArray[np.float64],
    dt: float,
    waves: NDArray[np.float64],
    phases: NDArray[np.float64],
    shake: NDArray[np.float64],
) -> None:
    """Advance the phases by dt (s) and write acceleration (m/s^2) and angular rate (rad/s) into `shake` (6,).

    `speeds` (n,) are the rotors' speeds, rad/s; `waves` and `phases` are those of `Vibration`.
    """
    for axis in range(6):
        shake[axis] = 0.0
    for rotor in range(len(speeds)):
        speed = speeds[rotor]
        if speed == 0.0:
            continue
        phase = phases[rotor] + speed * dt
        phase -= 2.0 * math.pi * math.floor(phase / (2.0 * math.pi))
        phases[rotor] = phase
        first_cosine, first_sine = math.cos(phase), math.sin(phase)
        cosine, sine = first_cosine, first_sine
        for harmonic in range(HARMONICS):
            for axis in range(3):
                wave = waves[rotor, harmonic, axis, 0] * cosine + waves[rotor, harmonic, axis, 1] * sine
                turn = waves[rotor, harmonic, axis + 3, 0] * cosine + waves[rotor, harmonic, axis + 3, 1] * sine
                shake[axis] += speed * speed * wave
                shake[axis + 3] += speed * turn
            cosine, sine = first_cosine * cosine - first_sine * sine, first_sine * cosine + first_cosine * sine
