"""Subscribe to every topic from a separate process until SIGTERM or SIGINT; then print a summary.

    python -m proof.outside_subscriber [SECONDS]

The program prints "ready" when it has started, and also ends at a truth state of SECONDS. The summary is JSON: for each
topic, the number of messages and, if they have stamps, a hash of the first message of each stamp.
"""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rclpy.node import Node
from rclpy.qos import QoSProfile

from rosflight_py_sim.ground.process_environment import stay_on_this_machine
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.canonical_messages import canonical_form
from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class
from rosflight_py_sim.nodes.running import deferred_signals, initialise, make_executor
from rosflight_py_sim.step.topics import TRUTH_STATE

OUTSIDE_SUBSCRIBER = "outside_subscriber"
"""Name of the node."""

# Interval of the search for new topics, s.
_SEARCH_S = 0.2

# Deep enough for a process that gets no processor time for a moment.
_QOS = QoSProfile(depth=1000)


@dataclass
class Received:
    """Messages received on a topic: their number, and a hash of the first of each stamp (ns)."""

    count: int = 0
    hashes: dict[int, str] = field(default_factory=dict)


class OutsideSubscriber:
    """Process of the subscriber.

    Attributes:
        received: by topic; empty until the process has ended.
    """

    def __init__(
        self, until_s: float = math.inf, start: Callable[..., subprocess.Popen[str]] = subprocess.Popen
    ) -> None:
        """Start the process, which also ends when simulated time reaches `until_s`."""
        command = [sys.executable, "-m", __name__, str(until_s)]
        self.received: dict[str, Received] = {}
        self._printed = ""
        self._process = start(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def wait(self, timeout_s: float) -> None:
        """Wait until simulated time reaches the end.

        Raises:
            subprocess.TimeoutExpired: it has not reached the end in time.
        """
        self._printed, _ = self._process.communicate(timeout=timeout_s)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        printed = self._printed or self._process.communicate()[0]
        for topic, (count, hashes) in json.loads(printed).items():
            if count:
                self.received[topic] = Received(count, {int(stamp): one for stamp, one in hashes.items()})


@contextmanager
def outside_subscriber(
    until_s: float = math.inf, start: Callable[..., subprocess.Popen[str]] = subprocess.Popen
) -> Iterator[OutsideSubscriber]:
    """A subscriber that ends with the context; `start` starts its process."""
    subscriber = OutsideSubscriber(until_s, start)
    try:
        yield subscriber
    finally:
        subscriber.close()


def message_hash(canonical: bytes) -> str:
    """Short hash of a message in its canonical form."""
    return hashlib.sha256(canonical).hexdigest()[:16]


def main() -> None:
    """Run the program."""
    stay_on_this_machine()
    until_ns = float(sys.argv[1]) * NANOSECONDS if len(sys.argv) > 1 else math.inf
    truth = f"/{TRUTH_STATE.name}"
    with deferred_signals() as signals:
        initialise([])
        node = Node(OUTSIDE_SUBSCRIBER)
        received: dict[str, Received] = {}
        firsts: dict[str, dict[int, bytes]] = {}
        types: dict[str, str] = {}

        def subscribe(topic: str, type_name: str) -> None:
            types[topic] = type_name
            one, first = received.setdefault(topic, Received()), firsts.setdefault(topic, {})
            stamped = is_stamped(message_class(type_name))

            def take(message: bytes) -> None:
                one.count += 1
                if stamped:
                    first.setdefault(stamp_ns(message), message)

            node.create_subscription(message_class(type_name), topic, take, _QOS, raw=True)

        def search() -> None:
            for topic, kinds in node.get_topic_names_and_types():
                if topic not in received:
                    subscribe(topic, kinds[0])

        node.create_timer(_SEARCH_S, search)
        executor = make_executor()
        executor.add_node(node)
        print("ready", flush=True)
        while not signals and next(reversed(firsts.get(truth, {0: b""})), 0) < until_ns:
            executor.spin_once(timeout_sec=_SEARCH_S)
    for topic, messages in firsts.items():
        convert = canonical_form(types[topic])
        received[topic].hashes = {stamp: message_hash(convert(message)) for stamp, message in messages.items()}
    print(json.dumps({topic: (one.count, one.hashes) for topic, one in received.items()}), flush=True)


if __name__ == "__main__":
    main()
