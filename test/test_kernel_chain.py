"""Chains of kernels: order, statuses, and the time and draws that they work on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.kernels.chain import NEVER_NS, Due, StepTime, advance_time, gate, keeps
from rosflight_py_sim.kernels.jit import bound, chained
from rosflight_py_sim.physics.normal_draws import ROWS, NormalDraws
from rosflight_py_sim.physics.wind import copy_velocity
from rosflight_py_sim.sensing.errors import advance_errors

STEP_NS = 10


def library_links(runs: list[Callable[[], Any]]) -> list[Callable[[], Any]]:
    """The links as they are: the kernel library chains them."""
    return runs


def python_links(runs: list[Callable[[], Any]]) -> list[Callable[[], Any]]:
    """The links as functions that the kernel library cannot chain."""
    return [partial(run) for run in runs]


@pytest.mark.parametrize("made", [library_links, python_links])
def test_chain_runs_its_links_in_turn_until_one_has_a_status(made: Callable[[Any], Any]) -> None:
    time = StepTime(time_ns=0, step_ns=STEP_NS, until_ns=50)
    due, source, target = Due(at_ns=30), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    acted: list[int] = []
    link = gate(time, due, acted.append)
    chain = chained(made([bound(copy_velocity, source, target), link.run, bound(advance_time, time)]))
    assert chain(0) == (1, 1)
    assert (time.time_ns, target.tolist()) == (30, [1.0, 2.0, 3.0])
    link.attend(time.time_ns, 1)
    due.at_ns = NEVER_NS
    assert chain(2) == (2, 1)
    assert (time.time_ns, acted) == (50, [30])


def test_chain_refuses_a_link_that_it_does_not_have() -> None:
    chain = chained([bound(advance_time, StepTime(time_ns=0, step_ns=STEP_NS, until_ns=0))])
    with pytest.raises(IndexError):
        chain(1)


def test_error_of_a_kernel_ends_the_chain() -> None:
    chain = chained([bound(advance_errors, np.zeros((1, 8)), np.zeros(2), 0.0)])
    with pytest.raises(ValueError, match="greater than 0 s"):
        chain(0)


def test_links_draw_the_numbers_that_next_would_draw() -> None:
    ordinary, draws, row = *(NormalDraws(np.random.default_rng(5), 2) for _ in range(2)), np.zeros(2)
    for _ in range(3):
        next(ordinary)
        next(draws)
    link = draws.link(row)
    for _ in range(ROWS + 5):
        status = link.run()
        assert row.tolist() == next(ordinary).tolist()
        if status:
            link.attend(0, 1)
    link.leave(0)
    assert next(draws).tolist() == next(ordinary).tolist()


def test_link_that_is_not_used_draws_no_numbers() -> None:
    ordinary, draws = (NormalDraws(np.random.default_rng(5), 2) for _ in range(2))
    for _ in range(ROWS):
        next(ordinary)
        next(draws)
    draws.link(np.zeros(2))
    assert next(draws).tolist() == next(ordinary).tolist()


class Compiled:
    """A class whose `links` replace `answer`."""

    def links(self) -> None: ...

    def answer(self) -> None: ...


class Other(Compiled):
    """A class that answers in another way."""

    def answer(self) -> None: ...


class Further(Compiled):
    """A class that adds something else."""

    def more(self) -> None: ...


def test_links_do_not_replace_a_method_of_a_derived_class() -> None:
    assert keeps(Compiled, "links", "answer")
    assert keeps(Further, "links", "answer")
    assert not keeps(Other, "links", "answer")
