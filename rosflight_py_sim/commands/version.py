"""The option --version: versions of the program and of ROS 2, without loading ROS 2."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from datetime import date
from typing import Any

from rosflight_py_sim import __version__
from rosflight_py_sim.ground.ros_distributions import description, rclpy_version

# The default of every distribution that this package names.
_MIDDLEWARE = "rmw_fastrtps_cpp"


def version_line(rclpy: str, environment: Mapping[str, str], today: date) -> str:
    """The line that --version prints.

    Args:
        rclpy: version of the installed rclpy; empty if there is none.
        environment: environment variables, of which RMW_IMPLEMENTATION selects the middleware.
        today: date with which the end of the distribution's support is compared.
    """
    facts = [f"rosflight_py_sim {__version__}", description(rclpy, today)]
    if rclpy:
        facts.append(f"middleware {environment.get('RMW_IMPLEMENTATION') or _MIDDLEWARE}")
    return "; ".join(facts)


class PrintVersion(argparse.Action):
    """Print the line and exit. argparse's own action would break the line at the width of the terminal."""

    def __init__(self, **arguments: Any) -> None:
        """Set up as an option without a value."""
        super().__init__(nargs=0, **arguments)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print."""
        print(version_line(rclpy_version(), os.environ, date.today()))
        parser.exit()
