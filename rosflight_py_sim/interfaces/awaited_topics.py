"""Topics of nodes outside of the step, for whose messages a time manager waits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.validate_topic_name import validate_topic_name

from rosflight_py_sim.ground.parameters import Parameter, ParameterError
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.ground.stamps import NANOSECONDS, stamp_ns
from rosflight_py_sim.interfaces.message_definitions import is_stamped, message_class
from rosflight_py_sim.step.diagnosis import Diagnosis, Level

if TYPE_CHECKING:
    from rosflight_py_sim.interfaces.stepping_time_manager import SteppingTimeManager

WAIT_FOR = Parameter(
    "wait_for",
    [],
    "Topics of nodes outside of the step: time advances only when their messages for the present time have arrived. "
    "'TOPIC' has a message in each step, 'TOPIC at RATE Hz' one in each period; ' within TIME s' sets the system time "
    "(default 60 s) after which the simulation continues without the message",
    element=str,
    read_only=True,
)

_ENTRY = re.compile(r"(?P<topic>\S+)(?: at (?P<rate>\S+) Hz)?(?: within (?P<within>\S+) s)?")

_WITHIN_S = 60.0

# Period at which to look for publishers, and for messages that are overdue, s of system time.
_CHECK_S = 0.05

# System time without a message after which a warning names it, s.
_WARNED_S = 2.0

# System time without a message after which the time is repeated, s.
_REPEAT_S = 0.25

# A stamp further ahead than this is of another clock: no node of the graph is more than a step ahead.
_AHEAD_NS = round(STEP_SIZE.maximum * NANOSECONDS)

DELIVERY_S = 1.0
"""Longest time until a message that one subscription of the process has received reaches another one, s."""

_NEVER_NS = -(1 << 62)

# Messages of the publisher that may wait for the executor.
_DEPTH = 100


class AwaitedTopic:
    """A topic with a message in each step or period.

    Attributes:
        name: name of the topic.
        period_ns: time between two messages, ns; 0: a message in each step.
        within_s: system time after which to continue without a message, s.
        newest_ns: time for which the newest message counts, ns.
        has_arrived: whether any message has arrived.
        is_given_up: whether the simulation continues without messages until the next one.
        obstacle: why there is no subscription; empty once there is one.
        waited_s: system time for which the simulation has waited since the last report, s.
        newest: newest message.
        full_name: name of the topic with its namespace; empty while there is no subscription.
    """

    def __init__(self, name: str, period_ns: int, within_s: float) -> None:
        """Store the attributes."""
        self.name, self.period_ns, self.within_s = name, period_ns, within_s
        self.newest_ns = _NEVER_NS
        self.has_arrived = self.is_given_up = False
        self.obstacle = "it has no publisher"
        self.waited_s = 0.0
        self.newest, self.full_name = b"", ""
        self._newest_s = 0.0

    def is_missing(self, time_ns: int) -> bool:
        """Whether time must not advance beyond this time yet."""
        if self.is_given_up:
            return False
        if self.obstacle:
            return True
        return self.newest_ns < time_ns if self.period_ns == 0 else time_ns - self.newest_ns >= self.period_ns

    @property
    def is_in_delivery(self) -> bool:
        """Whether other subscriptions may not have received the newest message yet."""
        return time.monotonic() - self._newest_s < DELIVERY_S

    def take(self, message: bytes, stamp: int | None, time_ns: int) -> None:
        """Note a message that arrives at `time_ns`; `stamp` is None if its type has no stamp.

        A message without a stamp, or stamped by another clock, counts for the time at which it arrives.
        """
        self.newest, self._newest_s = message, time.monotonic()
        if not stamp or stamp > time_ns + _AHEAD_NS:
            stamp = time_ns
        self.newest_ns = max(self.newest_ns, stamp)
        self.has_arrived, self.is_given_up = True, False


def awaited_topics(entries: Sequence[str]) -> list[AwaitedTopic]:
    """Topics of the parameter `wait_for`.

    Raises:
        ParameterError: an entry is not allowed.
    """
    return [_awaited(entry) for entry in entries]


def _awaited(entry: str) -> AwaitedTopic:
    match = _ENTRY.fullmatch(entry)
    try:
        if match is None:
            raise ValueError
        validate_topic_name(match["topic"])
        rate, within = (None if match[name] is None else float(match[name]) for name in ("rate", "within"))
    except (ValueError, InvalidTopicNameException) as error:
        reason = f" ({error.args[0]})" if isinstance(error, InvalidTopicNameException) else ""
        raise ParameterError(
            f"parameter '{WAIT_FOR.name}': '{entry}' given{reason}; allowed: TOPIC or 'TOPIC at RATE Hz', each also "
            "with ' within TIME s' after it"
        ) from error
    for value, text, greatest in ((rate, "a rate in Hz", 1e4), (within, "a time in s", 1e9)):
        if value is not None and not 1e-2 <= value <= greatest:
            raise ParameterError(
                f"parameter '{WAIT_FOR.name}': '{entry}' given; allowed: {text} from 0.01 to {greatest:g}"
            )
    period_ns = 0 if rate is None else round(NANOSECONDS / rate)
    return AwaitedTopic(match["topic"], period_ns, _WITHIN_S if within is None else within)


class AwaitedTopics:
    """Holds the end of a step until the awaited messages have arrived.

    The subscriptions are not inputs of the simulation: they determine when a step begins, but not what happens in it.

    Attributes:
        topics: the topics.
        is_held: whether the end of the present step is held.
    """

    def __init__(self, manager: SteppingTimeManager, topics: Sequence[AwaitedTopic]) -> None:
        """Wait for the topics, and call the manager's `complete_step` at the end of each wait."""
        self.topics = topics
        self._manager = manager
        self._held_s: float | None = None
        self._repeated_s = 0.0

    def begin(self) -> None:
        """Begin to look for publishers."""
        if self.topics:
            self._manager.create_system_timer(_CHECK_S, self._check)

    @property
    def is_held(self) -> bool:
        """Whether the end of the present step is held."""
        return self._held_s is not None

    def hold(self) -> bool:
        """Whether to hold the end of the step; the manager's `complete_step` is called again at the end of the wait."""
        if not self.topics or self._manager.time_ns < 0 or self._is_repeating:
            return False
        is_in_delivery = not (missing := self._missing()) and self._is_in_delivery()
        if not missing and not is_in_delivery:
            return False
        if self._held_s is None:
            self._held_s = self._repeated_s = time.monotonic()
            if is_in_delivery:
                self._manager.executor.create_task(self._release)
        return True

    @property
    def _is_repeating(self) -> bool:
        """Whether recorded inputs replace those from outside."""
        hand_off = self._manager.hand_off
        return hand_off is not None and hand_off.outside.is_repeating

    def _missing(self) -> list[AwaitedTopic]:
        time_ns = self._manager.time_ns
        return [topic for topic in self.topics if topic.is_missing(time_ns)]

    def _is_in_delivery(self) -> bool:
        """Whether another subscription of the process has yet to receive a message that has arrived here.

        The middleware notifies the subscriptions one after the other, in an undefined order, and the executor may run
        in between.
        """
        hand_off = self._manager.hand_off
        return hand_off is not None and any(
            one.is_in_delivery and not hand_off.has_taken(one.full_name, one.newest) for one in self.topics
        )

    def _check(self) -> None:
        for topic in self.topics:
            if topic.obstacle:
                self._subscribe(topic)
        if self._held_s is None:
            return
        now_s = time.monotonic()
        for topic in self._missing():
            if now_s - self._held_s > topic.within_s:
                topic.is_given_up = True
                reason = f" ({topic.obstacle})" if topic.obstacle else ""
                self._manager.get_logger().warning(
                    f"no {topic.name} within {topic.within_s:g} s at {self._manager.time_text}{reason}: the simulation "
                    "continues without it until its next message"
                )
        missing = self._missing()
        if not missing:
            self._release()
            return
        if now_s - self._held_s > _WARNED_S:
            self._manager.warn_of_missing(self._wait_text(missing))
        if now_s - self._repeated_s > _REPEAT_S:
            self._repeated_s = now_s
            # A node that has answered before may be slow, and would count a repeated state as a new one.
            if all(topic.has_arrived for topic in missing):
                self._manager.publish_time()
            else:
                self._manager.repeat_time()

    def _subscribe(self, topic: AwaitedTopic) -> None:
        """Subscribe to a topic if it has a publisher."""
        publishers = self._manager.get_publishers_info_by_topic(topic.name)
        if not publishers:
            return
        try:
            kind = message_class(publishers[0].topic_type)
        except ImportError:
            topic.obstacle = f"its type {publishers[0].topic_type} is not installed here"
            return
        qos = QoSProfile(
            depth=_DEPTH,
            reliability=publishers[0].qos_profile.reliability,
            durability=DurabilityPolicy.VOLATILE,
        )
        # Not by the class of the time manager, which would record the messages as inputs of the simulation.
        taker = self._taker(topic, is_stamped(kind))
        topic.full_name = Node.create_subscription(self._manager, kind, topic.name, taker, qos, raw=True).topic_name
        topic.obstacle = ""
        if topic.period_ns:
            # The node sends its first message up to a period after its start.
            topic.newest_ns = max(self._manager.time_ns, 0)

    def _taker(self, topic: AwaitedTopic, has_stamp: bool) -> Callable[[bytes], None]:
        def take(data: bytes) -> None:
            if not topic.has_arrived and self._manager.hand_off is not None:
                # The receiver of the message must not take it later than a receiver of the next ones.
                self._manager.hand_off.check_all()
            is_awaited = self._held_s is not None and topic.is_missing(self._manager.time_ns)
            topic.take(data, stamp_ns(data) if has_stamp else None, self._manager.time_ns)
            if is_awaited and self._held_s is not None:
                topic.waited_s += time.monotonic() - self._held_s
                self._manager.executor.create_task(self._release)

        return take

    def _release(self) -> None:
        """End the wait if no message is missing, once those that have arrived are delivered."""
        if self._held_s is None or self._missing():
            return
        if self._is_in_delivery():
            self._manager.executor.create_task(self._release)
            return
        self._held_s = None
        self._manager.end_of_missing()
        if self._manager.hand_off is None:
            self._manager.complete_step()
        else:
            self._manager.hand_off.run(self._manager.complete_step)

    def diagnoses(self) -> Iterable[Diagnosis]:
        """Times waited, and what the simulation waits for at present."""
        for topic in self.topics:
            yield Diagnosis("", "", values={f"waited for {topic.name} (s)": topic.waited_s})
            topic.waited_s = 0.0
            if topic.is_given_up:
                yield Diagnosis("", f"continues without {topic.name}", Level.WARN)
        if self._held_s is not None and time.monotonic() - self._held_s > _REPEAT_S:
            yield Diagnosis("", self._wait_text(self._missing()), Level.WARN)

    def _wait_text(self, missing: Iterable[AwaitedTopic]) -> str:
        names = (f"{topic.name} ({topic.obstacle})" if topic.obstacle else topic.name for topic in missing)
        return f"waiting for {', '.join(names)} at {self._manager.time_text}"
