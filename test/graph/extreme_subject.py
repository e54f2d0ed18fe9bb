"""Graphs whose parameters tests set to extremes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.parameter import Parameter as RosParameter

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.scenario import load_scenario
from rosflight_py_sim.ground.parameters import Parameter, Value
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.topics import FAULT, TRUTH_STATE, topic_of
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import vehicle
from test.graph.front_end_clients import AuvClient, Ports, ardupilot_client, uthere_program

GRAPHS: dict[str, Callable[[], dict[str, Any]]] = {
    "multirotor": lambda: {"vehicles": [Member(vehicle("multirotor"), executables=("autopilot",))]},
    "fixedwing": lambda: {"vehicles": [Member(vehicle("fixedwing"), executables=("fixedwing_autopilot",))]},
    "auv": lambda: {"vehicles": [Member(vehicle("auv"), flight_controller="auv_controller")]},
    "jsbsim": lambda: {"vehicles": [Member(vehicle("fixedwing", "jsbsim"))]},
    "ardupilot": lambda: {"vehicles": [Member(vehicle("multirotor"), flight_controller="ardupilot")]},
    "uthere": lambda: {"vehicles": [Member(vehicle("anaconda"), flight_controller="uthere")]},
    "uthere_multirotor": lambda: {"vehicles": [Member(vehicle("multirotor"), flight_controller="uthere")]},
    "relay": lambda: {"vehicles": load_scenario("relay").members, "files": load_scenario("relay").files},
    "observed": lambda: {
        "vehicles": [
            Member(vehicle("auv").carrying("camera", True), flight_controller="auv_zeromq", executables=("visualizer",))
        ],
        "observers": ["ardupilot", "uthere"],
    },
}
VARIED = {
    "fixedwing": ("forces_and_moments", "autopilot"),
    "auv": ("dynamics", "forces_and_moments", "auv_controller"),
    "jsbsim": ("dynamics",),
    "ardupilot": ("bridge",),
    "uthere": ("bridge",),
    "uthere_multirotor": ("bridge",),
    "relay": ("copter/autopilot",),
    "observed": ("bridge", "camera", "visualizer"),
}
"""Names of the nodes whose parameters change in a graph, if other graphs have the rest; otherwise all."""

SETTINGS = {"real_time_multiplier": 0.0, "sim_has_wind": True, "image_width": 32, "image_height": 24}


class Subject:
    """A graph in lockstep that is renewed after each run that paused, with a client of each front-end."""

    def __init__(self, name: str, closing: ExitStack, settings: Mapping[str, Any] = SETTINGS) -> None:
        self._name = name
        self._settings = settings
        self.ports = Ports()
        self._closing = closing
        # The level outlasts rclpy's contexts.
        closing.callback(set_logger_level, "", LoggingSeverity.INFO)
        self.make()
        if "bridge" in self.nodes:
            self._join_clients()

    def make(self) -> None:
        self.graph = ComposedGraph(
            settings={**self._settings, **self.ports.settings},
            arguments=["--log-level", "fatal"],
            transmitter="none",
            **GRAPHS[self._name](),
        )
        self.truths: list[VehicleState] = []
        self.faults: list[str] = []
        listener = next(iter(self.nodes.values()))
        for member in self.graph.vehicles:
            topic = f"/{topic_of(member.namespace, TRUTH_STATE.name)}"
            self.graph.hand_off.subscribe(listener, TRUTH_STATE, topic, CHAIN, self.truths.append)
        listener.create_subscription(
            FAULT.message_type, FAULT.name, lambda message: self.faults.append(message.data), LATCHED
        )

    def _join_clients(self) -> None:
        self._ardupilot = ardupilot_client(self.graph, self.ports, self._closing)
        self._program = uthere_program(self.ports, self._closing)
        self._program.send("data_request(variable=all,interval=0)", "fly_engage")
        self._auv = AuvClient(self._closing, self.ports)

    def _serve_clients(self) -> None:
        while self._ardupilot.received() is not None:
            pass
        self._ardupilot.count += 1
        self._ardupilot.send(1500)
        self._program.packets()
        self._program.send("fly(course=270,airspeed=20,altitude=300)")
        for _ in (*self._auv.collected(self._auv.telemetry), *self._auv.collected(self._auv.images)):
            pass

    @property
    def nodes(self) -> dict[str, SimulationNode]:
        """Nodes of the package by name."""
        ours = [node for node in self.graph.nodes if isinstance(node, SimulationNode)]
        return {node.get_fully_qualified_name()[1:]: node for node in ours}

    @property
    def varied(self) -> list[str]:
        """Names of the nodes whose parameters change."""
        return list(VARIED.get(self._name, self.nodes))

    def set(self, node: str, parameter: Parameter, value: Value) -> tuple[bool, str]:
        changed = self.nodes[node].set_parameters([RosParameter(parameter.name, value=value)])[0]
        return changed.successful, changed.reason

    def goes_on(self, steps: int = 2) -> bool:
        """Advance; whether the run has not paused, with its fault reported. The truth is finite in any case."""
        self.truths.clear()
        manager = self.nodes["time_manager"]
        end_ns = self.graph.time_ns + steps * 2_500_000

        def go_on() -> bool:
            if "bridge" in self.nodes:
                self._serve_clients()
            return self.graph.time_ns < end_ns and not manager.paused

        self.graph.spin(go_on)
        assert all(np.isfinite(one.truth).all() for one in self.truths)
        assert self.truths or manager.paused
        return not manager.paused

    def renew(self) -> None:
        self.graph.close()
        self.make()
        assert self.goes_on()
