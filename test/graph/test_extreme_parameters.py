"""Any accepted value of any parameter: a refusal or a simulation that goes on, never the end of the process."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
import rclpy
from extreme_values import changeable, drawn, filled, numbers
from rclpy.parameter import Parameter as RosParameter

from rosflight_py_sim.graph.fleet import FLEET_PARAMETERS
from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.parameters import SMALLEST, Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.registry import registered, registered_class
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.wind_model import WindModel
from test.graph.extreme_subject import GRAPHS, Subject

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


class Failing(SimulationNode):
    """A node with a defect: some values that its table allows make `configure` fail."""

    DEFAULT_NAME = "failing"
    PARAMETERS = ParameterTable(
        Parameter("exponent", 1.0, "Exponent", minimum=0.0, maximum=1e6),
        Parameter("offset", 1.0, "Offset", minimum=0.0, maximum=1e6),
    )

    def configure(self, values: dict[str, Value]) -> None:
        self.result = math.exp(float(values["exponent"])) + float(values["offset"])  # type: ignore[arg-type]


class HalfConfigured(SimulationNode):
    """A node that has already replaced its objects when `configure` fails."""

    DEFAULT_NAME = "half_configured"
    PARAMETERS = ParameterTable(
        Parameter("rate", 1.0, "Rate", minimum=0.0, maximum=1e6),
        Parameter("limit", 5.0, "Limit", minimum=0.0, maximum=1e6),
    )

    def __init__(self, **arguments: Any) -> None:
        self.count = 0
        super().__init__(**arguments)

    def configure(self, values: dict[str, Value]) -> None:
        self.count += 1
        self.rate = values["rate"]
        self.limits = [float(values["limit"])]  # type: ignore[arg-type]
        if self.limits[0] > 10.0:
            raise RuntimeError(f"limit {self.limits[0]}")


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
def test_refusal_half_way_leaves_the_node_as_it_was() -> None:
    node = HalfConfigured()
    before = (dict(node.values), node.rate, node.limits, node.get_parameter("rate").value)
    for changes in ({"rate": 7.0, "limit": 100.0}, {"limit": 100.0, "rate": 7.0}, {"limit": 100.0}):
        result = node.set_parameters_atomically([RosParameter(name, value=value) for name, value in changes.items()])
        assert not result.successful
        assert "RuntimeError: limit 100.0" in result.reason
        assert (node.values, node.rate, node.limits, node.get_parameter("rate").value) == before
    # A check of rclpy, before `configure`.
    changes = [RosParameter("rate", value=7.0), RosParameter("use_sim_time", value="yes")]
    assert not node.set_parameters_atomically(changes).successful
    assert node.count == 1
    assert (node.values, node.rate, node.limits, node.get_parameter("rate").value) == before
    assert node.set_parameters_atomically([RosParameter("rate", value=7.0)]).successful
    assert (node.rate, node.limits) == (7.0, [5.0])
    node.destroy_node()


@pytest.mark.usefixtures("context")
def test_exception_in_configure_at_the_start_names_the_parameters() -> None:
    with pytest.raises(ParameterError, match=r"^exponent 100000 cannot be used: OverflowError: math range error$"):
        Failing(parameter_overrides=[RosParameter("exponent", value=1e5)])


@pytest.fixture
def subject(request: pytest.FixtureRequest, ros_domain: int, tmp_path: Any, monkeypatch: Any) -> Iterator[Subject]:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as closing:
        one = Subject(request.param, closing)
        yield one
        one.graph.close()


@pytest.mark.parametrize("subject", GRAPHS, indirect=True)
def test_each_parameter_at_the_ends_of_its_range(subject: Subject) -> None:
    assert subject.goes_on(4)
    for name in subject.varied:
        for parameter in changeable(subject.nodes[name].table):
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


@pytest.mark.parametrize("subject", GRAPHS, indirect=True)
def test_random_vectors_of_accepted_values(subject: Subject) -> None:
    rng = random.Random(20260101)
    accepted = 0
    for vector in range(VECTORS):
        for name in subject.varied:
            if vector % 5 == 0:
                accepted += set_atomically(subject.nodes[name], rng)
                continue
            for parameter in changeable(subject.nodes[name].table):
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
    assert accepted > 3 * VECTORS


def set_atomically(node: SimulationNode, rng: random.Random) -> int:
    """Set three numbers at once; return how many were set: all, or none."""
    chosen = rng.sample(changeable(node.table), k=min(3, len(changeable(node.table))))
    before = {one.name: node.values[one.name] for one in chosen}
    given = {one.name: filled(one, before[one.name], lambda one=one: drawn(one, rng)) for one in chosen}
    result = node.set_parameters_atomically([RosParameter(name, value=value) for name, value in given.items()])
    assert "cannot be used" not in result.reason, result.reason
    expected = given if result.successful else before
    assert {name: node.values[name] for name in before} == expected
    assert {name: as_list(node.get_parameter(name).value) for name in before} == expected
    return len(given) if result.successful else 0


def as_list(value: Any) -> Any:
    """A value of rclpy, which has arrays for lists."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


@pytest.mark.parametrize("subject", ["multirotor", "fixedwing", "auv", "jsbsim"], indirect=True)
def test_change_refused_after_it_was_applied_leaves_the_flight_as_it_was(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flight(*, disturbed: bool) -> dict[int, bytes]:
        """Truth vector at each time, ns."""
        subject.renew()
        states, refused = {}, 0
        for name, node in subject.nodes.items():
            for parameter in changeable(node.table):
                old = node.values[parameter.name]
                # Other numbers of parts contradict the lists of their values.
                if not isinstance(old, float) or not parameter.minimum <= 1.01 * old <= parameter.maximum:
                    continue
                if disturbed:
                    with monkeypatch.context() as patch:
                        patch.setattr(node, "configure", applied_then_refused(node))
                        accepted, _ = subject.set(name, parameter, 1.01 * old)
                    assert not accepted or old == 0.0
                    assert node.values[parameter.name] == node.get_parameter(parameter.name).value == old
                    refused += not accepted
            assert subject.goes_on(20)
            states |= {one.time_ns: one.truth.tobytes() for one in subject.truths}
        assert refused > 30 or not disturbed
        return states

    expected = flight(disturbed=False)
    assert len(expected) > 50
    assert flight(disturbed=True) == expected


def applied_then_refused(node: SimulationNode) -> Callable[[dict[str, Value]], None]:
    configure, calls = node.configure, [0]

    def applied(values: dict[str, Value]) -> None:
        configure(values)
        calls[0] += 1
        if calls[0] == 1:
            raise RuntimeError("after everything is applied")

    return applied
