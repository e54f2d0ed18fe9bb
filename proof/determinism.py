"""Proof that the same seed gives the same flight: hashes of every topic of runs in fresh processes.

    python -m proof.determinism [--short]

Each vehicle flies ten simulated minutes twice, in two processes at the same time. One vehicle then flies the beginning
of its mission under conditions that must not change it: recorder, page, subscriber, real time, a loaded machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.free_ports import free_ports
from proof.outside_subscriber import OUTSIDE_SUBSCRIBER, outside_subscriber
from proof.results import Row, publish
from proof.separate_processes import compare_with_separate_processes
from proof.topic_digests import Digests, differing
from rosflight_py_sim.ground.process_environment import stay_on_this_machine

TITLE = "Determinism"

SECONDS = 600.0
"""Simulated duration of a run; vehicles that land repeat their missions."""

VARIANT_S = 20.0
"""Simulated duration of a run under other conditions: calibration, take-off and the first leg of the mission."""

_TIMEOUT_S = 1800.0

# ROS domains of two runs at the same time, apart from the domains of the tests and of the other proofs.
_DOMAINS = (186, 187)

_CHROMIUM = Path("/usr/bin/chromium")

# Processes per core that keep the machine busy.
_LOAD = 6

NOTES = (
    "The hash of a topic covers all its messages in the order of publication, without the padding bytes of their "
    "serialized form, whose values ROS leaves undefined. Every run in this table therefore has a tap on each "
    "publisher; a run without taps cannot be hashed.",
    "Not hashed, because they carry system time: `/diagnostics` (rates and durations in system time, published once "
    "per second of system time), `/rosout` (stamped with system time) and `/parameter_events` (stamped with system "
    "time until the node follows /clock).",
    "Not promised: missions that a client program flies through a socket, such as the dive and the skywriting. The "
    "program's messages arrive in system time. `auv_zeromq.wait_for_clients` makes the simulation wait for each "
    "thruster message, but the first telemetry message that a client receives depends on when the client connects. "
    "Images and telemetry have separate connections, so an image may arrive before or after the telemetry of the same "
    "time. With ArduPilot, each step waits for ArduPilot's frame, but ArduPilot itself is not repeatable.",
    "In separate processes, no node waits for stick frames, `status` or battery samples: they may arrive some steps "
    "late, and those of the first steps may be missed while nodes start. `battery`, which the flight controller "
    "filters, then differs from its first message on. Service calls and commands take effect when they arrive, so a "
    "flight in separate processes is not repeatable.",
    "Not proven: other processors, and other versions of numpy, numba and the compiler. Compare only runs of the same "
    "installation on the same type of processor.",
)


@dataclass(frozen=True)
class Run:
    """Result of one run.

    Attributes:
        end_s: simulated time at its end, s.
        digests: of all topics.
    """

    end_s: float
    digests: Digests

    @property
    def messages(self) -> int:
        """Number of messages."""
        return sum(count for count, _ in self.digests.values())

    def without(self, prefix: str) -> Run:
        """The run without the topics that begin with `prefix`."""
        return Run(self.end_s, {topic: one for topic, one in self.digests.items() if not topic.startswith(prefix)})


@dataclass(frozen=True)
class Case:
    """A vehicle with a flight controller.

    Attributes:
        name: in the table.
        arguments: of proof.hashed_run, without the duration.
        ports: number of ports that the arguments need; each `{}` in them is replaced by a port number.
    """

    name: str
    arguments: tuple[str, ...]
    ports: int = 0

    def flown(self, *options: str, seconds: float, domain: int | None = None) -> Run:
        """Fly in a fresh process, in a ROS domain (default: that of the environment)."""
        ports = iter(free_ports(self.ports))
        vehicle, *rest = [one.format(next(ports)) if "{}" in one else one for one in self.arguments]
        return _run([vehicle, str(seconds), *rest, *options], domain)


MULTIROTOR = Case("multirotor, ROSflight", ("multirotor",))

CASES = (
    MULTIROTOR,
    Case("hexarotor, ROSflight", ("hexarotor",)),
    Case("octorotor, ROSflight", ("octorotor",)),
    Case("anaconda, ROSflight", ("anaconda",)),
    Case("aerosonde, ROSflight", ("aerosonde",)),
    Case("Cessna 172P of JSBSim, ROSflight", ("fixedwing", "--dynamics", "jsbsim")),
    Case("swarm (four multirotors), ROSflight", ("swarm", "--scenario")),
    # One image a second, because images take most of the time.
    Case("auv, auv_autopilot, both cameras", ("auv", "--flight-controller", "auv_controller", "-p", "frame_rate:=1.0")),
    Case("bluerov2, auv_autopilot", ("bluerov2", "--flight-controller", "auv_controller")),
    Case(
        "uthere, ROSflight with the bridge, no client",
        ("uthere", "--flight-controller", "uthere", "-p", "uthere.udp_port_in:={}", "-p", "uthere.udp_port_out:={}"),
        ports=2,
    ),
)


def _run(words: Sequence[str], domain: int | None) -> Run:
    command = [sys.executable, "-m", "proof.hashed_run", *words]
    environment = dict(os.environ) if domain is None else {**os.environ, "ROS_DOMAIN_ID": str(domain)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=_TIMEOUT_S, check=True, env=environment)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["failures"]:
        raise RuntimeError(f"{' '.join(command)}: {found['failures'][0]}")
    return Run(found["end_s"], {topic: (count, digest) for topic, (count, digest) in found["digests"].items()})


def equality(what: str, promise: str, one: Run, other: Run, circumstances: str = "") -> Row:
    """Row for two runs that must be equal."""
    different = differing(one.digests, other.digests)
    text = f"{len(one.digests)} topics, {one.messages:,} messages, {one.end_s:g} s"
    if one.end_s != other.end_s:
        text += f"; the other run ended at {other.end_s:g} s"
    text += f"; different: {', '.join(different)}" if different else "; all equal"
    return Row(what, promise, text + (f"; {circumstances}" if circumstances else ""), not different)


def repeated(case: Case, seconds: float, domains: Sequence[int]) -> Row:
    """Fly twice, at the same time in two ROS domains."""
    with ThreadPoolExecutor(len(domains)) as pool:
        one, other = pool.map(lambda domain: case.flown(seconds=seconds, domain=domain), domains)
    return equality(case.name, "two runs in fresh processes are equal", one, other)


Variant = Callable[[Case, float, Path], "tuple[Run, str]"]


def with_recorder(case: Case, seconds: float, folder: Path) -> tuple[Run, str]:
    """A recorded run, and the size of the recording."""
    file = folder / "recorded.mcap"
    run = case.flown("--record", str(file), seconds=seconds)
    return run, f"recording of {file.stat().st_size / 1e6:.1f} MB"


def with_page(case: Case, seconds: float, folder: Path) -> tuple[Run, str]:
    """A run with the page, open in a browser if one is installed."""
    (port,) = free_ports(1)
    with _browser(port, folder) as text:
        # Slow enough for the browser to show the flight.
        run = case.flown("--view-port", str(port), "--pace", "2", seconds=seconds)
    return run.without("/view/"), text


def with_outside_subscriber(case: Case, seconds: float, _: Path) -> tuple[Run, str]:
    """A run with a process that subscribes to every topic."""
    with outside_subscriber() as subscriber:
        run = case.flown("--await", OUTSIDE_SUBSCRIBER, seconds=seconds)
    received = subscriber.received
    count = sum(one.count for one in received.values())
    if not count:
        raise RuntimeError("the subscriber in another process received no message")
    return run, f"the subscriber received {count:,} messages on {len(received)} topics"


def in_real_time(case: Case, seconds: float, _: Path) -> tuple[Run, str]:
    """A run at the speed of real time."""
    return case.flown("--pace", "1", seconds=seconds), ""


def under_load(case: Case, seconds: float, _: Path) -> tuple[Run, str]:
    """A run on a busy machine."""
    count = _LOAD * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        run = case.flown(seconds=seconds)
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()
    return run, f"{count} busy processes"


VARIANTS: dict[str, Variant] = {
    "with the recorder": with_recorder,
    "with the page open": with_page,
    "with a subscriber to every topic in another process": with_outside_subscriber,
    "in real time": in_real_time,
    "under load": under_load,
}


def varied(case: Case, variants: dict[str, Variant], seconds: float, folder: Path) -> Iterator[Row]:
    """Fly the beginning of a mission under each condition, and compare with a plain run."""
    plain = case.flown(seconds=seconds)
    for name, variant in variants.items():
        run, text = variant(case, seconds, folder)
        yield equality(f"{case.name}, {name}", "equal to a plain run at full speed", plain, run, text)
    other = case.flown("--seed", "8", seconds=seconds)
    different = differing(plain.digests, other.digests)
    measured = f"{len(different)} of {len(plain.digests)} topics differ"
    yield Row(f"{case.name}, another seed", "a different flight", measured, "/sim/truth_state" in different)


@contextlib.contextmanager
def _browser(port: int, folder: Path) -> Iterator[str]:
    """A browser that opens the page as soon as it is served."""
    if not _CHROMIUM.exists():
        yield "page served; no browser is installed on this machine"
        return
    opener = subprocess.Popen([sys.executable, "-m", "proof.determinism", "--open", str(port), str(folder)])
    try:
        yield "page open in Chromium"
    finally:
        opener.terminate()
        opener.wait()


def _open_page(port: int, folder: str) -> None:
    """Wait for the page, then replace this process by a browser that shows it."""
    url = f"http://127.0.0.1:{port}"
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1.0):
            break
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0")
    os.execv(_CHROMIUM, [str(_CHROMIUM), *flags, f"--user-data-dir={folder}/browser", url])  # noqa: S606 (no shell is needed)


def main() -> None:
    """Run the proof."""
    parser = argparse.ArgumentParser(description="measure whether the same seed gives the same flight")
    parser.add_argument("--short", action="store_true", help="a few simulated seconds of one vehicle")
    parser.add_argument("--open", nargs=2, metavar=("PORT", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        _open_page(int(options.open[0]), options.open[1])
    os.environ["ROS_DOMAIN_ID"] = str(_DOMAINS[0])
    stay_on_this_machine()
    rows = _rows(CASES[:1], 4.0, 4.0, _DOMAINS) if options.short else _rows(CASES, SECONDS, VARIANT_S, _DOMAINS)
    sys.exit(publish("determinism", TITLE, rows, NOTES))


def _rows(cases: Sequence[Case], seconds: float, variant_s: float, domains: Sequence[int]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        for case in cases:
            yield repeated(case, seconds, domains)
        yield from varied(MULTIROTOR, VARIANTS, variant_s, Path(name))
        yield from compare_with_separate_processes("multirotor", variant_s, Path(name))


if __name__ == "__main__":
    main()
