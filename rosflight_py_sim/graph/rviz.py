"""RViz and its configuration, for the launch files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml

from rosflight_py_sim.ground.coordinate_frames import BASE_LINK
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.resources import share_directory
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.viewer.frame_tree import prefixed

CONFIG = share_directory() / "config" / "rosflight_py_sim.rviz"
"""Configuration for one vehicle without a namespace."""

# Topics of the visualizer, which serves all vehicles; all other topics belong to one vehicle.
_SHARED = "/rviz/"


def require_rviz() -> None:
    """Check that RViz is installed.

    Raises:
        ParameterError: it is not installed.
    """
    try:
        from ament_index_python.packages import PackageNotFoundError, get_package_prefix
    except ModuleNotFoundError as error:
        raise ParameterError(_missing("there is no ament index")) from error
    try:
        get_package_prefix("rviz2")
    except (PackageNotFoundError, OSError) as error:  # OSError: AMENT_PREFIX_PATH is not set
        raise ParameterError(_missing("it is not in the ament index")) from error


def _missing(reason: str) -> str:
    return (
        f"launch argument 'rviz': 'true' given, but rviz2 is not installed ({reason}): install ros-DISTRO-rviz2, or "
        "give visualizer:=true and start RViz on another machine"
    )


def config_file(namespace: str, vehicle: str, *, has_cameras: bool) -> Path:
    """The configuration, adapted to a simulation.

    Args:
        namespace: namespace of the simulation.
        vehicle: namespace of the vehicle to follow, relative to it.
        has_cameras: whether to show camera images.
    """
    if not namespace and not vehicle and not has_cameras:
        return CONFIG
    config = fitted(yaml.safe_load(CONFIG.read_text(encoding="utf-8")), namespace, vehicle, has_cameras=has_cameras)
    with tempfile.NamedTemporaryFile("w", suffix=".rviz", delete=False, encoding="utf-8") as file:
        yaml.safe_dump(config, file, sort_keys=False)
    return Path(file.name)


def fitted(config: dict[str, Any], namespace: str, vehicle: str, *, has_cameras: bool) -> dict[str, Any]:
    """The configuration with this vehicle's topics and frames; see `config_file`."""
    whole = absolute_name(namespace, vehicle)
    manager = config["Visualization Manager"]
    for display in manager["Displays"]:
        if "Topic" in display:
            topic = display["Topic"]["Value"]
            display["Topic"]["Value"] = absolute_name(namespace if topic.startswith(_SHARED) else whole, topic)
        if display["Class"].endswith("/Image"):
            display["Enabled"] = display["Value"] = has_cameras
        if display["Class"].endswith("/TF"):
            display["Frames"][prefixed(whole, BASE_LINK)] = display["Frames"].pop(BASE_LINK)
    manager["Views"]["Current"]["Target Frame"] = prefixed(whole, BASE_LINK)
    return config
