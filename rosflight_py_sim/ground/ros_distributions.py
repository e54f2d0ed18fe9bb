"""ROS 2 distributions: the one that is installed, and until when each is supported."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class RosDistribution(NamedTuple):
    """A distribution.

    Attributes:
        name: as of ROS_DISTRO.
        rclpy: first number of the version of its rclpy, which no other distribution has.
        fast_dds: first number of the version of its Fast DDS.
        ends: last day of its support.
        wheels: whether `make ROS=name` installs it from PyPI.
    """

    name: str
    rclpy: int
    fast_dds: int
    ends: date
    wheels: bool


DISTRIBUTIONS = (
    RosDistribution("jazzy", 7, 2, date(2029, 5, 31), wheels=True),
    RosDistribution("kilted", 9, 3, date(2026, 12, 31), wheels=True),
    RosDistribution("lyrical", 10, 3, date(2031, 5, 31), wheels=False),
)
"""Distributions that this package names, as of docs/distributions.md."""


def rclpy_version() -> str:
    """Version of the installed rclpy, empty if there is none."""
    from importlib import metadata  # takes 20 ms, and nodes that inherit their environment do not need it

    try:
        return metadata.version("rclpy")
    except metadata.PackageNotFoundError:
        return ""


def distribution_of(version: str) -> RosDistribution | None:
    """The distribution with this version of rclpy; None if it is not one of DISTRIBUTIONS."""
    return next((one for one in DISTRIBUTIONS if version.startswith(f"{one.rclpy}.")), None)


def description(version: str, today: date) -> str:
    """Description of the distribution with this version of rclpy, on this day."""
    if not version:
        return "no ROS 2"
    found = distribution_of(version)
    if found is None:
        return f"ROS 2 with rclpy {version}, not tested with this program"
    name = f"ROS 2 {found.name.capitalize()} (rclpy {version})"
    if today <= found.ends:
        return f"{name}, supported until {found.ends}"
    later = ", ".join(f"{one.name.capitalize()} until {one.ends}" for one in DISTRIBUTIONS if today <= one.ends)
    return f"{name}, whose support ended on {found.ends}" + (f" (supported: {later})" if later else "")
