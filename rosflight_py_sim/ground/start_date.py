"""Date of simulated time 0, from the parameter `start_date`."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from rosflight_py_sim.ground.parameters import ParameterError, Values
from rosflight_py_sim.ground.shared_parameters import START_DATE

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def start_of(values: Values) -> datetime:
    """Date and time of simulated time 0, with its offset from UTC.

    Raises:
        ParameterError: start_date is not a date.
    """
    text = str(values[START_DATE.name])
    try:
        date = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError:
        raise ParameterError(
            f"parameter '{START_DATE.name}': '{text}' given; allowed: a date in ISO 8601, such as {START_DATE.default}"
        ) from None
    return date if date.tzinfo else date.replace(tzinfo=timezone.utc)


def unix_ns(date: datetime) -> int:
    """Time since the Unix epoch, ns."""
    return (date - _UNIX_EPOCH) // timedelta(microseconds=1) * 1000


def year_of(date: datetime) -> float:
    """The date as a year with the elapsed share of the year as decimals."""
    utc = date.astimezone(timezone.utc)
    begin, end = (datetime(year, 1, 1, tzinfo=timezone.utc) for year in (utc.year, utc.year + 1))
    return utc.year + (utc - begin) / (end - begin)
