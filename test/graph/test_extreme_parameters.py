"""Any accepted value of any parameter: a refusal or a simulation that goes on, never the end of the process."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.parameter import Parameter as RosParameter
from rosflight_msgs.msg import SimState

from rosflight_py_sim.executables import NODE_CLASSES
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import FLEET_PARAMETERS, Member
from rosflight_py_sim.interfaces.qos import LATCHED
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import FAULT, TRUTH_STATE
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.parameters import SMALLEST, Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.physics.wind_model import WindModel
from rosflight_py_sim.registry import registered, registered_class
from rosflight_py_sim.vehicles import vehicle

pytestmark = pytest.mark.timeout(600)

VECTORS = 50
"""Random vectors of accepted values per graph."""

HUGE = (5e-324, -5e-324, 1e-310, 1e200, -1.7e308)
"""Numbers that no parameter accepts: subnormal ones, and ones whose squares are not finite."""


def tables() -> Iterator[tuple[str, ParameterTable]]:
    for executable in NODE_CLASSES:
        yield executable, node_class(executable).PARAMETERS
        yield f"{executable}, per vehicle", node_class(executable).VEHICLE_PARAMETERS
    for name in registered("wind_models"):
        yield f"wind model {name}", registered_class("wind_models", name, WindModel).PARAMETERS
    yield "fleet", FLEET_PARAMETERS


@pytest.mark.parametrize(("owner", "table"), list(tables()), ids=lambda one: one if isinstance(one, str) else "")
def test_every_number_has_finite_bounds_that_contain_its_default(owner: str, table: ParameterTable) -> None:
    for one in numbers(table):
        assert math.isfinite(one.minimum) and math.isfinite(one.maximum), f"{owner}: {one.name}"
        assert one.minimum < one.maximum, f"{owner}: {one.name}"
        assert one.checked(one.default) == one.default
        # Its square is finite, and it fits into the messages' float32.
        assert max(abs(one.minimum), abs(one.maximum)) < 1e19, f"{owner}: {one.name}"


def test_numbers_too_small_for_any_unit_are_refused_and_0_is_not() -> None:
    one = Parameter("resolution", 0.0, "Resolution", "m", minimum=0.0, maximum=1.0)
    for value in (0.0, SMALLEST, 1.0):
        assert one.checked(value) == value
    for value in (5e-324, 1e-310, 0.99 * SMALLEST):
        with pytest.raises(ParameterError, match=r"numbers other than 0: at least 1e-30"):
            one.checked(value)


def numbers(table: ParameterTable) -> list[Parameter]:
    return [one for one in table if one.scalar_type in (int, float)]


class Failing(SimulationNode):
    """A node with a defect: some values that its table allows make `configure` fail."""

    DEFAULT_NAME = "failing"
    PARAMETERS = ParameterTable(
        Parameter("exponent", 1.0, "Exponent", minimum=0.0, maximum=1e6),
        Parameter("offset", 1.0, "Offset", minimum=0.0, maximum=1e6),
    )

    def configure(self, values: dict[str, Value]) -> None:
        self.result = math.exp(float(values["exponent"])) + float(values["offset"])  # type: ignore[arg-type]


@pytest.fixture
def context(ros_domain: int) -> Iterator[None]:
    rclpy.init(args=[])
    yield
    rclpy.try_shutdown()


@pytest.mark.usefixtures("context")
def test_exception_in_configure_is_a_refusal_that_names_the_parameters() -> None:
    node = Failing()
    before = (dict(node.values), node.result)
    results = [
        *node.set_parameters([RosParameter("exponent", value=1e5)]),
        node.set_parameters_atomically([RosParameter("offset", value=2.0), RosParameter("exponent", value=1e5)]),
    ]
    for result, given in zip(results, ("exponent 100000", "offset 2, exponent 100000"), strict=True):
        assert not result.successful
        assert result.reason == f"{given} cannot be used: OverflowError: math range error"
    assert (node.values, node.result) == before
    assert node.get_parameter("exponent").value == node.get_parameter("offset").value == 1.0
    assert node.set_parameters([RosParameter("exponent", value=0.0)])[0].successful
    assert node.result == 2.0
    node.destroy_node()


@pytest.mark.usefixtures("context")
def test_exception_in_configure_at_the_start_names_the_parameters() -> None:
    with pytest.raises(ParameterError, match=r"^exponent 100000 cannot be used: OverflowError: math range error$"):
        Failing(parameter_overrides=[RosParameter("exponent", value=1e5)])


GRAPHS: dict[str, Callable[[], dict[str, Any]]] = {
    "multirotor": lambda: {"vehicles": [Member(vehicle("multirotor"))]},
    "fixedwing": lambda: {"vehicles": [Member(vehicle("fixedwing"))]},
    "auv": lambda: {"vehicles": [Member(vehicle("auv"))]},
    "jsbsim": lambda: {"vehicles": [Member(vehicle("fixedwing", "jsbsim"))]},
}
SETTINGS = {"real_time_multiplier": 0.0, "sim_has_wind": True}


class Subject:
    """A graph in lockstep that is renewed after each run that paused."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.make()

    def make(self) -> None:
        self.graph = ComposedGraph(
            settings=SETTINGS, arguments=["--log-level", "fatal"], transmitter="none", **GRAPHS[self._name]()
        )
        self.truths: list[SimState] = []
        self.faults: list[str] = []
        listener = next(iter(self.nodes.values()))
        listener.create_subscription(SimState, TRUTH_STATE.name, self.truths.append, TRUTH_STATE.qos)
        listener.create_subscription(
            FAULT.message_type, FAULT.name, lambda message: self.faults.append(message.data), LATCHED
        )

    @property
    def nodes(self) -> dict[str, SimulationNode]:
        return {node.get_name(): node for node in self.graph.nodes if isinstance(node, SimulationNode)}

    def set(self, node: str, parameter: Parameter, value: Value) -> tuple[bool, str]:
        changed = self.nodes[node].set_parameters([RosParameter(parameter.name, value=value)])[0]
        return changed.successful, changed.reason

    def goes_on(self, steps: int = 2) -> bool:
        """Advance; whether the run has not paused, with its fault reported. The truth is finite in any case."""
        manager = self.nodes["time_manager"]
        end_ns = self.graph.time_ns + steps * 2_500_000
        self.graph.spin(lambda: self.graph.time_ns < end_ns and not manager.paused)
        for truth in self.truths:
            pose, twist = truth.pose, truth.twist
            parts = (pose.position, pose.orientation, twist.linear, twist.angular, truth.acceleration.linear)
            assert all(math.isfinite(getattr(part, axis)) for part in parts for axis in "xyz")
        self.truths.clear()
        return not manager.paused

    def renew(self) -> None:
        self.graph.close()
        self.make()
        assert self.goes_on()


