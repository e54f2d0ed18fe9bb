"""What a ROS 2 distribution with rosdep provides of the packages that this project imports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

KEYS = {
    "PyYAML": "python3-yaml",
    "opencv-python-headless": "python3-opencv",
    "pygame-ce": "python3-pygame",
    "pyzmq": "python3-zmq",
}
"""rosdep's key of a requirement in setup.cfg, where it is not python3- and the requirement's name."""

WITHOUT_KEY = {
    "SALib": ("SALib",),
    "cmaes": ("cmaes",),
    "gymnasium": ("gymnasium",),
    "jsbsim": ("jsbsim",),
    "mcap": ("mcap",),
    "mcap-ros2-support": ("mcap_ros2",),
    "onnxruntime": ("onnxruntime",),
    "panda3d": ("panda3d",),
    "pyarrow": ("pyarrow",),
    "pygeomag": ("pygeomag",),
    "pymavlink": ("pymavlink",),
    "pyulog": ("pyulog",),
    "ray": ("ray",),
    "viser": ("viser", "websockets"),
    "zstandard": ("zstandard",),
}
"""Requirements without a key of rosdep's for a package of Debian and Ubuntu, and their modules."""


def rosdep_key(requirement: str) -> str:
    """rosdep's key of a requirement in setup.cfg."""
    return KEYS.get(requirement, "python3-" + requirement.lower().replace("_", "-"))


def of_a_distribution_alone(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables of a program that finds only packages with a key."""
    return without((module for modules in WITHOUT_KEY.values() for module in modules), environment)


def without(modules: Iterable[str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables of a program for which some top-level modules are not installed."""
    folder = str(Path(__file__).with_name("hidden_packages"))
    paths = [folder, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(filter(None, paths))
    return {**environment, "PYTHONPATH": path, "HIDDEN_PACKAGES": " ".join(modules)}
