"""The date of simulated time 0."""

import pytest

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.start_date import start_of, unix_ns, year_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-07-01T12:00:00Z", 1_782_907_200.0),
        ("2026-07-01T12:00:00", 1_782_907_200.0),
        ("2026-07-01T14:00:00.250+02:00", 1_782_907_200.25),
        ("2026-07-01", 1_782_864_000.0),
    ],
)
def test_date_is_utc_unless_it_has_an_offset(text, seconds):
    assert unix_ns(start_of({"start_date": text})) == round(seconds * 1000) * 1_000_000


@pytest.mark.parametrize(
    ("text", "year"), [("2026-01-01", 2026.0), ("2026-07-02T12:00:00Z", 2026.5), ("2028-07-02T00:00:00Z", 2028.5)]
)
def test_year_has_the_elapsed_share_as_decimals(text, year):
    assert year_of(start_of({"start_date": text})) == pytest.approx(year, abs=1e-9)


@pytest.mark.parametrize("text", ["", "today", "2026-13-01", "01.02.2026"])
def test_text_that_is_no_date_is_refused(text):
    with pytest.raises(ParameterError, match=r"start_date.*given; allowed: a date in ISO 8601"):
        start_of({"start_date": text})
