"""Location of the vehicle configurations and launch files, for every kind of installation."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = "rosflight_py_sim"


def share_directory(module: Path = Path(__file__)) -> Path:
    """Folder that holds `config/` and `launch/`, independent of the working directory.

    Searched in this order, so that the files always belong to the running code:

    1. the source tree, if the code runs from it (an editable or a `--symlink-install`ed package);
    2. `share/rosflight_py_sim` of the prefix that holds the code (pip, or a colcon install folder);
    3. the ament index, for installations that keep code and data under different prefixes.

    Args:
        module: a file in a room of the running package; by default this one.

    Raises:
        FileNotFoundError: the package was installed without its data.
    """
    package = module.resolve().parents[1]
    if _is_ours(package.parent):
        return package.parent
    for prefix in package.parents:
        if _is_ours(prefix / "share" / PACKAGE):
            return prefix / "share" / PACKAGE
    try:
        from ament_index_python.packages import PackageNotFoundError, get_package_share_path
    except ModuleNotFoundError:
        searched = "and there is no ament index"
    else:
        try:
            return Path(get_package_share_path(PACKAGE))
        except (PackageNotFoundError, OSError):  # OSError: AMENT_PREFIX_PATH is not set
            searched = "nor is it in the ament index (AMENT_PREFIX_PATH)"
    raise FileNotFoundError(
        f"the configuration files of {PACKAGE} are not installed: no share/{PACKAGE}/package.xml above {package}, "
        f"{searched}; install the package again with pip or colcon"
    )


def installed_shares() -> list[Path]:
    """Folders with the files of the installed ROS packages: `share` of each prefix in AMENT_PREFIX_PATH."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(prefix) / "share" for prefix in prefixes if Path(prefix).is_absolute()]


def _is_ours(folder: Path) -> bool:
    manifest = folder / "package.xml"
    return manifest.is_file() and f"<name>{PACKAGE}</name>" in manifest.read_text(encoding="utf-8")
