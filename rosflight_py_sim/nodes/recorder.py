"""Records every topic of the graph in an MCAP file."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from rosflight_py_sim import __version__
from rosflight_py_sim.ground.new_files import names
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable
from rosflight_py_sim.ground.stamps import EPOCH
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.hand_off_ends import Listener
from rosflight_py_sim.interfaces.message_definitions import (
    is_stamped,
    message_class,
    message_definition,
    type_name_of,
)
from rosflight_py_sim.interfaces.message_queue import MessageQueue
from rosflight_py_sim.interfaces.offered_qos import offered_qos
from rosflight_py_sim.interfaces.outside_inputs import OUTSIDE_INPUTS, OutsideInput
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.vehicle_physics import PHYSICS, physics_of_vehicle
from rosflight_py_sim.recording.mcap_file import RUN
from rosflight_py_sim.recording.pipe_messages import Channel
from rosflight_py_sim.recording.writer_process import (
    ChannelInput,
    FileTakenError,
    Outcome,
    RecordingError,
    WriterProcess,
)
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import CLOCK
from rosflight_py_sim.viewer.appearance import APPEARANCE
from rosflight_py_sim.world import WORLD

RECORDER_PARAMETERS = ParameterTable(
    Parameter(
        "record.file",
        "",
        "File to write, which must not exist yet; if empty, a new file in the folder flights, named by vehicle and "
        "time",
        read_only=True,
    ),
    Parameter(
        "record.raw_images",
        True,
        "Also record the raw images of cameras that publish compressed images",
        read_only=True,
    ),
    Parameter("record.vehicle", "", "Name of the vehicle type, or path of its vehicle file", read_only=True),
    VEHICLES,
    APPEARANCE,
    WORLD,
)

# Interval at which messages are fetched and sent in batches: some dozens of steps at full speed.
_BATCH_S = 0.02

# Interval of the check for new topics.
_CHECK_S = 0.2

# Time limit for the clock, which is recorded first because the times of all messages refer to it.
_CLOCK_TIMEOUT_S = 2.0

# Queue size of a subscription: enough for a process that is briefly without processor time.
_DEPTH = 1000

_IMAGE, _COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


class Recorder(SimulationNode):
    """Writes the serialised messages of every topic to a file.

    Publishers of the same process pass their messages directly (`tap`); the recorder subscribes to other topics as soon
    as they appear, and fetches their messages in batches.

    Attributes:
        path: the file.
        lost: number of messages lost in transport, by topic.
        outcome: result of the recording; None during the recording.
    """

    DEFAULT_NAME = "recorder"
    ONLY_OBSERVES = True
    PARAMETERS = RECORDER_PARAMETERS
    VEHICLE_PARAMETERS = ParameterTable(APPEARANCE, RECORDER_PARAMETERS["record.vehicle"], PHYSICS)

    def __init__(self, **arguments: Any) -> None:
        """Create the file.

        Raises:
            ParameterError: the file cannot be written.
        """
        super().__init__(**arguments)
        vehicle = str(self.values["record.vehicle"])
        named = str(self.values["record.file"])
        self.lost: Counter[str] = Counter()
        self.outcome: Outcome | None = None
        self._error_logged = False
        self._own_publishers: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._subscribed: dict[str, MessageQueue] = {}
        # Topics with a publisher of incompatible QoS, and functions that subscribe again.
        self._refused: dict[str, Callable[[], None]] = {}
        namespaces = _full_namespaces(self.get_namespace(), self._vehicles)
        first, *others = (self._facts_of(one) for one in self._vehicles)
        facts = {
            "version": __version__,
            "epoch_ns": str(EPOCH.ns),
            **first,
            "world": str(self.values["world"]),
            "namespaces": json.dumps(namespaces),
            "others": json.dumps({name: one for name, one in zip(namespaces[1:], others, strict=True) if one != first}),
        }
        simulated = bool(self.get_parameter("use_sim_time").value)
        self._clock_due_s = time.monotonic() + _CLOCK_TIMEOUT_S if simulated else 0.0
        paths = [Path(named)] if named else names(Path("flights"), Path(vehicle).stem or "recording", ".mcap")
        try:
            self.path, self._writer = _writer_of(paths, simulated=simulated, facts=facts)
        except RecordingError as error:
            super().destroy_node()
            raise ParameterError(f"parameter 'record.file': {error}") from error
        self.get_logger().info(f"recording to {self.path}")
        self.create_system_timer(_BATCH_S, self._flush)
        self.create_system_timer(_CHECK_S, self.discover_topics)
        self.discover_topics()

    @property
    def _vehicles(self) -> list[str]:
        return vehicle_namespaces(self.values["vehicles"])

    def _facts_of(self, vehicle: str) -> dict[str, str]:
        """Facts about a vehicle, by which the replay draws it."""
        values = values_of_vehicle(self.values, vehicle)
        appearance = str(values["appearance"])
        physics = physics_of_vehicle(self.values, self.sources, appearance, self.get_namespace(), vehicle)
        return {
            "vehicle": str(values["record.vehicle"]),
            "appearance": appearance,
            "physics": json.dumps(physics),
        }

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        """State of the recording."""
        lost = sum(self.lost.values())
        values = {
            "file": self.path,
            "messages lost": lost if self._counts_losses() else "not counted by this release of rclpy",
            "topics": len(self._seen | {*self._own_publishers}),
        }
        if self._writer.error:
            yield Diagnosis("", f"the recording has ended: {self._writer.error}", Level.ERROR, values=values)
        elif lost:
            yield Diagnosis("", f"{lost} messages lost", Level.WARN, values=values)
        else:
            yield Diagnosis("", "recording", values=values)

    def _counts_losses(self) -> bool:
        return all(queue.counts for queue in self._subscribed.values())

    def tap(self, topic: str, message_type: Any, qos: QoSProfile) -> Listener | None:
        """Listener that records the messages of a publisher of this process; None if the topic is not recorded.

        Args:
            topic: full name of the topic.
            message_type: ROS message type.
            qos: QoS that the publisher offers.
        """
        if self._is_excluded(topic, type_name_of(message_type)):
            return None
        self._own_publishers[topic] += 1
        # The ROS graph already lists the publisher, with its type hash.
        type_hash = str(self.get_publishers_info_by_topic(topic)[0].topic_type_hash)
        channel = self._channel(topic, type_name_of(message_type), offered_qos([qos]), type_hash)
        return Listener(channel, channel.link)

    def describe_run(self, run: Mapping[str, str]) -> None:
        """Add metadata about the run, with which it can be repeated."""
        self._writer.add_metadata(RUN, run)

    def outside_input_note(self) -> Callable[[OutsideInput], None]:
        """Function that records the inputs from outside."""
        take = self._channel(OUTSIDE_INPUTS, type_name_of(String), offered_qos([QoSProfile(depth=_DEPTH)]))
        return lambda one: take(serialize_message(String(data=one.text)))

    def complete(self) -> None:
        """Record the messages that have arrived, and complete the file; may be called again."""
        if self.outcome is None:
            self._fetch()
            self.outcome = self._writer.close()
            self._log_error()
            self.get_logger().info(f"{self.path}: {self.outcome.text}")

    def destroy_node(self) -> None:
        """Also complete the file."""
        self.complete()
        super().destroy_node()

    def _channel(
        self, topic: str, type_name: str, qos: str, type_hash: str = "", *, echo: bool = False
    ) -> ChannelInput:
        definition = message_definition(type_name)
        stamped = is_stamped(message_class(type_name))
        return self._writer.channel(Channel(topic, type_name, definition, type_hash, qos, stamped, echo))

    def _fetch(self) -> None:
        """Record the messages that have arrived, in the order of their arrival."""
        arrived = [(at_ns, data, queue) for queue in self._subscribed.values() for at_ns, data in queue.take()]
        arrived.sort(key=itemgetter(0))
        for at_ns, data, queue in arrived:
            queue.subscription.callback(data, at_ns)
        for topic, queue in self._subscribed.items():
            if queue.lost and not self.lost[topic]:
                self.get_logger().warning(f"messages of {topic} arrive too fast to be recorded; some are lost")
            if queue.lost:
                self.lost[topic] += queue.lost
                queue.lost = 0

    def _flush(self) -> None:
        self._fetch()
        self._writer.flush()
        self._log_error()

    def _log_error(self) -> None:
        if self._writer.error and not self._error_logged:
            self._error_logged = True
            self.get_logger().error(f"the recording {self.path} ends here: {self._writer.error}")

    def discover_topics(self) -> None:
        """Subscribe to new topics, and again to topics with a publisher of incompatible QoS."""
        if self._refused:
            # Destroying a subscription would drop its pending messages.
            self._fetch()
        while self._refused:
            topic, subscribe = self._refused.popitem()
            self.destroy_subscription(self._subscribed.pop(topic).subscription)
            subscribe()
        topics = {topic: types[0] for topic, types in self.get_topic_names_and_types() if len(types) == 1}
        if not self._own_publishers and time.monotonic() < self._clock_due_s:
            topics = {topic: type_name for topic, type_name in topics.items() if topic == CLOCK.name}
        for topic, type_name in topics.items():
            if topic in self._seen or self.count_publishers(topic) <= self._own_publishers[topic]:
                continue
            self._seen.add(topic)
            if not self._is_excluded(topic, type_name):
                self._record_topic(topic, type_name)

    def _is_excluded(self, topic: str, type_name: str) -> bool:
        """Whether a topic has uncompressed images that are already recorded compressed."""
        if self.values["record.raw_images"] or type_name != _IMAGE:
            return False
        return (f"{topic}/compressed", [_COMPRESSED]) in self.get_topic_names_and_types()

    def _record_topic(self, topic: str, type_name: str) -> None:
        publishers = self.get_publishers_info_by_topic(topic)
        try:
            message_type = message_class(type_name)
            type_hash = str(publishers[0].topic_type_hash) if publishers else ""
            qos = offered_qos([one.qos_profile for one in publishers])
            take = self._channel(topic, type_name, qos, type_hash, echo=self._own_publishers[topic] > 0)
        except ImportError as error:
            self.get_logger().warning(f"{topic} is not recorded: {error}")
            return

        def on_clock(message: bytes, time_ns: int | None = None) -> None:
            self._clock_due_s = 0.0
            take(message, time_ns)

        def on_refusal(_: object) -> None:
            self._refused[topic] = subscribe

        def subscribe() -> None:
            subscription = self.create_subscription(
                message_type,
                topic,
                on_clock if topic == CLOCK.name else take,
                _fitting_qos([one.qos_profile for one in self.get_publishers_info_by_topic(topic)]),
                raw=True,
                event_callbacks=SubscriptionEventCallbacks(incompatible_qos=on_refusal, use_default_callbacks=False),
            )
            self._subscribed[topic] = MessageQueue(self, subscription)

        subscribe()


def _writer_of(paths: Iterable[Path], *, simulated: bool, facts: Mapping[str, str]) -> tuple[Path, WriterProcess]:
    """The first path at which there is no file yet, and the process that writes it.

    Raises:
        RecordingError: as of `WriterProcess`.
    """
    taken = RecordingError("")
    for path in paths:
        try:
            absolute = path.absolute()
        except FileNotFoundError as error:
            raise RecordingError(f"cannot write '{path}': the working folder does not exist any more") from error
        try:
            return path, WriterProcess(absolute, simulated=simulated, facts=facts)
        except FileTakenError as error:
            taken = error
    raise taken


def _full_namespaces(own: str, vehicles: Sequence[str]) -> list[str]:
    return [absolute_name(own, vehicle).rstrip("/") for vehicle in vehicles]


def _fitting_qos(offers: list[QoSProfile]) -> QoSProfile:
    """The strictest QoS that all publishers offer."""
    reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    lasting = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return QoSProfile(
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if lasting else DurabilityPolicy.VOLATILE,
    )
