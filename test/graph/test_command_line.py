"""The command rosflight_py_sim, run as users run it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rosflight_py_sim import __version__
from test.graph.conftest import small_square

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = ("-m", "rosflight_py_sim")
WIND = Path(__file__).parents[2] / "config" / "wind.yaml"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["sim", "fly", "COMMAND"]),
        (["sim", "--help"], ["--time-mode", "--duration", "--real-time-multiplier", "--params-file", "--ros-args"]),
        (["fly", "--help"], ["--output", "--seed", "--vehicle", "multirotor"]),
        (["--version"], [f"rosflight_py_sim {__version__};"]),
    ],
)
def test_help_is_printed(command_line: Run, arguments: list[str], words: list[str]) -> None:
    result = command_line(*PROGRAM, *arguments)
    assert result.returncode == 0
    for word in words:
        assert word in result.stdout


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["uthere-terminal"], "prompt_toolkit", "terminal"),
        (["trim", "--airspeed", "0"], "scipy", "trim"),
        (["fly", "--gif", "flight.gif"], "panda3d", "auv,plot"),
    ],
)
def test_missing_optional_package_error_names_the_extra(
    command_line: Run, arguments: list[str], package: str, extra: str
) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from rosflight_py_sim.commands.cli import main; main()"
    result = command_line("-c", program, *arguments)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert f"needs {package} " in line and line.endswith(f"pip install 'rosflight_py_sim[{extra}]'")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, ["COMMAND"]),
        (["hover"], 2, ["hover"]),
        (["sim", "--vehicle", "balloon"], 1, ["vehicle 'balloon' given", "allowed: ", "aerosonde"]),
        (["sim", "--params-file", "/no/such.yaml"], 1, ["'/no/such.yaml'", "No such file"]),
        (["sim", "--seed", "-4"], 1, ["'seed'", "-4 given", "from 0"]),
        (["sim", "--ros-args", "-p", "mass:=0.0"], 1, ["'mass'", "0.0 given", "from 1e-06 to 1e+06 kg"]),
        (["sim", "--ros-args", "-p", "dynamics:masss:=1.0"], 1, ["no parameter 'masss'", "'mass'"]),
        (["sim", "--ros-args", "-p", "step_size:=9.0"], 1, ["'step_size'", "9.0 given", "0.02 s"]),
        (
            ["sim", "--real-time-multiplier", "-1"],
            1,
            ["'real_time_multiplier'", "-1.0 given", "from 0.001 to 1e+06, or 0"],
        ),
        (
            ["sim", "--time-mode", "wall", "--real-time-multiplier", "2"],
            1,
            ["real_time_multiplier 2.0 given", "time mode wall runs on system time", "paced, gated or lockstep"],
        ),
        (["sim", "--flight-controller", "betaflight"], 2, ["betaflight", "sil_board", "ardupilot", "px4"]),
        (
            ["sim", "--vehicle", "fixedwing", "--dynamics", "jsbsim", "--flight-controller", "ardupilot"],
            1,
            ["flight controller 'ardupilot' given for vehicle 'fixedwing'", "allowed: sil_board"],
        ),
        (
            ["sim", "--vehicle", "auv", "--autopilot"],
            1,
            [
                "autopilot requested with flight controller 'auv_zeromq'",
                "'underwater_autopilot'",
                "allowed: auv_controller",
            ],
        ),
        (
            ["sim", "--vehicle", "anaconda", "--flight-controller", "uthere", "--autopilot"],
            1,
            ["autopilot requested with flight controller 'uthere'", "allowed: sil_board"],
        ),
        (["sim", "--time-mode", "slow"], 2, ["slow", "lockstep", "paced", "wall"]),
        (["sim", "--firmware-file", "/no/such.yaml"], 2, ["/no/such.yaml"]),
        (["fly", "--ros-args", "-p", "square_side:=-1.0"], 1, ["'square_side'", "-1.0 given", "m"]),
        (["fly", "--gif", "flight.mp4"], 1, ["--gif: 'flight.mp4' given", "ends in .gif"]),
        (["fly", "--gif", "/no/such/one.gif"], 1, ["--gif: '/no/such/one.gif' given", "cannot be written"]),
    ],
)
def test_invalid_arguments_are_rejected_with_clear_message(
    command_line: Run, arguments: list[str], code: int, words: list[str]
) -> None:
    result = command_line(*PROGRAM, *arguments)
    assert result.returncode == code, result.stdout + result.stderr
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("mode", ["lockstep", "paced", "wall"])
def test_sim_exits_after_its_duration(command_line: Run, mode: str) -> None:
    pace = {"lockstep": ["--real-time-multiplier", "0"], "paced": ["--real-time-multiplier", "2"], "wall": []}
    result = command_line(*PROGRAM, "sim", "--duration", "0.3", "--time-mode", mode, *pace[mode])
    assert result.returncode == 0, result.stderr
    assert f"multirotor is running ({mode})" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("wind", "limit_m"),
    # Largest permitted RMS error: half a metre in calm air, a metre in turbulent wind.
    [("calm", 0.5), ("turbulent", 1.0)],
)
def test_fly_flies_the_square_and_reports_it(command_line: Run, tmp_path: Path, wind: str, limit_m: float) -> None:
    calm = tmp_path / "calm.yaml"
    calm.write_text("/**/dynamics:\n  ros__parameters: {sim_has_wind: false, turbulence_model: none}\n")
    file = calm if wind == "calm" else WIND
    result = command_line(
        *PROGRAM,
        "fly",
        "--output",
        "shown",
        "--params-file",
        str(file),
        "--seed",
        "3",
        "--namespace",
        "uav",
        "--gif",
        "film.gif",
        *small_square(4.0, 2.5),
        *("-p", "step_size:=0.005"),
        timeout_s=110,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    error = re.search(r"racking error.*?([0-9.]+) m", result.stdout)
    assert error is not None, result.stdout
    assert float(error[1]) < limit_m
    for word in ("completed", "simulated time", "real-time factor", "battery"):
        assert word in result.stdout.lower()
    pictures = list((tmp_path / "shown").glob("*.png"))
    assert len(pictures) == 1
    assert str(pictures[0].resolve()) in result.stdout
    from matplotlib.image import imread

    pixels = imread(pictures[0])
    assert min(pixels.shape[:2]) > 300
    # Lines and text on a background: neither blank nor full.
    assert 0.01 < (pixels[..., :3].min(axis=2) < 0.7).mean() < 0.9
    _check_film(tmp_path / "film.gif")
    assert f"film: {(tmp_path / 'film.gif').resolve()}" in result.stdout


def _check_film(path: Path) -> None:
    """A film of ten seconds, small enough for a page, in which the vehicle moves from image to image."""
    from PIL import Image

    assert path.stat().st_size < 2e6
    with Image.open(path) as film:
        assert film.format == "GIF" and film.size == (480, 270)
        images = []
        for k in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(k)
            images.append(np.asarray(film.convert("RGB")).astype(float))
    assert 95 <= len(images) <= 105
    changed = [float((abs(one - other).max(axis=2) > 40.0).mean()) for one, other in pairwise(images)]
    assert sum(share > 0.002 for share in changed) > 0.8 * len(changed)
    # Sky above, ground below.
    assert all(image[:20, :, 2].mean() > 200.0 and image[200:240, :, 2].mean() < 160.0 for image in images)


INTERRUPTED_WHILE_STARTING = """
import os, signal, sys, threading, rclpy
init = rclpy.init
def init_and_interrupt(**arguments):
    init(**arguments)
    threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
rclpy.init = init_and_interrupt
from rosflight_py_sim.commands.cli import main
main(["sim", "--ros-args", "--log-level", "warn"])
"""


@pytest.mark.parametrize("delay_s", [0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3])
def test_ctrl_c_while_the_graph_starts_ends_the_command(command_line: Run, delay_s: float) -> None:
    result = command_line("-c", INTERRUPTED_WHILE_STARTING, str(delay_s), timeout_s=30.0)
    assert (result.returncode, result.stderr) == (130, "")


@pytest.mark.parametrize("words", [("sim",), ("status", "--once"), ("inject", "motor 1 off"), ("hand-over",)])
def test_missing_security_files_are_reported_in_one_line(
    command_line: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "keys" / "enclaves").mkdir(parents=True)
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(tmp_path / "keys"))
    result = command_line(*PROGRAM, *words)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("rosflight_py_sim: error creating node: ")
