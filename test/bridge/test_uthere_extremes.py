"""Guided flight by uThere programs with every accepted value of every parameter of the front-end."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator

import pytest
from extreme_values import changeable, drawn, filled

from rosflight_py_sim.bridge.uthere_front_end import UthereFrontEnd
from rosflight_py_sim.ground.parameters import ParameterError, Value
from test.bridge.uthere_bench import Program, UthereBench

VECTORS = 200

LINES = (
    "fly(plane=12345,roll=-15,pitch=10.3,throttle=65)",
    "fly(plane=12345,heading=265,airspeed=19.5,climb=5.0)",
    "fly(plane=12345,course=90,airspeed=60,altitude=300)",
)

PARAMETERS = changeable(UthereFrontEnd.PARAMETERS)


@pytest.fixture(params=["fixedwing", "multirotor"])
def bench(request: pytest.FixtureRequest) -> Iterator[UthereBench]:
    with contextlib.ExitStack() as closing:
        made = UthereBench(closing, controller=request.param)
        made.step()
        yield made


@pytest.fixture
def program(bench: UthereBench) -> Program:
    made = bench.program()
    made.send("data_request(variable=all,interval=0)")
    return made


def fly(bench: UthereBench, program: Program) -> int:
    """Fly each line; commands and data are finite. Returns the number of commands."""
    given = 0
    for line in LINES:
        program.send("fly_engage(plane=12345)", line)
        bench.read(2)
        bench.step(2)
        command = bench.commands[0]
        if command is not None:
            given += 1
            assert all(math.isfinite(value) for value in command.u), line
    assert not [packet for packet in program.packets() if "nan" in packet or "inf" in packet]
    return given


def configured(bench: UthereBench, values: dict[str, Value]) -> bool:
    """Whether the values are accepted; otherwise the front-end has its previous values."""
    before = bench.front_end.values
    try:
        bench.front_end.configure(values)
    except ParameterError:
        bench.front_end.configure(before)
        return False
    return True


def test_each_parameter_at_the_ends_of_its_range(bench: UthereBench, program: Program) -> None:
    usual = dict(bench.front_end.values)
    given = 0
    for parameter in PARAMETERS:
        for number in {parameter.minimum, parameter.maximum, *parameter.also_allowed}:
            value = filled(parameter, usual[parameter.name], lambda n=number: n)
            if configured(bench, {**usual, parameter.name: value}):
                given += fly(bench, program)
        assert configured(bench, usual)
    assert given > len(PARAMETERS)


def test_random_vectors_of_accepted_values(bench: UthereBench, program: Program) -> None:
    usual, rng = dict(bench.front_end.values), random.Random(20260101)
    accepted = given = 0
    for _ in range(VECTORS):
        values = dict(usual)
        for parameter in PARAMETERS:
            if rng.random() < 0.1:
                number = filled(parameter, usual[parameter.name], lambda one=parameter: drawn(one, rng))
                values[parameter.name] = number
        if configured(bench, values):
            accepted += 1
            given += fly(bench, program)
    assert accepted > VECTORS // 10 and given > 0
