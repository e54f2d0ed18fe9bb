"""tools/install_lock.py passes pip's configuration on to uv."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from project_programs import project_program

PROJECT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture(scope="module")
def tool() -> Any:
    return project_program("tools/install_lock.py")


def test_indexes_folders_and_hosts_of_pip_become_options_of_uv(
    tool: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "pip.conf"
    file.write_text(
        "[global]\nindex-url = https://one/simple\nextra-index-url = https://two/simple\n  https://three/s\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_INDEX_URL", "https://nearer/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "nearer")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    options = " ".join(tool.uv_options(tool.pip_settings()))
    assert "--index-url https://nearer/simple --extra-index-url https://two/simple" in options
    assert "--extra-index-url https://three/s" in options
    assert "--find-links /wheels" in options
    assert "--allow-insecure-host nearer" in options
    assert options.endswith("--no-index")


def test_certificates_proxy_and_timeout_of_pip_become_variables_of_uv(
    tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("CERT", "/ca.crt"), ("PROXY", "http://proxy:3128"), ("DEFAULT_TIMEOUT", "9")):
        monkeypatch.setenv(f"PIP_{name}", value)
    variables = tool.uv_variables(tool.pip_settings())
    assert variables == {"SSL_CERT_FILE": "/ca.crt", "ALL_PROXY": "http://proxy:3128", "UV_HTTP_TIMEOUT": "9"}


LOCK = """\
# made by a tool
a-b==1 \\
    --hash=sha256:1
    # via c
numpy==2 ; python_full_version < '3.11' \\
    --hash=sha256:2 \\
    --hash=sha256:3
numpy==3 ; python_full_version >= '3.11' \\
    --hash=sha256:4
ros-rclpy[fastrtps]==9 \\
    --hash=sha256:5
"""


def test_entries_of_a_package_in_the_lock_have_their_hashes(tool: Any) -> None:
    assert tool.pinned("a-b", LOCK) == "a-b==1 \\\n    --hash=sha256:1\n    # via c\n"
    assert [len(entry.splitlines()) for name, entry in tool.entries(LOCK) if name == "numpy"] == [3, 2]
    with pytest.raises(SystemExit, match="lacks pip; run make lock"):
        tool.pinned("pip", LOCK)


def test_another_distribution_replaces_the_ros_packages_alone(
    tool: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tool, "LOCK", tmp_path / "requirements.lock")
    (tmp_path / "requirements.lock").write_text(LOCK)
    (tmp_path / "requirements-jazzy.lock").write_text("ros-rclpy==7 \\\n    --hash=sha256:6\n")
    assert tool.lock_for(None) == LOCK
    names = [entry.partition(" ")[0] for _, entry in tool.entries(tool.lock_for("jazzy"))]
    assert names == ["a-b==1", "numpy==2", "numpy==3", "ros-rclpy==7"]
