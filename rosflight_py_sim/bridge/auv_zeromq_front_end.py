"""Front-end for the AUV protocol over ZeroMQ: receives thruster commands, publishes telemetry and images."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from rosflight_py_sim.bridge.front_end_interface import ActuatorFrontEnd, Logger, Snapshot
from rosflight_py_sim.bridge.output_map import OutputMap
from rosflight_py_sim.bridge.rare_warnings import RareWarnings
from rosflight_py_sim.bridge.zeromq_sockets import Publisher, ZeroMqSockets
from rosflight_py_sim.failures.failure import DOWNLINK, UPLINK
from rosflight_py_sim.failures.packet_link import PacketLink
from rosflight_py_sim.failures.schedule import Signals
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import CENTRE_US, HIGH_US, LOW_US, OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.protocols.auv_zeromq import (
    COMMAND_LENGTH,
    FULL_POWER,
    LARGEST_ID,
    Images,
    TelemetryError,
    clamped,
    decode_thrusters,
    encode_images,
    encode_telemetry,
    telemetry,
    wrong_length,
)

_US_OF_PERCENT = 5

THRUSTERS = ("left", "right", "side", "vertical")

# Messages queued per subscriber and AUV; beyond this number messages are dropped, so that memory stays bounded.
_IMAGES_HELD = 4
_TELEMETRY_HELD = 60

# Simulated time without an image after which the missing camera is logged.
_IMAGE_TIMEOUT_NS = 3 * NANOSECONDS


class _Envelope(NamedTuple):
    """Properties of a multipart message other than its bytes."""

    counter: str
    publisher: Publisher
    lengths: Sequence[int]


@dataclass
class _Auv:
    """One AUV: its thruster powers, and the data last sent."""

    auv_id: int
    outputs: OutputMap
    us_of_percent: tuple[int, ...]
    z_up: bool
    rate_hz: float
    pwm_us: list[int] = field(default_factory=list)
    powers: list[int] = field(default_factory=lambda: [0] * len(THRUSTERS))
    tick: int = -1
    began_ns: int = -1
    front: bytes | None = None
    bottom: bytes | None = None
    has_image_client: bool = False
    reported_missing_images: bool = False
    awaited: bool = False
    commander: str = ""
    uplink: PacketLink[None] = field(default_factory=lambda: PacketLink(UPLINK))
    downlink: PacketLink[_Envelope] = field(default_factory=lambda: PacketLink(DOWNLINK))

    def tick_of(self, time_ns: int) -> int:
        """Number of the telemetry message of this time."""
        return int(time_ns * self.rate_hz // NANOSECONDS)


class AuvZeromqFrontEnd(ActuatorFrontEnd):
    """Serves all AUVs of the simulation on one set of sockets; waits for clients only with `wait_for_clients`.

    Thrusters keep their power until the next command, so clients may be slow or absent. The telemetry rate is in
    simulated time, so that the motion of an AUV between two messages does not depend on the speed of the simulation. An
    image message is sent when both cameras have a new image, so the cameras set its rate. Without a subscriber to its
    images, an AUV's cameras render none.
    """

    COUNTERS: ClassVar[tuple[str, ...]] = (
        "commands",
        "out_of_range",
        "wrong_length",
        "unknown_id",
        "refused_commands",
        "multipart",
        "refused_connections",
        "telemetry_messages",
        "image_messages",
        "unsent_telemetry",
    )

    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        Parameter(
            "auv_zeromq.address",
            "127.0.0.1",
            "Local address to serve AUV clients on; 0.0.0.0: all addresses",
            read_only=True,
        ),
        *(
            Parameter(f"auv_zeromq.{name}_port", port, f"TCP port of {text}", minimum=1, maximum=65535, read_only=True)
            for name, port, text in (
                ("image", 5555, "the images (PUB)"),
                ("thruster", 5556, "the thruster commands (PULL)"),
                ("telemetry", 5557, "the telemetry (PUB)"),
            )
        ),
        Parameter(
            "auv_zeromq.id",
            0,
            "Id of the first AUV that clients command; the others have the ids after it, then the observed vehicles, "
            "unless they have ids of their own",
            minimum=0,
            maximum=LARGEST_ID,
            read_only=True,
        ),
        Parameter(
            "auv_zeromq.telemetry_rate",
            60.0,
            "Telemetry messages per AUV and second of simulated time; at most one per step",
            "Hz",
            minimum=0.01,
            maximum=1e3,
            read_only=True,
        ),
        Parameter(
            "auv_zeromq.wait_for_clients",
            False,
            "Whether the simulation pauses after each telemetry message until a thruster message arrives",
            read_only=True,
        ),
        Parameter(
            "auv_zeromq.side_positive",
            "right",
            "Direction in which positive power of the side thruster pushes the AUV",
            choices=("right", "left"),
            read_only=True,
        ),
        Parameter(
            "auv_zeromq.z_axis",
            "up",
            "Direction of the telemetry's z axis; z is 0 at the surface in either case",
            choices=("up", "down"),
            read_only=True,
        ),
        Parameter(
            "auv_zeromq.outputs",
            list(THRUSTERS),
            "Input of each output: a sum of powers limited to full power, such as 'left' (the left thruster's power), "
            "'-left' (reversed), '0.5*left-side', or empty text (no thruster: 1500 us)",
            read_only=True,
        ),
    )

    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        PARAMETERS["auv_zeromq.id"],
        PARAMETERS["auv_zeromq.telemetry_rate"],
        PARAMETERS["auv_zeromq.side_positive"],
        PARAMETERS["auv_zeromq.z_axis"],
        PARAMETERS["auv_zeromq.outputs"],
    )

    def __init__(
        self,
        values: Values,
        logger: Logger,
        vehicles: Sequence[str],
        observed: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Store the parameters; `open` opens the sockets.

        Raises:
            ParameterError: outputs that are not sums of powers, more AUVs than ids, or two AUVs with one id.
        """
        super().__init__(values, logger, vehicles, observed)
        # The IMU message of a time arrives after the images of that time.
        self.required_fields = frozenset({"imu", "images"})
        self._waits = bool(values["auv_zeromq.wait_for_clients"])
        self._address = str(values["auv_zeromq.address"])
        self._auvs = [
            _auv(own, observed.get(index, "")) for index, own in enumerate(self.numbered_values("auv_zeromq.id"))
        ]
        self._by_id = {auv.auv_id: auv for auv in self._auvs}
        self._warn = RareWarnings(logger)
        self._sockets: ZeroMqSockets | None = None
        self._time_ns = -1

    @classmethod
    def link_obstacle(cls, values: Values) -> str:
        """The link cannot fail if steps wait for commands: simulated time stands still until one arrives."""
        if values["auv_zeromq.wait_for_clients"]:
            return (
                "with auv_zeromq.wait_for_clients the simulation waits for its clients, so it would stop with the link"
            )
        return ""

    def fail(self, vehicle: int, signals: Signals) -> None:
        """Apply failures to the messages with the AUV's id."""
        auv = self._auvs[vehicle]
        auv.uplink.fail([signals])
        auv.downlink.fail([signals])

    def peer(self, vehicle: int) -> str:
        """Address and ports for clients of the AUV."""
        ports = "/".join(str(self._port(name)) for name in ("image", "thruster", "telemetry"))
        return f"clients of AUV {self._auvs[vehicle].auv_id} on TCP {self._address}:{ports}"

    def filenos(self) -> list[int]:
        """Descriptors of the sockets if the front-end waits for thruster messages; otherwise empty."""
        return self._sockets.filenos() if self._waits and self._sockets is not None else []

    def needs_images(self, vehicle: int) -> bool:
        """Whether a client is subscribed to the AUV's images, as of the last telemetry."""
        return self._auvs[vehicle].has_image_client

    def open(self) -> None:
        """Bind the three sockets."""
        self._sockets = ZeroMqSockets("auv_zeromq", self.values, lambda text: self._count("refused_connections", text))
        try:
            self._images = self._sockets.publisher("image", _IMAGES_HELD * len(self._auvs))
            self._thrusters = self._sockets.puller("thruster")
            self._telemetry = self._sockets.publisher("telemetry", _TELEMETRY_HELD * len(self._auvs))
        except ParameterError:
            self.close()
            raise

    def announcement(self) -> str:
        """Address and ports for clients, and whether the simulation waits for them."""
        ids = sorted(self._by_id)
        auvs = f"AUV {ids[0]}" if len(ids) == 1 else f"AUVs {ids[0]} to {ids[-1]}"
        ports = ", ".join(
            f"{text} on port {self._port(name)}"
            for name, text in (("image", "images"), ("thruster", "thruster commands"), ("telemetry", "telemetry"))
        )
        waits = "waits for a client at each telemetry message" if self._waits else "does not wait for clients"
        return f"{auvs} on tcp://{self._address}: {ports}; the simulation {waits} (auv_zeromq.wait_for_clients)"

    def close(self) -> None:
        """Close the sockets."""
        if self._sockets is not None:
            self._sockets.close()
            self._sockets = None

    def serve(self) -> None:
        """Read the sockets, also while the simulation is paused; an awaited command only in `exchange`."""
        if self._waits:
            self._serve_publishers()
        else:
            self._take_commands()

    def exchange(self, vehicle: int, snapshot: Snapshot) -> list[int] | None:
        """Process received thruster commands, send telemetry and images, and return the outputs."""
        auv = self._auvs[vehicle]
        self._take_commands_before(snapshot.time_ns)
        if not auv.awaited:
            auv.awaited = self._send(auv, snapshot) and self._waits
        # Until none is left: the file descriptors do not signal messages that have been received but not processed.
        while auv.awaited and self._take_commands():
            pass
        return None if auv.awaited else auv.pwm_us

    def is_due(self, vehicle: int, time_ns: int) -> bool:
        """Whether telemetry is due, or a client awaits images."""
        auv = self._auvs[vehicle]
        return auv.has_image_client or auv.tick_of(time_ns) != auv.tick

    def observe(self, vehicle: int, snapshot: Snapshot) -> None:
        """Send telemetry and images; `serve` refuses thruster commands."""
        self._send(self._auvs[vehicle], snapshot)

    def _take_commands_before(self, time_ns: int) -> None:
        """Take commands once for all vehicles, so that commands sent together take effect in the same step."""
        if time_ns != self._time_ns:
            self._time_ns = time_ns
            self._take_commands()
            for auv in self._auvs:
                self._pass_on(auv)

    def _send(self, auv: _Auv, snapshot: Snapshot) -> bool:
        """Send images and telemetry that are due; return whether telemetry was sent."""
        # Images first: a client that has received the telemetry of a time also has the images of that time.
        self._send_images(auv, snapshot)
        return self._send_telemetry(auv, snapshot)

    def _port(self, name: str) -> int:
        return int(number(self.values, f"auv_zeromq.{name}_port"))

    def _take_commands(self) -> bool:
        """Read the sockets and apply the commands; return whether there were any.

        All of an AUV together have the effect of the last one, so that a flood costs little more than its reading.
        """
        self._serve_publishers()
        queued: dict[int, list[bytes]] = {}
        any_came = False
        for message in self._arrived():
            any_came = True
            if message is None:
                self._pass_over("multipart", "thruster message of several parts; allowed: one")
            elif len(message) != COMMAND_LENGTH:
                self._pass_over("wrong_length", wrong_length(message))
            else:
                queued.setdefault(message[0], []).append(message)
        for auv_id, messages in queued.items():
            auv = self._by_id.get(auv_id)
            if auv is None:
                allowed = f"{min(self._by_id)} to {max(self._by_id)}"
                self._pass_over("unknown_id", f"thruster message for AUV {auv_id}; allowed: {allowed}", len(messages))
            else:
                self._apply(auv, messages)
        return any_came

    def _arrived(self) -> Iterator[bytes | None]:
        """Thruster messages that have come through the links of their AUVs; None for a multipart one."""
        for message in self._thrusters.messages():
            auv = self._by_id.get(message[0]) if message else None
            if message is None or auv is None:
                yield message
            else:
                yield from (data for data, _ in auv.uplink.passed(self._time_ns, [(message, None)]))
        for auv in self._auvs:
            yield from (data for data, _ in auv.uplink.passed(self._time_ns))

    def _publish(self, auv: _Auv, counter: str, publisher: Publisher, parts: Sequence[bytes]) -> None:
        """Send a message of an AUV, whose first part is its id; failures of the link change only the other parts."""
        content = parts[1:]
        self._pass_on(auv, [(b"".join(content), _Envelope(counter, publisher, list(map(len, content))))])

    def _pass_on(self, auv: _Auv, packets: Iterable[tuple[bytes, _Envelope]] = ()) -> None:
        """Transmit messages, and earlier ones whose delay on a late link is over."""
        for data, (counter, publisher, lengths) in auv.downlink.passed(self._time_ns, packets):
            ends = list(itertools.accumulate(lengths))
            publisher.send([bytes((auv.auv_id,)), *(data[end - n : end] for end, n in zip(ends, lengths, strict=True))])
            self.counters[counter] += 1

    def _serve_publishers(self) -> None:
        self._images.serve()
        self._telemetry.serve()

    def _apply(self, auv: _Auv, messages: list[bytes]) -> None:
        if auv.commander:
            text = f"thruster message for AUV {auv.auv_id}, which is commanded by {auv.commander}"
            self._pass_over("refused_commands", text, len(messages))
            return
        self.counters["commands"] += len(messages)
        auv.awaited = False
        newest: list[int | None] = [None] * len(THRUSTERS)
        for message in reversed(messages):
            powers = decode_thrusters(message).powers
            newest = [older if newer is None else newer for newer, older in zip(newest, powers, strict=True)]
            if None not in newest:
                break
        requested = [old if power is None else power for power, old in zip(newest, auv.powers, strict=True)]
        auv.powers = [clamped(power) for power in requested]
        if auv.powers != requested:
            text = f"powers {requested} of AUV {auv.auv_id} are clamped; allowed: -{FULL_POWER} to {FULL_POWER}"
            self._count("out_of_range", text)
        auv.pwm_us = _pwm_us(auv)

    def _pass_over(self, kind: str, text: str, count: int = 1) -> None:
        self._count(kind, f"ignored: {text}", count)

    def _count(self, kind: str, text: str, count: int = 1) -> None:
        self.counters[kind] += count
        self._warn(kind, text, self.counters[kind])

    def _send_telemetry(self, auv: _Auv, snapshot: Snapshot) -> bool:
        """Send telemetry if it is due; return whether it was sent."""
        tick = auv.tick_of(snapshot.time_ns)
        if tick == auv.tick:
            return False
        auv.tick = tick
        auv.has_image_client = self._images.has_subscriber(bytes((auv.auv_id,)))
        truth: list[float] = snapshot.truth.tolist()
        w, x, y, z = truth[3:7]
        where = telemetry((truth[0], truth[1], truth[2]), (w, x, y, z), z_up=auv.z_up)
        try:
            parts = encode_telemetry(auv.auv_id, where)
        except TelemetryError as error:
            self._count("unsent_telemetry", f"no telemetry of AUV {auv.auv_id}: {error}")
            return False
        self._publish(auv, "telemetry_messages", self._telemetry, parts)
        return True

    def _send_images(self, auv: _Auv, snapshot: Snapshot) -> None:
        front, bottom = snapshot.images.get("front"), snapshot.images.get("bottom")
        if not front or not bottom:
            self._report_missing_images(auv, snapshot)
            return
        # The bridge keeps each image until the next one arrives, so a different object is a new image.
        if front is auv.front or bottom is auv.bottom:
            return
        auv.front, auv.bottom = front, bottom
        self._publish(auv, "image_messages", self._images, encode_images(auv.auv_id, Images(front, bottom)))

    def _report_missing_images(self, auv: _Auv, snapshot: Snapshot) -> None:
        if not auv.has_image_client:
            auv.began_ns = -1
            return
        if auv.began_ns < 0:
            auv.began_ns = snapshot.time_ns
        if auv.reported_missing_images or snapshot.time_ns - auv.began_ns < _IMAGE_TIMEOUT_NS:
            return
        auv.reported_missing_images = True
        missing = " and ".join(name for name in ("front", "bottom") if not snapshot.images.get(name))
        self.logger.info(
            f"no {missing} image of AUV {auv.auv_id} received: port {self._port('image')} sends its images once both "
            "cameras publish; the node 'camera' renders them"
        )


def _auv(values: Values, commander: str) -> _Auv:
    """An AUV at rest, from the values that apply to it; `commander` is empty if clients command it."""
    given = values["auv_zeromq.outputs"]
    assert isinstance(given, list)
    outputs = OutputMap("auv_zeromq.outputs", [str(text) for text in given], [CENTRE_US] * OUTPUTS, THRUSTERS)
    side = _US_OF_PERCENT if values["auv_zeromq.side_positive"] == "right" else -_US_OF_PERCENT
    auv = _Auv(
        int(number(values, "auv_zeromq.id")),
        outputs,
        (_US_OF_PERCENT, _US_OF_PERCENT, side, _US_OF_PERCENT),
        values["auv_zeromq.z_axis"] == "up",
        number(values, "auv_zeromq.telemetry_rate"),
        commander=commander,
    )
    auv.pwm_us = _pwm_us(auv)
    return auv


def _pwm_us(auv: _Auv) -> list[int]:
    channels_us = (CENTRE_US + us * power for us, power in zip(auv.us_of_percent, auv.powers, strict=True))
    return [min(max(us, LOW_US), HIGH_US) for us in auv.outputs.outputs(tuple(channels_us))]
