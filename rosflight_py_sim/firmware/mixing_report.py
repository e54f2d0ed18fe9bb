"""Text report of the mixing matrices for a terminal."""

from __future__ import annotations

from rosflight_py_sim.firmware.canned_mixers import MixerChoice
from rosflight_py_sim.firmware.mixer import OutputType
from rosflight_py_sim.firmware.parameter_table import MIXER_OUTPUTS, MIXER_ROWS
from rosflight_py_sim.firmware.parameters import FirmwareParameters

_ROWS = ("Fx", "Fy", "Fz", "Qx", "Qy", "Qz")


def mixing_report(parameters: FirmwareParameters) -> str:
    """Output types, then the primary and the secondary matrix; outputs that neither uses are omitted."""
    kinds = [OutputType(int(parameters[f"PRI_MIXER_OUT_{j}"])) for j in range(MIXER_OUTPUTS)]
    outputs = [j for j, kind in enumerate(kinds) if kind is not OutputType.AUX]
    lines = [_line("output", [str(j) for j in outputs]), _line("type", [kinds[j].name.lower() for j in outputs])]
    for title, choice, prefix in (
        ("primary, for the pilot", "PRIMARY_MIXER", "PRI_MIXER"),
        ("secondary, for the companion computer", "SECONDARY_MIXER", "SEC_MIXER"),
    ):
        chosen = MixerChoice(int(parameters[choice]))
        name = chosen.name.lower()
        if chosen is MixerChoice.NONE and prefix == "SEC_MIXER":
            name = "none, same as primary"
        lines.append(f"{title}: {choice} {chosen.value} ({name})")
        for i in range(MIXER_ROWS):
            row = [float(parameters[f"{prefix}_{i}_{j}"]) for j in outputs]
            if i < len(_ROWS) or any(row):
                axis = _ROWS[i] if i < len(_ROWS) else f"spare {i}"
                lines.append(_line(axis, [f"{value:.5g}" for value in row]))
    return "\n".join(lines)


def _line(name: str, cells: list[str]) -> str:
    return f"{name:>8} " + " ".join(f"{cell:>11}" for cell in cells)
