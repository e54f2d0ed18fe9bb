"""Chains of kernels: order, statuses, and the time and draws that they work on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from rosflight_py_sim.kernels.chain import NEVER_NS, ChainLink, Due, StepTime, advance_time, copy_numbers, gate, keeps
from rosflight_py_sim.kernels.jit import bound, chained, run_chains
from rosflight_py_sim.physics.normal_draws import ROWS, NormalDraws
from rosflight_py_sim.physics.wind import copy_velocity
from rosflight_py_sim.sensing.errors import advance_errors
from rosflight_py_sim.step.schedule import Schedule

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


@pytest.mark.parametrize("made", [library_links, python_links])
def test_several_chains_run_until_each_has_stopped(made: Callable[[Any], Any]) -> None:
    times = [StepTime(time_ns=0, step_ns=STEP_NS, until_ns=10 * lane) for lane in (1, 5, 2)]
    dues = [Due(at_ns=at_ns) for at_ns in (100, 30, 0)]
    chains = [
        chained(made([gate(time, due, lambda _: None).run, bound(advance_time, time)]))
        for time, due in zip(times, dues, strict=True)
    ]
    at, status = np.array([0, 1, 1]), np.zeros(3, dtype=np.int64)
    run_chains(chains, at, status)
    assert (at.tolist(), status.tolist()) == ([1, 0, 0], [1, 1, 1])
    assert [time.time_ns for time in times] == [10, 30, 10]


def test_several_chains_stop_at_the_error_of_one() -> None:
    time = StepTime(time_ns=0, step_ns=STEP_NS, until_ns=10)
    at = np.array([0, 7])
    with pytest.raises(IndexError):
        run_chains([chained([bound(advance_time, time)])] * 2, at, np.zeros(2, dtype=np.int64))
    assert time.time_ns == 10


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


def test_action_that_is_due_is_left_to_python_in_the_rest_of_a_step_in_which_the_chain_is_left() -> None:
    time, schedule = StepTime(time_ns=0, step_ns=STEP_NS, until_ns=1000), Schedule(1e9 / (3 * STEP_NS))
    source, target = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    by_python: list[int] = []
    left: list[int] = []
    links = schedule.links(time, [ChainLink(bound(copy_numbers, source, target))], by_python.append, left.append)
    leaves = [one.leave for one in links]
    stop = gate(time, Due(at_ns=45), by_python.append)
    chain = chained([stop.run, *(one.run for one in links), bound(advance_time, time)])
    # Due at 0 and 30; the chain stops at 50.
    assert chain(0) == (0, 1)
    assert (time.time_ns, target.tolist()) == (50, [1.0, 2.0, 3.0])
    target[:] = 0.0
    for leave in (*leaves, *leaves):
        leave(40)
    assert (left, schedule.since_ns, schedule.next_ns) == ([40], 30, 60)
    index, status = chain(1)
    assert (index, status) == (1, 1)
    links[0].attend(time.time_ns, status)
    assert by_python == [50]
    # The stop follows in the next step, and the links have not run.
    assert chain(2) == (0, 1)
    assert target.tolist() == [0.0, 0.0, 0.0]


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
