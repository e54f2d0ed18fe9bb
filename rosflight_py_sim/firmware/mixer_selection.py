"""Mixer selection: the mixing matrix in force, and the check whether it can fly the vehicle.

Matrices are stored only in the parameters PRI_MIXER_i_j and SEC_MIXER_i_j: choosing a ready-made mixer writes it there,
as in ROSflight, and so does mirroring the primary mixer if there is no secondary one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.firmware.canned_mixers import Mixer, MixerChoice, canned_mixer
from rosflight_py_sim.firmware.command import ATTITUDE_OVERRIDDEN, FX, MUXED, QX, QY, QZ, THROTTLE_OVERRIDDEN
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.firmware.quirks import REPAIRED, Quirks
from rosflight_py_sim.firmware.state_machine import Log, Severity

CHOICE_PARAMETERS = frozenset(["PRIMARY_MIXER", "SECONDARY_MIXER", "USE_MOTOR_PARAM", "RC_F_AXIS", "FIXED_WING"])
"""Parameters whose change requires a call of `install`."""

ELEMENT_PREFIXES = ("PRI_MIXER_", "SEC_MIXER_")
"""Parameters whose change requires a call of `element_changed`."""

_AXIS_NAMES = ("Fx", "Fy", "Fz", "Qx", "Qy", "Qz")
_PRIMARY, _SECONDARY = "PRI_MIXER", "SEC_MIXER"
_FIXED_WINGS = (MixerChoice.FIXED_WING, MixerChoice.INVERTED_V_TAIL)


class MixerSelection:
    """Primary mixer (pilot), secondary mixer (companion computer), and their combination.

    `matrix` is the (10, 10) matrix in force, `types` the (14,) output types, `fault` the reason why a mixer cannot be
    used, empty if both can.
    """

    def __init__(
        self, parameters: FirmwareParameters, log: Log, types: NDArray[np.float64], quirks: Quirks = REPAIRED
    ) -> None:
        self.matrix: NDArray[np.float64] = np.zeros((MIXER_ROWS, MIXER_OUTPUTS))
        self.types = types
        self.fault = ""
        self._parameters = parameters
        self._log = log
        self._quirks = quirks
        self._override = ATTITUDE_OVERRIDDEN | THROTTLE_OVERRIDDEN
        self._installing = False
        self.install()

    def install(self) -> None:
        """Write the selected mixers to the parameters and the matrices in force."""
        parameters = self._parameters
        primary = MixerChoice(int(parameters["PRIMARY_MIXER"]))
        secondary = MixerChoice(int(parameters["SECONDARY_MIXER"]))
        self._installing = True
        try:
            if primary not in (MixerChoice.NONE, MixerChoice.CUSTOM):
                mixer = canned_mixer(primary)
                _store_header(parameters, mixer)
                _store_matrix(parameters, _PRIMARY, self._sign(primary) * mixer.matrix)
                self._warn_of_odd_choice(primary)
            if secondary is MixerChoice.NONE:
                _store_matrix(parameters, _SECONDARY, _stored_matrix(parameters, _PRIMARY))
            elif secondary is not MixerChoice.CUSTOM:
                matrix = canned_mixer(secondary).matrix
                if self._quirks.inverted_secondary_mixer and secondary in _FIXED_WINGS:
                    matrix = np.linalg.pinv(matrix).T.astype(np.float64)
                _store_matrix(parameters, _SECONDARY, self._sign(secondary) * matrix)
        finally:
            self._installing = False
        self._read()

    def _sign(self, choice: MixerChoice) -> float:
        return -1.0 if self._quirks.reversed_esc_calibration and choice is MixerChoice.ESC_CALIBRATION else 1.0

    def element_changed(self) -> None:
        """Update matrices and output types from parameters that were set."""
        if self._installing:
            return
        if self._parameters["SECONDARY_MIXER"] == MixerChoice.NONE:
            self._installing = True
            try:
                _store_matrix(self._parameters, _SECONDARY, _stored_matrix(self._parameters, _PRIMARY))
            finally:
                self._installing = False
        self._read()

    def select(self, override: int) -> None:
        """Combine rows of the primary (pilot, by `rc_override`) and the secondary matrix."""
        if override == self._override:
            return
        self._override = override
        self._combine()

    def _combine(self) -> None:
        override = self._override
        torques = self._primary if override & ATTITUDE_OVERRIDDEN else self._secondary
        forces = self._primary if override & THROTTLE_OVERRIDDEN else self._secondary
        self.matrix[:QX] = forces[:QX]
        self.matrix[QX:MUXED] = torques[QX:MUXED]
        self.matrix[MUXED:] = self._primary[MUXED:]

    def _read(self) -> None:
        # The whole matrix, because loading a file sets all values before the first notification.
        self._primary = _stored_matrix(self._parameters, _PRIMARY)
        self._secondary = _stored_matrix(self._parameters, _SECONDARY)
        self.types[:MIXER_OUTPUTS] = [float(self._parameters[f"PRI_MIXER_OUT_{i}"]) for i in range(MIXER_OUTPUTS)]
        self._check()
        self._combine()

    def _check(self) -> None:
        parameters = self._parameters
        self.fault = ""
        if parameters["PRIMARY_MIXER"] == MixerChoice.NONE:
            self.fault = "PRIMARY_MIXER is not set"
            return
        if self._quirks.any_custom_mixer:
            return
        axis, fixed_wing = int(parameters["RC_F_AXIS"]), bool(parameters["FIXED_WING"])
        for name, matrix in (("PRIMARY_MIXER", self._primary), ("SECONDARY_MIXER", self._secondary)):
            if parameters[name] == MixerChoice.CUSTOM:
                rows = _without_rank(matrix.tobytes(), self.types.tobytes(), axis, fixed_wing)
                if rows:
                    axes = ", ".join(_AXIS_NAMES[row] for row in rows)
                    self.fault = f"the custom {name} cannot command {axes} independently"
                    return

    def _warn_of_odd_choice(self, choice: MixerChoice) -> None:
        if choice in _FIXED_WINGS:
            if self._parameters["RC_F_AXIS"] != FX:
                self._log(Severity.WARNING, f"mixer {choice.name} has its throttle on Fx, but RC_F_AXIS is not 0")
        elif self._parameters["USE_MOTOR_PARAM"]:
            self._log(Severity.WARNING, f"mixer {choice.name} outputs throttles, but USE_MOTOR_PARAM is 1")


@lru_cache(maxsize=64)
def _without_rank(matrix: bytes, types: bytes, throttle_axis: int, fixed_wing: bool) -> Sequence[int]:
    """As `commanded_axes_without_rank`, given the memory of the arrays: vehicles of many flights have equal mixers."""
    elements = np.frombuffer(matrix).reshape(MIXER_ROWS, MIXER_OUTPUTS)
    return commanded_axes_without_rank(elements, np.frombuffer(types), throttle_axis, fixed_wing)


def commanded_axes_without_rank(
    matrix: NDArray[np.float64], types: NDArray[np.float64], throttle_axis: int, fixed_wing: bool
) -> Sequence[int]:
    """Rows that a mixer cannot command independently; empty for a mixer that can fly.

    A multirotor needs thrust and three torques. A fixed wing needs thrust and may lack torques (a flying wing has no
    rudder), but its torques must be independent.
    """
    mixed = matrix[:, (types[:MIXER_OUTPUTS] == OutputType.SERVO) | (types[:MIXER_OUTPUTS] == OutputType.MOTOR)]
    rows = [throttle_axis, QX, QY, QZ]
    if fixed_wing:
        rows = [row for row in rows if row == throttle_axis or np.any(mixed[row] != 0.0)]
    chosen = mixed[rows]
    norms = np.linalg.norm(chosen, axis=1)
    if np.any(norms == 0.0):
        return [row for row, norm in zip(rows, norms, strict=True) if norm == 0.0]
    # Rows differ by orders of magnitude (N against N m), so the rank is that of the directions.
    rank = np.linalg.matrix_rank(chosen / norms[:, None], tol=1e-6)
    return [] if rank == len(rows) else rows


@cache
def _elements(prefix: str) -> Sequence[str]:
    """Names of the elements of a matrix, row by row."""
    return [f"{prefix}_{i}_{j}" for i in range(MIXER_ROWS) for j in range(MIXER_OUTPUTS)]


def _stored_matrix(parameters: FirmwareParameters, prefix: str) -> NDArray[np.float64]:
    elements = [float(parameters[name]) for name in _elements(prefix)]
    return np.array(elements).reshape(MIXER_ROWS, MIXER_OUTPUTS)


def _store_matrix(parameters: FirmwareParameters, prefix: str, matrix: NDArray[np.float64]) -> None:
    parameters.restore(dict(zip(_elements(prefix), matrix.ravel().tolist(), strict=True)))


def _store_header(parameters: FirmwareParameters, mixer: Mixer) -> None:
    values: dict[str, int | float] = {f"PRI_MIXER_OUT_{i}": int(kind) for i, kind in enumerate(mixer.types)}
    values.update({f"PRI_MIXER_PWM_{i}": rate for i, rate in enumerate(mixer.rates)})
    parameters.restore(values)
