"""The whole graph in one process: the same nodes, on one executor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import rclpy
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time_source import TimeSource
from rclpy.validate_namespace import validate_namespace

from rosflight_py_sim.interfaces.simulation_node import SimulationNode, drop_clock_subscription
from rosflight_py_sim.nodes.running import (
    SharedNames,
    initialise,
    make_executor,
    node_class,
    noted_signals,
    ordinary_arguments,
    refusals_of_ros,
    settle,
)
from rosflight_py_sim.parameters import Value
from rosflight_py_sim.time_modes import TIME_MANAGERS
from rosflight_py_sim.vehicles import Vehicle

# A wait this long is answered by a look at whether to go on.
_PATIENCE_S = 0.1


def simulation_arguments(
    vehicle: Vehicle, files: Sequence[str], settings: dict[str, Any], arguments: Sequence[str]
) -> list[str]:
    """ROS arguments of the composed graph: the vehicle's file, the user's files, single settings, the user's own.

    Later ones are stronger. `settings` are parameters of every node that has them.
    """
    ros = ["--ros-args"]
    for file in [str(vehicle.parameter_file), *files]:
        ros += ["--params-file", file]
    for name, value in settings.items():
        ros += ["-p", f"{name}:={value}"]
    user = list(arguments)
    if user and user[0] == "--ros-args":
        user = user[1:]
    return ros + user


class ComposedGraph:
    """All nodes of a simulation on one executor.

    Every message still goes through DDS, so other processes see and drive the graph as if each node were a process.
    The nodes that do not follow the step's stamps share one subscription to /clock.
    """

    def __init__(
        self,
        vehicle: Vehicle,
        *,
        arguments: Sequence[str],
        time_mode: str = "lockstep",
        namespace: str = "",
        executables: Iterable[str] = (),
        flight_controller: str = "sil_board",
        dynamics: str = "standalone_dynamics",
    ) -> None:
        """Initialise rclpy with `arguments` and create the nodes.

        Args:
            vehicle: which physics and firmware.
            arguments: ROS arguments, as of `simulation_arguments`.
            time_mode: wall, paced or lockstep.
            namespace: of all nodes; /clock stays outside of it.
            executables: further nodes of this package.
            flight_controller: executable of the node that answers the IMU with PWM.
            dynamics: executable of the dynamics node.

        Raises:
            ParameterError: a node refuses its parameters, or ROS its arguments.
        """
        argv = [sys.argv[0], *arguments]
        ordinary_arguments(argv)
        with refusals_of_ros():
            validate_namespace(f"/{namespace.lstrip('/')}")
        initialise(argv)
        self.nodes: list[Node] = []
        # First, so that the user's own is stronger.
        self._arguments = ["-p", f"firmware_param_file:={vehicle.firmware_file}", *arguments]
        self._simulated = time_mode != "wall"
        self._time_source: TimeSource | None = None
        if self._simulated:
            self._host = Node(
                "rosflight_py_sim", namespace=namespace, parameter_overrides=[Parameter("use_sim_time", value=True)]
            )
            self._time_source = TimeSource()
            self.adopt(self._host)
            self._time_source.attach_node(self._host)
        self._time_mode = Parameter("time_mode", value=time_mode)
        chain = ["rc", "standalone_sensors", flight_controller, vehicle.forces_and_moments, dynamics, *executables]
        for executable in chain:
            self.add(executable, namespace=namespace)
        self.executor: Executor = make_executor()
        for node in self.nodes:
            self.executor.add_node(node)
        # Last: it starts the simulation, which all others must be ready for.
        if self._simulated:
            self.executor.add_node(self.add(TIME_MANAGERS[time_mode], namespace=namespace))

    def add(self, executable: str, *, namespace: str) -> SimulationNode:
        """Create a node of the package."""
        cls = node_class(executable)
        own = [self._time_mode] if "time_mode" in cls.PARAMETERS else []
        node = cls(
            arguments=self._arguments,
            shared_names=SharedNames(),
            namespace=namespace,
            parameter_overrides=[*own, Parameter("use_sim_time", value=self._simulated)],
        )
        self.adopt(node)
        return node

    def adopt(self, node: Node) -> None:
        """Let a node take its time from the graph's shared clock."""
        follows_stamps = isinstance(node, SimulationNode) and node.follows_stamps
        if self._time_source is not None and not follows_stamps:
            drop_clock_subscription(node)
            self._time_source.attach_clock(node.get_clock())
        self.nodes.append(node)

    def values_of(self, name: str) -> dict[str, Value]:
        """Parameter values of the node with that default name."""
        return next(n.values for n in self.nodes if isinstance(n, SimulationNode) and name == n.DEFAULT_NAME)

    def spin(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Run until `go_on` says no or rclpy is shut down.

        Raises:
            KeyboardInterrupt: SIGINT or SIGTERM came.
        """
        settle()
        spin_once, ok = self.executor.spin_once, rclpy.ok
        with noted_signals() as signals:
            while not signals and ok() and go_on():
                # One look a batch: it would cost as much as a callback.
                for _ in range(64):
                    spin_once(timeout_sec=_PATIENCE_S)
                    # In a pause each turn takes its whole patience, and a signal must not wait for all of them.
                    if signals:
                        break
        if signals:
            raise KeyboardInterrupt

    def close(self) -> None:
        """Destroy the nodes and shut rclpy down."""
        for node in reversed(self.nodes):
            self.executor.remove_node(node)
            node.destroy_node()
        rclpy.try_shutdown()