@pytest.fixture
def subject(request: pytest.FixtureRequest, ros_domain: int, tmp_path: Any, monkeypatch: Any) -> Iterator[Subject]:
    monkeypatch.chdir(tmp_path)
    one = Subject(request.param)
    yield one
    one.graph.close()


def filled(parameter: Parameter, old: Value, number: Callable[[], float]) -> Value:
    """A value of the parameter's type, in which each number comes from `number`."""
    kind = parameter.scalar_type
    if not isinstance(parameter.default, list):
        return kind(number())
    count = len(old) if isinstance(old, list) and old else parameter.length or 3
    return [kind(number()) for _ in range(count)]


def changeable(node: SimulationNode) -> list[Parameter]:
    # A slow clock would only delay the test.
    return [one for one in numbers(node.table) if not one.read_only and one.name != "real_time_multiplier"]


@pytest.mark.parametrize("subject", GRAPHS, indirect=True)
def test_each_parameter_at_the_ends_of_its_range(subject: Subject) -> None:
    assert subject.goes_on(4)
    for name in subject.nodes:
        for parameter in changeable(subject.nodes[name]):
            old = subject.nodes[name].values[parameter.name]
            if parameter.scalar_type is float:
                for number in HUGE:
                    accepted, reason = subject.set(name, parameter, filled(parameter, old, lambda n=number: n))
                    assert not accepted, f"{name}.{parameter.name} = {number}"
                    assert f"'{parameter.name}'" in reason
            for number in {parameter.minimum, parameter.maximum, *parameter.also_allowed}:
                accepted, reason = subject.set(name, parameter, filled(parameter, old, lambda n=number: n))
                assert "cannot be used" not in reason, reason
                if accepted and not subject.goes_on(1):
                    subject.renew()
            subject.set(name, parameter, old)


def drawn(parameter: Parameter, rng: random.Random) -> float:
    """A number in the range: an end, or drawn uniformly or by orders of magnitude."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.scalar_type is int:
        return rng.randint(int(low), int(high))
    case = rng.randrange(5)
    if case == 0 or low == high:
        return rng.choice((low, high, *parameter.also_allowed))
    if case < 3 or low < 0.0:
        share = rng.random() if case < 3 else rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-9.0, 0.0)
        return low + share * (high - low) if case < 3 else max(low, min(high, share * max(abs(low), abs(high))))
    least = max(low, 1e-9 * high)
    return min(high, least * (high / least) ** rng.random())


@pytest.mark.parametrize("subject", GRAPHS, indirect=True)
def test_random_vectors_of_accepted_values(subject: Subject) -> None:
    rng = random.Random(20260101)
    accepted = 0
    for _ in range(VECTORS):
        for name in subject.nodes:
            for parameter in changeable(subject.nodes[name]):
                # Some at a time: with all of them, most vectors contradict themselves.
                if rng.random() < 0.8:
                    continue
                value = filled(
                    parameter, subject.nodes[name].values[parameter.name], lambda one=parameter: drawn(one, rng)
                )
                successful, reason = subject.set(name, parameter, value)
                assert "cannot be used" not in reason, reason
                accepted += successful
        if not subject.goes_on(3):
            subject.renew()
    assert accepted > 10 * VECTORS
