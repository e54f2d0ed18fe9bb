"""What setup.cfg cannot say: above all the files that ROS 2 tools look for under share/."""

from pathlib import Path

from setuptools import Distribution, setup

SHARE = Path("share/rosflight_py_sim")


class DistributionOfWheel(Distribution):
    """A wheel is for one Python and platform if tools/build_dist.py has added compiled kernels."""

    def has_ext_modules(self) -> bool:
        """Whether there is machine code."""
        return Path("rosflight_py_sim/kernels/compiled").is_dir()


def shared_files(folder: str, pattern: str) -> list[tuple[str, list[str]]]:
    """Destination folder and source files, for every file in `folder` that matches."""
    paths = sorted(path for path in Path(folder).glob(pattern) if path.is_file())
    return [(str(SHARE / path.parent), [str(path)]) for path in paths]


setup(
    distclass=DistributionOfWheel,
    python_requires=">=3.10",  # setup.cfg would make an object of it, which colcon cannot read
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/rosflight_py_sim"]),
        (str(SHARE), ["package.xml"]),
        *shared_files("config", "**/*.yaml"),
        *shared_files("config", "**/*.parm"),
        *shared_files("config", "**/*.rviz"),
        *shared_files("config", "**/px4-rc.params"),
        *shared_files("docs/examples", "*.py"),
        *shared_files("docs/examples/ardupilot_stand_in", "*.py"),
        *shared_files("docs/examples/px4_stand_in", "*.py"),
        *shared_files("launch", "*.launch.py"),
    ],
)
