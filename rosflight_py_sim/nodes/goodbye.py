"""A limit to how long a process takes to leave.

Fast DDS 3.2 may lock up for good while a participant is destroyed at the moment at which it hears that somebody else is
leaving, as all nodes do on Ctrl-C: one node in some hundred. The thread that is stuck holds Python's interpreter lock,
so no Python can end it; a timer of the C library can.
"""

from __future__ import annotations

import ctypes
import time

# What the C library declares in <signal.h> and <time.h> on Linux.
_SIGEV_THREAD = 2


class _SigEvent(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("padding", ctypes.c_char * 32),
    ]


class _TimeSpec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


class _TimerSpec(ctypes.Structure):
    _fields_ = [("interval", _TimeSpec), ("value", _TimeSpec)]


def leave_within(seconds: int) -> None:
    """End the process with exit code 0 when it is still there in so many seconds.

    Raises:
        OSError: the system gives no timer.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    # The timer calls _exit with the event's value: 0.
    leave = ctypes.cast(libc._exit, ctypes.c_void_p).value
    event = _SigEvent(value=0, notify=_SIGEV_THREAD, function=leave)
    timer = ctypes.c_void_p()
    if libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) != 0:
        raise OSError(ctypes.get_errno(), "timer_create")
    once = _TimerSpec(value=_TimeSpec(seconds=seconds))
    if libc.timer_settime(timer, 0, ctypes.byref(once), None) != 0:
        raise OSError(ctypes.get_errno(), "timer_settime")
