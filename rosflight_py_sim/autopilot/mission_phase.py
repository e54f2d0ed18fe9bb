"""Base class of mission phases, and what their labels mean."""

from __future__ import annotations

import enum

ROLL_OUT_LABEL = "roll out"
"""Label of the phase in which a fixed wing that has touched down comes to a stop."""

LANDING_LABELS = ("land", ROLL_OUT_LABEL)
"""Labels of phases from which a mission ends on the ground; the pilot then disarms the vehicle."""


def is_under_way(label: str) -> bool:
    """Whether a mission in the phase with this label has begun and is not done; the label is empty if unknown."""
    return label not in ("", "wait", "done")


def has_landed(before: str, label: str) -> bool:
    """Whether a mission that goes from one phase to the next, given by their labels, has ended on the ground."""
    return label == "done" and before in LANDING_LABELS


class MissionPhase(enum.IntEnum):
    """Phase of a mission; its number is used in the flight log.

    Numbers increase in the order of the mission, from the wait before the start (0) to the end, named DONE.
    """

    @property
    def label(self) -> str:
        """Description of the phase."""
        return self.name.lower().replace("_", " ")

    @property
    def on_path(self) -> bool:
        """Whether the vehicle follows its planned path in this phase."""
        raise NotImplementedError
