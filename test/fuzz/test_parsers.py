"""Every parser accepts its input or rejects it with a documented error; `make fuzz` tries far more inputs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.mutations import mutated
from proof.parsers import CORPUS, PARSERS, kept_inputs


def test_every_parser_has_a_small_kept_corpus() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == PARSERS.keys()
    assert all(path.stat().st_size < 4096 for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("name", PARSERS)
def test_kept_inputs_cause_no_other_error(name: str) -> None:
    for data in kept_inputs(name):
        PARSERS[name].feed(data)


@pytest.mark.parametrize("name", PARSERS)
def test_changed_inputs_cause_no_other_error(name: str) -> None:
    for data in mutated(kept_inputs(name), 1, 200):
        PARSERS[name].feed(data)


@pytest.mark.parametrize("name", PARSERS)
@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=50)
def test_arbitrary_bytes_cause_no_other_error(name: str, data: bytes) -> None:
    PARSERS[name].feed(data)
