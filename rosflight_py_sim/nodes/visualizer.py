"""Frames on tf, and markers, for RViz."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import Marker, MarkerArray

from rosflight_py_sim.ground.coordinate_frames import MAP, swap_ned_enu
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.interfaces.marker_wire import MarkerWire
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.interfaces.transform_wire import TransformWire, tf_message_type
from rosflight_py_sim.nodes.drawn_vehicle import DrawnVehicle, marker
from rosflight_py_sim.nodes.vehicle_shape import SHAPE_PARAMETERS, VEHICLE_SHAPE_PARAMETERS, vehicle_shapes
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.step.viewed_topics import RELAYED, viewed
from rosflight_py_sim.viewer.frame_tree import WORLD_FRAMES, sensor_frames
from rosflight_py_sim.viewer.world_meshes import world_parts
from rosflight_py_sim.world import WORLD, world_of

VISUALIZER_PARAMETERS = (
    ParameterTable(
        VEHICLES,
        Parameter(
            "draw_rate", 30.0, "Updates per second of system time", "Hz", minimum=1.0, maximum=30.0, read_only=True
        ),
        Parameter("max_path_history", 10000, "Number of path points kept", minimum=2, maximum=1_000_000),
        Parameter("path_spacing", 0.05, "Distance between path points", "m", minimum=0.0, maximum=1e4),
        Parameter(
            "force_arrow_scale",
            0.02,
            "Length of the force arrow for 1 N; 0 for no arrow",
            "m/N",
            minimum=0.0,
            maximum=1e3,
        ),
        Parameter(
            "wind_arrow_scale", 0.2, "Length of the wind arrow for 1 m/s; 0 for no arrow", "s", minimum=0.0, maximum=1e3
        ),
        WORLD,
        RELAYED,
    )
    + SHAPE_PARAMETERS
)

_TF = QoSProfile(depth=100)
_TF_STATIC = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# Pictures per drawing of the path.
_PATH_EVERY = 6

_CHECK_PERIOD_S = 1.0


class Visualizer(PartNode):
    """Publishes frames (tf) and markers of all vehicles for RViz, as ROSflight's standalone_viz_transcriber does.

    It polls the newest messages at its own rate of system time, so that it cannot slow down the simulation. Meshes are
    published once, in frames that move, and again for late subscriptions.
    """

    DEFAULT_NAME: ClassVar[str] = "visualizer"
    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_viz_transcriber",)
    PARAMETERS: ClassVar[ParameterTable] = VISUALIZER_PARAMETERS
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = VEHICLE_SHAPE_PARAMETERS
    HOSTS: ClassVar[tuple[type[Part], ...]] = (DrawnVehicle,)

    def __init__(self, **arguments: Any) -> None:
        """Publish static frames and markers, and start drawing."""
        self._vehicles: list[DrawnVehicle] = []
        super().__init__(**arguments)
        self.follow_stamps()
        names = vehicle_namespaces(self.values["vehicles"])
        shapes = vehicle_shapes(self, names)
        renamed = partial(viewed, relayed=bool(self.values[RELAYED.name]))
        self._vehicles = [self.host(DrawnVehicle(self, name, shape), name, renamed) for name, shape in shapes.items()]
        self._keep_paths(self.values)
        tf_message = tf_message_type()
        self._tf = self.create_publisher(tf_message, "/tf", _TF)
        self._tf_static = self.create_publisher(tf_message, "/tf_static", _TF_STATIC)
        fixed = [*WORLD_FRAMES, *(frame for one in self._vehicles for frame in sensor_frames(one.namespace))]
        wire = TransformWire([(one.parent, one.name) for one in fixed])
        self._tf_static.publish(wire.encode(0, [one.transform for one in fixed]))
        self._path = self.create_publisher(Marker, "rviz/mesh_path", CHAIN)
        self._arrows = self.create_publisher(MarkerArray, "rviz/arrows", CHAIN)
        self._still = [
            _Repeated(self, "rviz/mesh", [data for one in self._vehicles for data in one.meshes()]),
            _Repeated(self, "rviz/world", list(self._world())),
        ]
        self._tf_subscriptions = 0
        self._period_s = 1.0 / number(self.values, "draw_rate")
        self._drawn = 0
        self.create_system_timer(self._period_s, self._draw)
        self.create_system_timer(_CHECK_PERIOD_S, self._check_graph)

    def configure(self, values: dict[str, Value]) -> None:
        """Apply the parameters that can change while the node runs."""
        if any(values[name] != self.values[name] for name in ("max_path_history", "path_spacing")):
            self._keep_paths(values)

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        """Whether all vehicles have a truth state, and the number of subscriptions to /tf."""
        known = sum(vehicle.state.time_ns >= 0 for vehicle in self._vehicles)
        values = {"vehicles": f"{known} of {len(self._vehicles)}", "subscriptions to tf": self._tf_subscriptions}
        if known == len(self._vehicles):
            yield Diagnosis("", "drawing", values=values)
        else:
            yield Diagnosis("", f"waiting for {TRUTH_STATE.name}", Level.WARN, values=values)

    def _keep_paths(self, values: dict[str, Value]) -> None:
        for one in self._vehicles:
            one.keep_path(int(number(values, "max_path_history")), number(values, "path_spacing"))

    def _world(self) -> Iterator[bytes]:
        for index, part in enumerate(world_parts(world_of(self.values))):
            one = marker(MAP, part.name, index, Marker.TRIANGLE_LIST, part.colour, part.opacity)
            yield MarkerWire(one).encode(0, swap_ned_enu(part.mesh.corners.reshape(-1, 3)))

    def _draw(self) -> None:
        self._drawn += 1
        # A new subscription must receive the vehicles even while time does not advance.
        subscriptions = self._tf.get_subscription_count()
        is_new = subscriptions > self._tf_subscriptions
        self._tf_subscriptions = subscriptions
        draws_arrows = self._arrows.get_subscription_count() > 0
        draws_paths = self._drawn % _PATH_EVERY == 0 and self._path.get_subscription_count() > 0
        forces, winds = number(self.values, "force_arrow_scale"), number(self.values, "wind_arrow_scale")
        arrows: list[Marker] = []
        for vehicle in self._vehicles:
            if not vehicle.poll(self._period_s) and not (is_new and vehicle.state.time_ns >= 0):
                continue
            self.update_clock(vehicle.state.time_ns)
            self._tf.publish(vehicle.transforms())
            vehicle.follow()
            if draws_paths:
                self._path.publish(vehicle.path())
            if draws_arrows:
                arrows += vehicle.arrows(forces, winds)
        if arrows:
            self._arrows.publish(MarkerArray(markers=arrows))

    def _check_graph(self) -> None:
        for one in self._still:
            one.repeat_if_needed()
        topics = [topic for topic, _ in self.get_topic_names_and_types()]
        for vehicle in self._vehicles:
            vehicle.find_cameras(topics)


class _Repeated:
    """Static messages: published again for late subscriptions, and transient local for those that request it."""

    def __init__(self, node: SimulationNode, topic: str, messages: list[bytes]) -> None:
        qos = QoSProfile(depth=max(1, len(messages)), durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publisher: Publisher[Marker] = node.create_publisher(Marker, topic, qos)
        self._publish: Callable[[bytes], None] = self._publisher.publish
        self._messages = messages
        self._subscriptions = 0
        self._publish_all()

    def _publish_all(self) -> None:
        for message in self._messages:
            self._publish(message)

    def repeat_if_needed(self) -> None:
        """Publish them again if there is a new subscription since the last call."""
        subscriptions = self._publisher.get_subscription_count()
        if subscriptions > self._subscriptions:
            self._publish_all()
        self._subscriptions = subscriptions
