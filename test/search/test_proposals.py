"""Proposals of a search after generations whose robustness says little."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from sample_searches import write_search

from rosflight_py_sim.search.proposals import Proposals
from rosflight_py_sim.sweep.sweep_file import read_sweep


@pytest.mark.parametrize("most", [3.0, math.inf])
def test_generation_of_which_most_are_equally_robust_is_learned_by_its_order(tmp_path: Path, most: float) -> None:
    quantities = read_sweep(write_search(tmp_path)).quantities
    learned, drawn = Proposals(quantities, 1), Proposals(quantities, 1)
    for proposals, robustness in ((learned, most), (drawn, 3.0)):
        generation = proposals.next()
        least = int(np.argmax([one.distance for one in generation]))
        with warnings.catch_warnings():
            # The optimizer must not compute with an empty or infinite range.
            warnings.simplefilter("error")
            proposals.learn([(one, 1.0 if number == least else robustness) for number, one in enumerate(generation)])
    assert [one.values for one in learned.next()] == [one.values for one in drawn.next()]
