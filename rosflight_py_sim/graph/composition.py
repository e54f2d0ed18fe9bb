"""The whole graph in one process, on one executor."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, overload

import rclpy
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile

from rosflight_py_sim.graph.changeable_fleet import ChangeableFleet
from rosflight_py_sim.graph.failing_links import check_link_failures
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.meetings import ENCOUNTERS, encounter_settings
from rosflight_py_sim.graph.other_simulation import refuse_others
from rosflight_py_sim.graph.parameter_sources import parameter_sources, ros_arguments
from rosflight_py_sim.graph.plan import PlannedNode, named_arguments, planned_nodes
from rosflight_py_sim.graph.run_description import RunDescription, versions
from rosflight_py_sim.graph.section_names import check_section_names
from rosflight_py_sim.graph.sidecar import Sidecar
from rosflight_py_sim.graph.time_modes import time_manager_of
from rosflight_py_sim.ground.parameters import Value
from rosflight_py_sim.ground.stamps import EPOCH
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.ground.vehicle_parameters import values_of_vehicle
from rosflight_py_sim.interfaces.given_values import Source, sources_of_arguments
from rosflight_py_sim.interfaces.hand_off import HandOff
from rosflight_py_sim.interfaces.hand_off_ends import Listener
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.interfaces.outside_inputs import RepeatedInputs
from rosflight_py_sim.interfaces.parameter_files import files_of_arguments
from rosflight_py_sim.interfaces.process_control import ProcessControl
from rosflight_py_sim.interfaces.shared_clock import SharedClock
from rosflight_py_sim.interfaces.simulation_node import SimulationNode, Tap
from rosflight_py_sim.interfaces.time_manager_interface import TimeManagerInterface
from rosflight_py_sim.kernels.preparation import prepare_kernels
from rosflight_py_sim.nodes.node_names import SHORT, node_name
from rosflight_py_sim.nodes.recorder import Recorder
from rosflight_py_sim.nodes.running import (
    SharedNames,
    check_namespace,
    deferred_signals,
    initialise,
    make_executor,
    node_class,
    ordinary_arguments,
    refusals_of_ros,
    require_complete,
    settle,
    shutdown_watchdog,
)
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.topics import CLOCK
from rosflight_py_sim.step.viewed_topics import RELAYED

N = TypeVar("N", bound=SimulationNode)

# Time limit at the start for nodes that read each other's parameters, s.
READY_LIMIT_S = 10.0

# The same for each node, for fleets.
READY_LIMIT_S_PER_NODE = 0.5

# Longest wait of the executor before `go_on` is called again, s.
_SPIN_TIMEOUT_S = 0.1

# After it, a shutdown of the middleware counts as locked up, s. It takes some tenths of a second.
_SHUTDOWN_S = 8.0

# The same for each node: Fast DDS compares each publisher and subscription that it removes with all others, which takes
# 14 s for 161 nodes.
_SHUTDOWN_S_PER_NODE = 0.4


class ComposedGraph:
    """All nodes of a simulation on one executor.

    Messages of the step go from node to node directly (see HandOff). They also go through DDS if an external
    subscription matches, so other processes interact with the graph as if each node were a process. In simulated
    time, all nodes share one clock.

    Parameters come from these sources; a later one overrides an earlier one: the vehicle's file, the flight
    controller's file for the vehicle, `files`, the files of the vehicle alone, `settings`, the settings of the vehicle
    alone, `arguments`. A node that serves all vehicles, such as the time manager, uses the files of the first vehicle;
    of the parameters in its VEHICLE_PARAMETERS, a node has those of each vehicle.

    Attributes:
        nodes: all nodes in this process.
        vehicles: the vehicles.
        executor: runs the nodes.
        hand_off: passes messages from node to node.
        recorder: node that records; None without a recording.
        control: requests of the nodes to this process.
        time_node: node that advances time; None before its start, and in the time mode wall.
    """

    def __init__(
        self,
        vehicles: Sequence[Member],
        *,
        files: Sequence[str] = (),
        settings: Mapping[str, Value] | None = None,
        arguments: Sequence[str] = (),
        time_mode: str = "lockstep",
        time_manager: str = "",
        namespace: str = "",
        observers: Sequence[str] = (),
        transmitter: str = "none",
        sidecars: Iterable[str] = (),
        services: Sequence[str] = (),
        outliving: list[Sidecar] | None = None,
        record: str | None = None,
        names: str = SHORT,
        tap: Tap | None = None,
        repeated: RepeatedInputs | None = None,
        alone: bool = False,
    ) -> None:
        """Initialise rclpy with `arguments` and create the nodes.

        Args:
            vehicles: at least one.
            files: parameter files for all nodes.
            settings: parameters, for every node that has them.
            arguments: ROS arguments for all nodes, with or without --ros-args before them.
            time_mode: wall, paced, gated or lockstep.
            time_manager: name of a registered time manager; empty: that of the time mode.
            namespace: of all nodes; /clock stays outside of it.
            observers: front-ends of the bridge that observe the vehicles.
            transmitter: parameter `device` of rc unless the arguments give it.
            sidecars: executables of further nodes that serve all vehicles, each in a process that ends with the graph.
            services: executables of further nodes that serve all vehicles, in this process.
            outliving: keeps the processes of the sidecars, which then do not end with the graph; a list with those of
                an earlier graph: they serve this one, and no further ones are started.
            record: file to record every topic to; empty: a new file, named by the recorder; None: no recording.
            names: choice of node names, one of node_names.NAMES.
            tap: called with the full name, message type and QoS of each topic that a node of the package publishes;
                returns the listener of the serialised messages, or None.
            repeated: inputs from outside, of a recorded run; inputs that arrive are then ignored.
            alone: whether to refuse another simulation that is known in the ROS domain when the graph starts. To make a
                running one known by then, use `OtherSimulation`, which searches for one second.

        Raises:
            ParameterError: there is another simulation, a node refuses its parameters, ROS refuses its arguments, or a
                node class lacks methods.
            KeyboardInterrupt: on SIGINT or SIGTERM.
        """
        manager = time_manager_of(time_mode, time_manager)
        sources_of = partial(parameter_sources, files=files, settings=settings or {})
        sources = sources_of(vehicles, observers=observers, weakest={"device": transmitter})
        sidecar_names = list(sidecars)
        common = _for_ros(arguments)[1:]
        for one in sources.own.values():
            own_files = (source for source in one if not isinstance(source, Mapping))
            ordinary_arguments([sys.argv[0], "--ros-args", *ros_arguments(own_files), *common])
        check_namespace(namespace)
        # An interrupted callback of rclpy leaves the process unable to end.
        with deferred_signals() as signals:
            prepare_kernels(signals)
            if signals:
                raise KeyboardInterrupt
            shared, given = [*filter(None, [manager]), *sidecar_names, *services], common
            planned = planned_nodes(vehicles, shared, observers=observers)
            common = named_arguments(planned, given)
            meetings = encounter_settings(vehicles, sources, sources_of_arguments(common), namespace)
            if meetings:
                planned = planned_nodes(vehicles, [*shared, ENCOUNTERS], observers=observers)
                common = named_arguments(planned, given)
            check_section_names([*map(str, files), *files_of_arguments(common)], planned)
            check_link_failures(vehicles, sources, sources_of_arguments(common), namespace)
            initialise([sys.argv[0], "--ros-args", *common])
            # Set by the nodes' parameters; an earlier graph of the process may have had another.
            EPOCH.ns = 0
            self.nodes: list[Node] = []
            self._is_closed = False
            self.vehicles = tuple(vehicles)
            self._names, self._is_alone = names, alone
            self._taps = [] if tap is None else [tap]
            self._simulated = time_mode != "wall"
            # rclpy's service of type descriptions does not release its memory, 90 kB for each node that a restart ends.
            self._of_rclpy = {"start_type_description_service": False} if services else {}
            self._own: dict[str, Any] = {"time_mode": time_mode}
            self._sources, self._arguments, self._namespace = sources, common, namespace
            # The transmitter serves one vehicle, and an initial vehicle has it.
            self._sources_of = partial(sources_of, weakest={"device": "none"})
            self._strongest = sources_of_arguments(common)
            self._members = vehicles
            self._options: dict[str, Any] = {
                "files": [str(file) for file in files],
                "settings": dict(settings or {}),
                "arguments": common,
                "time_mode": time_mode,
                "time_manager": time_manager,
                "namespace": namespace,
                "observers": list(observers),
                "transmitter": transmitter,
                "names": names,
            }
            self._joined: list[str] = []
            self._is_described = False
            self._sidecars: list[Sidecar] = []
            self._outliving = outliving
            # A recording holds one run of the initial vehicles; system time cannot be set back.
            seed = {**self._options["settings"], **vehicles[0].settings}.get("seed", 0)
            self._fleet = ChangeableFleet(
                self, vehicles, observers, meetings=meetings, can_restart=self._simulated, seed=seed
            )
            self.control = ProcessControl(self._fleet if record is None else None)
            self._manager = manager
            self.time_node: TimeManagerInterface | None = None
            self.executor: Executor = make_executor()
            self.hand_off = HandOff(self.executor)
            if self._simulated:
                self.hand_off.clock = SharedClock()
            if repeated is not None:
                self.hand_off.outside.repeat(repeated.inputs, paced=repeated.paced)
            self.recorder: Recorder | None = None
            try:
                self._create_nodes(services, record, sidecar_names)
                self._start(manager, signals)
            except Exception:
                self.close()
                if not signals:
                    raise
            if signals:
                self.close()
                raise KeyboardInterrupt

    def _create_nodes(self, services: Sequence[str], record: str | None, sidecars: Sequence[str]) -> None:
        """Create all nodes but the time manager; the arguments are those of the class."""
        if record is not None:
            self.recorder = self._make_recorder(record, self._namespace)
        self._fleet.create()
        for name in services:
            self._add(name, self._namespace)
        if sidecars:
            # A subscription in another process would cost the step one wake-up per message.
            self._own[RELAYED.name] = True
            self._add("view_relay", self._namespace)
        if self.recorder is not None:
            self.recorder.discover_topics()
        for node in self.nodes:
            self.executor.add_node(node)
        if self._outliving:
            return
        self._sidecars = [Sidecar(name, self._sidecar_arguments(name, self._namespace)) for name in sidecars]
        if self._outliving is not None:
            self._outliving.extend(self._sidecars)

    def would_meet(self, member: Member) -> bool:
        """Whether a further vehicle would collide with others, or move their air.

        Raises:
            ParameterError: as of `encounter_settings`.
        """
        sources = self._sources.with_vehicle(member, self._sources_of)
        return bool(encounter_settings([member], sources, self._strongest, self._namespace))

    def add_planned(self, planned: PlannedNode) -> SimulationNode:
        """Create a node of the plan; raises `ParameterError` as the class does."""
        return self._add(planned.executable, absolute_name(self._namespace, planned.namespace), planned.member)

    def _start(self, time_manager: str | None, signals: Sequence[int]) -> None:
        """Start the simulation; a received signal ends the wait for the nodes."""
        self._wait_until_ready(signals)
        if self._is_alone and not signals:
            ours = [node for node in self.nodes if isinstance(node, SimulationNode)]
            topics = [CLOCK.name] if time_manager is not None else []
            topics += [topic for node in ours for topic in node.exclusive_topics]
            refuse_others(ours[0], topics, self.executor)
        # Last, because it starts the simulation, for which all other nodes must be ready.
        if time_manager is not None:
            self.start_time()
        for process in self._sidecars:
            process.wait_until_started(signals)

    def start_time(self, *, paused: bool = False) -> None:
        """Create the time manager, if the time mode has one."""
        if self._manager is None:
            return
        node = self._add(self._manager, self._namespace)
        assert isinstance(node, TimeManagerInterface)
        node.paused = paused
        for name in set(node.vehicles).difference(self._fleet.namespaces):
            node.remove_vehicle(name)
        self.time_node = node
        self.executor.add_node(node)

    def end_node(self, node: Node) -> None:
        """End a node."""
        self.nodes.remove(node)
        self._destroy(node)

    def _wait_until_ready(self, signals: Sequence[int]) -> None:
        """Wait until the nodes have read the flight controller's parameters, which takes many service calls.

        With time running at full speed, the calls would take seconds of simulated time, different in every run. A
        received signal ends the wait.
        """
        is_ready = self._readiness()
        self.turn_until(lambda: bool(signals) or is_ready())

    def turn_until_ready(self, condition: Callable[[], bool] = lambda: True) -> bool:
        """`turn_until`, but also until all nodes have read the flight controller's parameters."""
        is_ready = self._readiness()
        return self.turn_until(lambda: condition() and is_ready())

    def _readiness(self) -> Callable[[], bool]:
        """Function that returns whether all nodes have read the flight controller's parameters.

        Flight controllers that are not part of the graph do not count.
        """
        ours = [node for node in self.nodes if isinstance(node, SimulationNode)]
        # A vehicle whose flight controller is outside of the graph has none of these services here.
        offered = {one.service_name for node in ours if node.ANSWERS_BEFORE_START for one in node.services}
        return lambda: not any(offered.issuperset(awaited) for node in ours if (awaited := node.awaited_services()))

    def turn_until(self, condition: Callable[[], bool]) -> bool:
        """Run the executor until a condition holds; return whether it holds within the time limit."""
        end_s = time.monotonic() + max(READY_LIMIT_S, READY_LIMIT_S_PER_NODE * len(self.nodes))
        while not condition():
            if time.monotonic() > end_s:
                return False
            self.executor.spin_once(timeout_sec=0.01)
        return True

    def _make_recorder(self, file: str, namespace: str) -> Recorder:
        """Create the recorder, before all other nodes, so that it records their first messages."""
        self._own["record.file"] = file
        recorder = self._add("recorder", namespace)
        assert isinstance(recorder, Recorder)
        self._taps.append(recorder.tap)
        self.hand_off.outside.note = recorder.outside_input_note()
        return recorder

    def add(self, executable: str, *, namespace: str) -> SimulationNode:
        """Create one more node of the package, with the parameters of nodes that serve all vehicles."""
        return self._add(executable, namespace)

    def _sidecar_arguments(self, executable: str, namespace: str) -> list[str]:
        cls = node_class(executable)
        weaker = ros_arguments(self._weaker_sources(cls, None))
        own = ros_arguments([self._parameters(cls)])
        name = node_name(cls.DEFAULT_NAME, executable, self._names)
        named = ["-r", f"__ns:={absolute_name(namespace)}", "-r", f"__node:={name}"]
        return ["--ros-args", *weaker, *self._arguments, *own, *named]

    def _weaker_sources(self, cls: type[SimulationNode], member: Member | None) -> list[Source]:
        """Sources of a node of one vehicle; without a vehicle, of one that serves all. The arguments override them."""
        sources = self._sources if member is None else self._sources.with_vehicle(member, self._sources_of)
        different = sources.of_vehicles(cls, member, self._strongest, self._namespace)
        return [different, *sources.of(member)]

    def _parameters(self, cls: type[SimulationNode], member: Member | None = None) -> dict[str, Any]:
        """The graph's own parameters that the node has."""
        graph = {**self._own, **self._fleet.parameters(member, advances_time=issubclass(cls, TimeManagerInterface))}
        own = {name: value for name, value in graph.items() if name in cls.PARAMETERS}
        return {"use_sim_time": self._simulated, **self._of_rclpy, **own}

    def _add(self, executable: str, namespace: str, member: Member | None = None) -> SimulationNode:
        """Create a node of the package; without a vehicle it serves all of them."""
        cls = node_class(executable)
        require_complete(cls)
        name = node_name(cls.DEFAULT_NAME, executable, self._names)
        sources = [*self._weaker_sources(cls, member), *self._strongest]
        parameters = self._parameters(cls, member)
        node = self._create(cls, namespace, parameters, name=name, sources=sources, shared_names=SharedNames())
        self._adopt(node)
        return node

    @overload
    def join(self, cls: type[N], *arguments: Any, namespace: str = "", **options: Any) -> N: ...

    @overload
    def join(self, cls: type[Part], *arguments: Any, namespace: str = "", **options: Any) -> SimulationNode: ...

    def join(self, cls: type[Any], *arguments: Any, namespace: str = "", **options: Any) -> Any:
        """Create your own node as `cls(*arguments, **options)`, or that of a part, and run it in the time mode."""
        node_class = node_of(cls)
        node = self._create(node_class, namespace, self._parameters(node_class), *arguments, **options)
        self.include(node)
        return node

    def _create(
        self, cls: type[N], namespace: str, parameters: Mapping[str, Any], *arguments: Any, **options: Any
    ) -> N:
        """Create a node with the hand-off, the taps, and parameters that override all others."""
        with refusals_of_ros():
            return cls(
                *arguments,
                namespace=namespace,
                hand_off=self.hand_off,
                tap=self._tap if self._taps else None,
                control=self.control,
                parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()],
                **options,
            )

    def _tap(self, topic: str, message_type: Any, qos: QoSProfile) -> Listener | None:
        listeners = [one for one in (tap(topic, message_type, qos) for tap in self._taps) if one is not None]
        if len(listeners) < 2:
            return listeners[0] if listeners else None

        def take_all(message: bytes) -> None:
            for one in listeners:
                one.take(message)

        return Listener(take_all)

    def include(self, node: Node) -> None:
        """Run any rclpy node on the graph's clock; `close` destroys the node."""
        self._joined.append(type(node).__name__)
        self._adopt(node)
        self.executor.add_node(node)

    def _adopt(self, node: Node) -> None:
        shared = self.hand_off.clock
        if shared is not None and node.get_clock() is not shared.clock:
            for subscription in [one for one in node.subscriptions if one.topic_name == CLOCK.name]:
                node.destroy_subscription(subscription)
            shared.lead(node.get_clock())
        self.nodes.append(node)

    @property
    def time_ns(self) -> int:
        """Time of the nodes, ns."""
        shared = self.hand_off.clock
        return int(self.nodes[0].get_clock().now().nanoseconds) - EPOCH.ns if shared is None else shared.time_ns

    def node_of(self, name: str, vehicle: str = "") -> SimulationNode:
        """The node with this default name that serves a vehicle.

        Args:
            name: default name of the node.
            vehicle: namespace of the vehicle, relative to the simulation's; empty: any vehicle.

        Raises:
            LookupError: there is no such node.
        """
        own = absolute_name(self._namespace, vehicle)
        named = [n for n in self.nodes if isinstance(n, SimulationNode) and name == n.DEFAULT_NAME]
        return next((one for one in named if one.get_namespace() == own), None) or named[0]

    def values_of(self, name: str, vehicle: str = "") -> dict[str, Value]:
        """Parameter values, for a vehicle, of the node with this default name that serves it; see `node_of`."""
        node = self.node_of(name, vehicle)
        return values_of_vehicle(node.values, vehicle) if vehicle else node.values

    @property
    def recorded(self) -> bool:
        """Whether the recording, if any, is complete; known once the graph is closed."""
        outcome = self.recorder.outcome if self.recorder is not None else None
        return outcome is None or not outcome.error

    def spin(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Run until `go_on` returns False, a node requests the end, or rclpy is shut down.

        In simulated time, `go_on` is called once per step, when the step is complete, so the same simulation ends at
        the same step in every run. In wall time, and while no step can be completed, it is called at least every 0.1 s.

        Raises:
            KeyboardInterrupt: on SIGINT or SIGTERM.
        """
        self._describe_run()
        ok, control, spin_once = rclpy.ok, self.control, self._spinning(go_on)
        with deferred_signals() as signals:
            settle()
            while not signals and ok() and not self._has_ended(go_on):
                spin_once(_SPIN_TIMEOUT_S)
                self.hand_off.check()
                if control.has_request:
                    # `spin_once` refers to the time manager, which may end.
                    del spin_once
                    control.carry_out()
                    spin_once = self._spinning(go_on)
        if self.time_node is not None:
            self.time_node.end_spin()
        if signals:
            raise KeyboardInterrupt

    def _spinning(self, go_on: Callable[[], bool]) -> Callable[[float], None]:
        """Function that runs the executor once, while `go_on` returns True."""
        if self.time_node is None:
            return self.executor.spin_once
        self.time_node.advance_while(go_on)
        return partial(self.time_node.spin_once, self.executor)

    def _describe_run(self) -> None:
        """Let the recorder write how the graph was made, with the nodes that have joined since."""
        if self.recorder is None or self._is_described:
            return
        self._is_described = True
        ours = [node for node in self.nodes if isinstance(node, SimulationNode)]
        paces = [node.values.get("real_time_multiplier", 1.0) for node in ours if node is self.time_node]
        unrepeatable = [text for node in ours for text in node.unrepeatable_inputs]
        run = RunDescription(self._members, self._options, self._joined, unrepeatable, paces != [0.0], versions())
        self.recorder.describe_run(run.metadata())

    def _has_ended(self, go_on: Callable[[], bool]) -> bool:
        time_manager = self.time_node
        if self.control.has_quit:
            return True
        if time_manager is None or time_manager.stands_still:
            return not go_on()
        return time_manager.is_held and self.hand_off.is_idle

    def close(self) -> None:
        """End the nodes in other processes, destroy those in this one, and shut rclpy down; may be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        for process in self._sidecars if self._outliving is None else ():
            process.close()
        # While publishers are destroyed, their last messages in the middleware would pass for external ones. The
        # executor would also keep references to the nodes.
        self.hand_off.close()
        for node in reversed(self.nodes[1:]):
            self._destroy(node)
        if self.recorder is not None:
            # Without the time limit, because much may be left to write. The recorder is the first of the nodes.
            self.recorder.complete()
        # The participant ends with its last node.
        with shutdown_watchdog(max(_SHUTDOWN_S, _SHUTDOWN_S_PER_NODE * len(self.nodes))):
            for node in self.nodes[:1]:
                self._destroy(node)
            self.executor.shutdown()
            rclpy.try_shutdown()

    def _destroy(self, node: Node) -> None:
        self.executor.remove_node(node)
        node.destroy_node()


def _for_ros(arguments: Sequence[str]) -> list[str]:
    return ["--ros-args", *(arguments[1:] if arguments[:1] == ["--ros-args"] else arguments)]
