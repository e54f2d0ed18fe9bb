"""Two network namespaces joined by a cable, in place of two machines.

A namespace has its own interfaces, loopback, shared memory, host name and machine id, so programs in two of them reach
each other only through the cable, as on two machines. What they share is the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]

# Addresses that RFC 5737 reserves for documentation.
_ADDRESSES = ("192.0.2.1", "192.0.2.2")
_INTERFACE = "cable"

DOMAIN = 7
"""ROS domain of both machines; no other program is in their networks."""

# Time limit of a program of the system, s.
_LIMIT_S = 60.0

# Variables by which a process of this package has limited itself to its own machine.
_OWN = (
    "ROS_STATIC_PEERS",
    "ROSFLIGHT_PY_SIM_ADDRESS",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
)

_SPACES = ("--net", "--mount", "--uts", "--ipc")

# Without a machine id and shared memory of its own, Fast DDS would take both for one machine.
_MACHINE = """set -e
hostname machine-{number}
if [ -e /etc/machine-id ]; then mount --bind {file} /etc/machine-id; fi
mount -t tmpfs none /dev/shm
ip link set lo up
echo ready
exec cat
"""


class NotAllowedError(RuntimeError):
    """Error for a system on which the machines cannot be made; the text has the reason."""


@dataclass(frozen=True)
class Machine:
    """One of the two.

    Attributes:
        address: of its end of the cable.
        peer: address of the other end.
        holder: id of the process that keeps its namespaces.
    """

    address: str
    peer: str
    holder: int

    def start(self, words: Sequence[str], *, is_alone: bool = False, **options: Any) -> subprocess.Popen[Any]:
        """Start a program in the project's folder.

        It can reach the nodes on the other machine or, if `is_alone`, only those on its own.
        """
        environment = {name: value for name, value in os.environ.items() if name not in _OWN}
        environment |= {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(DOMAIN)}
        environment |= {"PYTHONPATH": str(PROJECT)} | ({} if is_alone else {"ROS_STATIC_PEERS": self.peer})
        return subprocess.Popen([*self._enter, *words], env=environment, **options)

    def run(self, *words: str) -> str:
        """Run a program of the system, and return its output.

        Raises:
            NotAllowedError: it failed; the text is its output.
        """
        try:
            done = subprocess.run([*self._enter, *words], capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        except FileNotFoundError as error:
            raise NotAllowedError(f"there is no program {error.filename}") from None
        if done.returncode:
            raise NotAllowedError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    @property
    def _enter(self) -> tuple[str, ...]:
        """Words before a command that run it on this machine, as the process that they start."""
        return (
            "nsenter",
            f"--target={self.holder}",
            f"--wd={PROJECT}",
            *_SPACES,
            *_as_user("--preserve-credentials"),
            "--",
        )


class Cable:
    """The cable between the machines."""

    def __init__(self, ends: tuple[Machine, Machine]) -> None:
        self._ends = ends

    def plug(self) -> None:
        """Plug both ends in, and wait until both machines have noticed it, which may take Linux a second."""
        for end in self._ends:
            end.run("ip", "link", "set", _INTERFACE, "up")
        end_s = time.monotonic() + _LIMIT_S
        while not all(_has_link(end) for end in self._ends):
            if time.monotonic() > end_s:
                raise NotAllowedError("the cable has no link")
            time.sleep(0.05)

    def unplug(self) -> None:
        """Unplug it at the second machine: no packet arrives any more, in either direction.

        The first machine keeps its address and routes, as with a cable that has been pulled out.
        """
        self._ends[1].run("ip", "link", "set", _INTERFACE, "down")


def _has_link(end: Machine) -> bool:
    (shown,) = json.loads(end.run("ip", "-json", "link", "show", _INTERFACE))
    # A TAP interface has no state of its own.
    return shown["operstate"] in ("UP", "UNKNOWN")


@contextmanager
def two_machines(delay_ms: float = 0.0) -> Iterator[tuple[Machine, Machine, Cable]]:
    """Two machines with a cable between them, which delays each packet, until the context ends.

    Raises:
        NotAllowedError: this system does not allow it.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        holders: list[int] = []
        for number in (1, 2):
            file = Path(folder, str(number))
            file.write_text(f"{number:032x}\n", encoding="ascii")
            # The second machine belongs to the user namespace of the first.
            words = _nested(holders[0], *_as_user("--preserve-credentials")) if holders else []
            words += ["unshare", *_SPACES, *([] if holders else _as_user("--map-root-user"))]
            words += ["sh", "-c", _MACHINE.format(number=number, file=file)]
            holders.append(stack.enter_context(_ready(words)))
        one, two = (
            Machine(*addresses, holder)
            for addresses, holder in zip((_ADDRESSES, _ADDRESSES[::-1]), holders, strict=True)
        )
        if delay_ms:
            spaces = [f"/proc/{holder}/ns/net" for holder in holders]
            words = [sys.executable, "-m", "benchmarks.delayed_cable", _INTERFACE, *spaces, str(delay_ms)]
            stack.enter_context(_ready(_nested(holders[0], *_as_user("--preserve-credentials")) + words))
        else:
            peer = ("peer", "name", _INTERFACE, "netns", str(two.holder))
            one.run("ip", "link", "add", _INTERFACE, "type", "veth", *peer)
        for machine in (one, two):
            machine.run("ip", "address", "add", f"{machine.address}/24", "dev", _INTERFACE)
        cable = Cable((one, two))
        cable.plug()
        yield one, two, cable


def _as_user(option: str) -> tuple[str, ...]:
    """Options for users other than root, who need a user namespace, in which they are root."""
    return () if os.geteuid() == 0 else ("--user", option)


def _nested(holder: int, *options: str) -> list[str]:
    """Words before a command that run it in the user namespace of a machine, if it has one."""
    return ["nsenter", f"--target={holder}", *options, "--"] if options else []


@contextmanager
def _ready(words: Sequence[str]) -> Iterator[int]:
    """Id of a program that has printed "ready", until the context ends; the program ends with its standard input."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(words, text=True, cwd=PROJECT, stdin=pipe, stdout=pipe, stderr=pipe)
    except FileNotFoundError as error:
        raise NotAllowedError(f"there is no program {error.filename}") from None
    with process:
        assert process.stdout is not None and process.stderr is not None
        try:
            if process.stdout.readline() != "ready\n":
                raise NotAllowedError(process.stderr.read().strip() or f"{words[0]} ended with code {process.wait()}")
            yield process.pid
        finally:
            process.kill()
