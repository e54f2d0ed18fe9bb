"""The line of `rosflight_py_sim --version`."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from rosflight_py_sim import __version__
from rosflight_py_sim.commands import cli
from rosflight_py_sim.commands.version import version_line
from rosflight_py_sim.ground.ros_distributions import DISTRIBUTIONS, RosDistribution, distribution_of, rclpy_version

PROGRAM = f"rosflight_py_sim {__version__}; "


@pytest.mark.parametrize("one", DISTRIBUTIONS, ids=lambda one: one.name)
def test_last_day_of_support_is_named_until_it_has_passed(one: RosDistribution) -> None:
    version = f"{one.rclpy}.3.1"
    line = version_line(version, {}, one.ends)
    name = f"{PROGRAM}ROS 2 {one.name.capitalize()} (rclpy {version}), "
    assert line == f"{name}supported until {one.ends}; middleware rmw_fastrtps_cpp"
    after = version_line(version, {}, one.ends + timedelta(days=1))
    assert after.startswith(f"{name}whose support ended on {one.ends}")


def test_line_after_the_end_names_distributions_that_are_supported() -> None:
    line = version_line("9.1.2", {}, date(2027, 1, 1))
    assert "ended on 2026-12-31 (supported: Jazzy until 2029-05-31, Lyrical until 2031-05-31); " in line
    assert "supported:" not in version_line("9.1.2", {}, date(2040, 1, 1))


def test_selected_middleware_is_named() -> None:
    line = version_line("7.1.5", {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}, date(2026, 6, 1))
    assert line.endswith("; middleware rmw_cyclonedds_cpp")


@pytest.mark.parametrize(
    ("version", "words"), [("", "no ROS 2"), ("3.3.1", "ROS 2 with rclpy 3.3.1, not tested with this program")]
)
def test_installation_without_a_known_distribution_is_described(version: str, words: str) -> None:
    assert version_line(version, {}, date(2026, 6, 1)).startswith(PROGRAM + words)


def test_option_prints_one_line_at_any_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    found = distribution_of(rclpy_version())
    (line,) = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert found is not None and f"ROS 2 {found.name.capitalize()} (rclpy {found.rclpy}." in line
