"""Build the documentation site of this state in build/docs, and of each released version below it, for `make docs`.

The versions are git tags such as v1.0.0. A version that is there already is not built again. Each page links to
versions.html, which lists them all.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
SITE = PROJECT / "build" / "docs"

VERSIONS = "versions"
"""Folder of the released versions in the site."""


def main() -> int:
    """Return the exit status of the last build; further arguments are options of Sphinx."""
    for version in released():
        if not (SITE / VERSIONS / version).is_dir() and (status := build_released(version)):
            return status
    status = build(PROJECT, SITE, "-d", str(PROJECT / "build" / "doctrees"), *sys.argv[1:])
    if status == 0:
        (SITE / f"{VERSIONS}.html").write_text(versions_page(released()), encoding="utf-8")
        print(f"site: {(SITE / 'index.html').relative_to(PROJECT)}")
    return status


def released(folder: Path = PROJECT) -> list[str]:
    """Released versions of a repository, the newest first."""
    listed = subprocess.run(
        [shutil.which("git") or "git", "tag", "--list", "v[0-9]*"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [tag[1:] for tag in listed.stdout.split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    return sorted(found, key=lambda version: tuple(map(int, version.split("."))), reverse=True)


def build_released(version: str, repository: Path = PROJECT, site: Path = SITE) -> int:
    """Build the site of a released version from the files under its tag; return Sphinx's exit status."""
    git = [shutil.which("git") or "git", "archive", f"v{version}"]
    files = subprocess.run(git, cwd=repository, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            # Python before 3.11.4 has no filters. The files are the project's own.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)  # noqa: S202
        built, trees = Path(folder) / "build" / "site", Path(folder) / "build" / "doctrees"
        status = build(Path(folder), built, "-d", str(trees), "-A", f"versions_page=../../{VERSIONS}.html")
        # A site with errors would count as built the next time.
        if status == 0:
            shutil.copytree(built, site / VERSIONS / version)
        return status


def build(source: Path, target: Path, *options: str) -> int:
    """Build the site of the sources in a folder; return Sphinx's exit status."""
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", "docs", *options]
    return subprocess.run([*words, ".", str(target)], cwd=source, check=False).returncode


def versions_page(versions: list[str]) -> str:
    """HTML of the list of versions, and of this state."""
    entries = ["<li><a href='docs/index.html'>this state</a></li>"]
    entries += [f"<li><a href='{VERSIONS}/{one}/docs/index.html'>{one}</a></li>" for one in versions]
    title = "Versions of the documentation of rosflight_py_sim"
    return f"<!doctype html><meta charset='utf-8'><title>{title}</title><h1>{title}</h1><ul>{''.join(entries)}</ul>\n"


if __name__ == "__main__":
    sys.exit(main())
