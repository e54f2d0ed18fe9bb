"""Failures of a vehicle's parts, from a recording."""

from __future__ import annotations

from typing import NamedTuple

from rosflight_py_sim.ground.topic_names import ACTIVE_FAILURES
from rosflight_py_sim.recording.mcap_file import Recording
from rosflight_py_sim.recording.rosout import decoded


class RecordedFailure(NamedTuple):
    """A failure that was active.

    Attributes:
        begin_s: start time, s.
        end_s: end time, s; None if the recording ends earlier.
        node: the node that applied it.
        text: the failure in words.
    """

    begin_s: float
    end_s: float | None
    node: str
    text: str


def failures_of(recording: Recording, namespace: str) -> list[RecordedFailure]:
    """Failures of a vehicle, in the order of their start times.

    Args:
        recording: the recording.
        namespace: namespace of the vehicle, with a leading slash; empty for none.
    """
    topic = recording.named(f"{namespace}/{ACTIVE_FAILURES}")
    if topic is None:
        return []
    ended: list[RecordedFailure] = []
    begins_s: dict[tuple[str, str], float] = {}
    for time_s, message in zip(topic.kept_s.tolist(), decoded(topic), strict=False):
        # "NODE: FAILURE, FAILURE" or "NODE: none"; the text of a failure contains no comma.
        node, _, texts = str(getattr(message, "data", "")).partition(": ")
        active = {(node, text) for text in texts.split(", ") if text and texts != "none"}
        for one in [one for one in begins_s if one[0] == node and one not in active]:
            ended.append(RecordedFailure(begins_s.pop(one), time_s, *one))
        for one in active - begins_s.keys():
            begins_s[one] = time_s
    lasting = [RecordedFailure(begin_s, None, *one) for one, begin_s in begins_s.items()]
    return sorted([*ended, *lasting], key=lambda one: (one.begin_s, one.node, one.text))
