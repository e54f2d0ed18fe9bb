"""Ctrl-C and SIGTERM at some of the moments that `make faults` measures: exit code, output, orphans."""

from __future__ import annotations

import signal

import pytest

from proof.interruptions import COMMANDS, Interrupted, interrupt_at

pytestmark = pytest.mark.timeout(300)

MOMENTS_S = (0.0, 0.7, 2.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [one for one in COMMANDS if not one.beside], ids=lambda one: one.name)
def test_signal_at_any_moment_ends_command_without_orphan_or_traceback(
    ros_domain: int, command: Interrupted, number: signal.Signals
) -> None:
    endings = interrupt_at(command, MOMENTS_S, number, ros_domain)
    assert endings.are_clean, endings
