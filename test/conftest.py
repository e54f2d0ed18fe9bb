"""Fixtures for all tests: exclusive ROS domains and ports, and virtual joysticks."""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import gc
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.testing.ros_domains import claimed_domain
from rosflight_py_sim.transmitter.sdl import SdlSession


@pytest.fixture(scope="session")
def claim_domain() -> Callable[[], AbstractContextManager[int]]:
    """`claimed_domain`, for fixtures that need several domains or last longer than a test."""
    return claimed_domain


@pytest.fixture
def auv_ports() -> Iterator[None]:
    """The AUV protocol's own ports, 5555 to 5557, for one test; other tests that need them wait."""
    with (Path(tempfile.gettempdir()) / f"auv-ports-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for port in (5555, 5556, 5557):
            with socket.socket() as probe:
                # As ZeroMQ does: connections of the previous test may still be closing.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    pytest.fail(f"TCP port {port}, which clients of the AUV protocol insist on, is in use: {error}")
        yield


class _Description(ctypes.Structure):
    """SDL_VirtualJoystickDesc of SDL 2."""

    _fields_ = (
        *(
            (name, ctypes.c_uint16)
            for name in ("version", "type", "axes", "buttons", "hats", "vendor", "product", "pad")
        ),
        *((name, ctypes.c_uint32) for name in ("button_mask", "axis_mask")),
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("data", "update", "player", "rumble", "triggers", "led", "effect")),
    )


class VirtualJoystick:
    """A joystick of SDL's virtual driver, which reaches the program like a real one."""

    def __init__(self, sdl: ctypes.CDLL, name: str, axes: int, buttons: int) -> None:
        self._sdl = sdl
        self._description = _Description(version=1, axes=axes, buttons=buttons, name=name.encode())
        self._axes = [0] * axes
        self._buttons = [0] * buttons
        self._open: ctypes.c_void_p | None = None
        self._instance = -1

    def plug_in(self) -> None:
        index = self._sdl.SDL_JoystickAttachVirtualEx(ctypes.byref(self._description))
        assert index >= 0
        self._instance = self._sdl.SDL_JoystickGetDeviceInstanceID(index)
        self._open = ctypes.c_void_p(self._sdl.SDL_JoystickOpen(index))
        for axis, value in enumerate(self._axes):
            self._sdl.SDL_JoystickSetVirtualAxis(self._open, axis, ctypes.c_int16(value))
        for button, pressed in enumerate(self._buttons):
            self._sdl.SDL_JoystickSetVirtualButton(self._open, button, ctypes.c_uint8(pressed))

    def unplug(self) -> None:
        if self._open is None:
            return
        indices = range(self._sdl.SDL_NumJoysticks())
        index = next(i for i in indices if self._sdl.SDL_JoystickGetDeviceInstanceID(i) == self._instance)
        assert self._sdl.SDL_JoystickDetachVirtual(index) == 0
        self._sdl.SDL_JoystickClose(self._open)
        self._open = None

    def axis(self, number: int, position: float) -> None:
        """Move an axis, from -1 to 1."""
        self._axes[number] = round(position * 32767)
        if self._open is not None:
            self._sdl.SDL_JoystickSetVirtualAxis(self._open, number, ctypes.c_int16(self._axes[number]))

    def button(self, number: int, *, pressed: bool) -> None:
        self._buttons[number] = int(pressed)
        if self._open is not None:
            self._sdl.SDL_JoystickSetVirtualButton(self._open, number, ctypes.c_uint8(int(pressed)))


@pytest.fixture
def virtual_joystick() -> Iterator[Callable[..., VirtualJoystick]]:
    """A function (name, axes, buttons) that makes a joystick, not yet plugged in."""
    session = SdlSession(lambda event: None, display=False)
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libSDL2-2" in line}
    sdl = ctypes.CDLL(loaded.pop())
    sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
    made: list[VirtualJoystick] = []

    def make(name: str = "OpenTX RM TX16S Joystick", axes: int = 8, buttons: int = 24) -> VirtualJoystick:
        made.append(VirtualJoystick(sdl, name, axes, buttons))
        return made[-1]

    yield make
    for joystick in made:
        joystick.unplug()
    session.close()


# System time, s, that a test gets after its time limit, to end its processes.
_GRACE_S = 60.0
_stderr = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep all nodes of the tests, and those of processes that they start, on this machine; restore SIGINT."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    stay_on_this_machine()
    # A shell's background jobs ignore SIGINT, and so would the programs that the tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Descriptor 2 as it is now: pytest redirects it while a test runs.
    config.stash[_stderr] = os.dup(2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Scheduler of `--dist loadfile`; without pytest-xdist, this hook does not exist."""
    from crash_safe_scheduling import CrashSafeScheduling

    return CrashSafeScheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Print all stacks and end the process of a test that its time limit did not end.

    The limit is a signal, whose handler waits for the interpreter, and Fast DDS can lock up inside a call. The test
    then counts as failed: pytest-xdist starts another process for the remaining tests.
    """
    marker = item.get_closest_marker("timeout")
    limit = float(marker.args[0] if marker else item.config.getini("timeout"))
    end, file = time.monotonic() + limit + _GRACE_S, item.config.stash[_stderr]

    def arm() -> None:
        faulthandler.dump_traceback_later(max(1.0, end - time.monotonic()), exit=True, file=file)

    cancel = faulthandler.cancel_dump_traceback_later
    with pytest.MonkeyPatch.context() as patch:
        # A process has one such timer. A graph that closes uses it, and gives it back to the test.
        patch.setattr(faulthandler, "cancel_dump_traceback_later", arm)
        arm()
        try:
            return (yield)
        finally:
            cancel()


# Folders whose tests take longest, in the order in which they start.
_LONGEST = ("processes", "sweep", "graph", "fidelity", "docs", "bridge")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that all workers are busy until the end.

    Before them come the tests with two participants in this process: after some hundred graphs in one process, a second
    participant of that process is no longer discovered.
    """

    def rank(item: pytest.Item) -> int:
        if item.path.name == "test_hand_off.py":
            return -1
        folder = item.path.parent.name
        return _LONGEST.index(folder) if folder in _LONGEST else len(_LONGEST)

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Exclude pytest's own objects from garbage collection, which each test of a graph runs."""
    gc.collect()
    gc.freeze()
