"""External inputs are noted, and repeated in the same order at the same positions."""

from __future__ import annotations

import pytest

from rosflight_py_sim.interfaces.outside_inputs import OutsideInput, OutsideInputs


def test_inputs_are_noted_with_their_position_and_restored_from_text() -> None:
    outside = OutsideInputs()
    noted: list[OutsideInput] = []
    outside.note = noted.append
    ends = [outside.add_end("topic", "/command", "/sil_board", lambda _: None) for _ in range(2)]
    assert ends == ["topic /command of /sil_board", "topic /command of /sil_board (2)"]
    assert outside.admits(ends[1], lambda: b"\1\2", marks=7, idle=True, time_ns=5)
    assert noted == [OutsideInput(ends[1], "0102", 7, True, 5)]
    assert OutsideInput.of_text(noted[0].text) == noted[0]
    with pytest.raises(ValueError):
        OutsideInput.of_text('{"end": "x"}')


def test_recorded_inputs_are_repeated_when_due_and_others_ignored() -> None:
    outside = OutsideInputs()
    received: list[bytes] = []
    end = outside.add_end("service", "/toggle_arm", "/rc", received.append)
    outside.repeat(
        [
            OutsideInput(end, "01", 3, False, 0),
            OutsideInput(end, "02", 3, True, 0),
            OutsideInput("service /gone of /rc", "03", 4, False, 0),
            OutsideInput(end, "04", 5, True, 0),
        ],
        paced=True,
    )
    assert not outside.admits(end, lambda: b"", marks=0, idle=True, time_ns=0)
    assert outside.next_marks == 3
    assert not outside.act(marks=0, idle=True)
    assert outside.act(marks=3, idle=False)
    # The next input is due while the graph is idle.
    assert received == [b"\1"] and outside.next_marks > 3
    assert not outside.act(marks=3, idle=False)
    assert outside.act(marks=3, idle=True)
    assert received == [b"\1", b"\2"] and outside.next_marks == 4
    assert outside.act(marks=6, idle=False)
    assert received == [b"\1", b"\2", b"\4"]
