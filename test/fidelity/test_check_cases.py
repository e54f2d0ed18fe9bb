"""NASA's check-cases, flown through the node graph, stay within the band of NASA's simulators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import check_cases
import numpy as np
import pytest
from check_cases import CASES, KINDS, bands, flown
from test_fidelity_page import assert_drawn_and_on_the_page


@pytest.fixture(scope="module", autouse=True)
def _long_steps() -> Iterator[None]:
    """Half as many steps as for the page: the bands are as narrow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_cases, "STEP_S", 0.005)
        yield


@pytest.fixture(autouse=True)
def _domain(ros_domain: int) -> None:
    """A separate domain for the graph."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_case_is_within_the_band_of_the_simulators(case: int, kind: str) -> None:
    for name in KINDS[kind]:
        band, values = bands(case)[name], flown(case)[name]
        excess = band.outside(values) - band.tolerance
        worst = int(np.argmax(excess))
        assert excess[worst] <= 0.0, f"{name} after {worst} s: {values[worst]!r} with {band}"


def test_every_case_is_flown_to_its_end() -> None:
    assert {len(flown(case)["altitude"]) for case in CASES} == {31}


def test_cases_are_distinguished() -> None:
    """The bands are narrow enough to be meaningful: no case fits the band of the most similar case."""
    for one, other in ((1, 6), (4, 5), (5, 6), (6, 7), (7, 8)):
        assert any(np.any(bands(other)[n].outside(flown(one)[n]) > bands(other)[n].tolerance) for n in flown(one))


def test_page_has_all_cases() -> None:
    assert len(list(check_cases.comparisons())) == len(CASES) * len(KINDS)


def test_cases_are_drawn_and_their_comparisons_are_on_the_page(tmp_path: Path) -> None:
    assert_drawn_and_on_the_page("check_cases", tmp_path)
