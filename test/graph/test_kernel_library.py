"""The kernel library holds all kernels that flights call, and gives numba's results."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.library import fill_cache
from rosflight_py_sim.kernels.signatures import Argument, arguments_of
from rosflight_py_sim.vehicles import all_vehicles
from test.tools.free_ports import free_ports

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
UTHERE_PORTS = ("uthere.udp_port_in", "uthere.udp_port_out")

pytestmark = [
    pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled here"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder filled by `rosflight_py_sim compile`."""
    assert jit.LIBRARY is not None, "run `rosflight_py_sim compile` first, as `make test` does"
    folder = tmp_path_factory.mktemp("cache")
    compiled = jit.library_path().parent
    shutil.copytree(compiled, folder / compiled.parent.name / compiled.name)
    return folder


@pytest.fixture(scope="module")
def numba_only(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of a program that finds no library, but numba's cache with all kernels of the same sources."""
    fill_cache()
    folder = tmp_path_factory.mktemp("without_library")
    return {"XDG_CACHE_HOME": str(folder), "NUMBA_CACHE_DIR": str(jit.library_path().parent)}


def test_every_kernel_is_in_the_library() -> None:
    """Parts of kernels are excepted: they are inlined."""
    assert jit.LIBRARY is not None
    left = []
    for source, text in jit.kernel_sources():
        words = (ROOT / "rosflight_py_sim").name, *source.relative_to(ROOT / "rosflight_py_sim").with_suffix("").parts
        module = import_module(".".join(words))
        names = re.findall(rb"^@kernel\ndef (\w+)", text, re.MULTILINE)
        assert len(names) == len(re.findall(rb"^@kernel$", text, re.MULTILINE)), module.__name__
        for name in map(bytes.decode, names):
            if isinstance(getattr(module, name), jit.Kernel):
                left.append(f"{module.__name__}.{name}")
    assert left == []


def test_compile_command_accepts_the_library_without_complaint(command_line: Run, cache: Path) -> None:
    done = command_line("-m", "rosflight_py_sim", "compile", XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert str(cache) in done.stdout


@pytest.fixture(scope="module")
def flown_without_numba(
    claim_domain: Callable[[], AbstractContextManager[int]], cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, int], dict[str, str]]:
    """Number of pictures of each flight without an exception, and stderr of each flight, by vehicle and dynamics.

    One new interpreter runs all flights.
    """
    names = ("auv_zeromq.image_port", "auv_zeromq.thruster_port", "auv_zeromq.telemetry_port", *UTHERE_PORTS)
    ports = [
        word for port in zip(names, free_ports(len(names)), strict=True) for word in ("-p", "{}:={}".format(*port))
    ]
    with claim_domain() as domain:
        flown = subprocess.run(
            [sys.executable, str(HERE / "flown_without_numba.py"), *ports],
            cwd=tmp_path_factory.mktemp("flown"),
            env={**os.environ, "PYTHONPATH": str(ROOT), "ROS_DOMAIN_ID": str(domain), "XDG_CACHE_HOME": str(cache)},
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
    assert flown.returncode == 0, flown.stderr
    pictures = {one: int(count) for one, _, count in (line.rpartition(" ") for line in flown.stdout.splitlines())}
    before, *parts = re.split(r"^flight of (.+)\n", flown.stderr, flags=re.MULTILINE)
    assert before == ""
    return pictures, dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("vehicle", "dynamics"), all_vehicles())
def test_flight_after_compilation_does_not_import_numba(
    flown_without_numba: tuple[dict[str, int], dict[str, str]], vehicle: str, dynamics: str
) -> None:
    pictures, errors = flown_without_numba
    one = f"{vehicle} {dynamics}"
    assert "numba" not in errors[one]
    assert one in pictures, errors[one]
    assert pictures[one] > 0, "no picture was taken"


def test_library_flight_is_bit_identical_to_numba(command_line: Run, cache: Path, numba_only: dict[str, str]) -> None:
    flights = [
        command_line(str(HERE / "flown_truth.py"), "multirotor", "3", "-p", "seed:=7", **variables)
        for variables in ({"XDG_CACHE_HOME": str(cache)}, numba_only)
    ]
    for flown in flights:
        assert flown.returncode == 0, flown.stderr
    assert flights[0].stdout == flights[1].stdout


CALLS = """
import sys
import numpy as np
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.physics.contact import deepest_penetration
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.truth_step import load_state
from rosflight_py_sim.sensing.errors import advance_errors

def refused(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__
    return "nothing"

assert rotate_to_body(1, 0, 0, 0, 1, 2, 3) == (1.0, 2.0, 3.0)
assert refused(advance_errors, np.zeros((1, 9)), np.zeros(2), 0.0) == "ValueError"
truth = np.arange(19.0)
truth.flags.writeable = False
expected = np.zeros(13)
load_state(truth, expected)
assert "numba" not in sys.modules

strided = np.zeros(26)[::2]
load_state(truth, strided)
assert (strided == expected).all()
assert "numba" in sys.modules
points, solids = np.zeros((4, 9)), np.zeros((0, 12))
assert deepest_penetration(strided, points, solids) == deepest_penetration(expected, points, solids)
constant = np.zeros(13)
constant.flags.writeable = False
assert refused(load_state, truth, constant) == "TypingError"
assert refused(rotate_to_body, "1", 0, 0, 0, 1, 2, 3) == "TypingError"
assert jit.plain(rotate_to_body)(1, 0, 0, 0, 1, 2, 3) == (1.0, 2.0, 3.0)
"""


def test_arguments_unsupported_by_library_fall_back_to_numba(command_line: Run, cache: Path) -> None:
    called = command_line("-c", CALLS, XDG_CACHE_HOME=str(cache))
    assert called.returncode == 0, called.stderr


RECORDS = """
import sys
import numpy as np
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.physics.battery import full_battery
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS
from rosflight_py_sim.physics.powertrain import air_density, load_battery, powertrain_of, supply_voltage, turn_rotors

def refused(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"

values = {"battery_capacity_mah": 1000.0, "battery_internal_resistance": 0.02, "use_standard_atmosphere": False}
powertrain = powertrain_of({**FIXEDWING_PARAMETERS.defaults(), **values})
battery, truth = full_battery(powertrain.full_voltage), np.zeros(19)
throttles, speeds, calm = np.array([0.5]), np.array([100.0]), np.zeros((1, 2))
load_battery(powertrain, battery, throttles, speeds)
turn_rotors(powertrain, battery, throttles, throttles.copy(), calm, 1.2, 2.0, speeds, np.zeros(1), np.zeros(1))
print(jit.COMPILED, jit.LIBRARY is not None)
print(battery.voltage.hex(), battery.current.hex(), battery.charge_drawn.hex())
voltage = supply_voltage(powertrain, battery, np.array([0.5]), np.array([100.0]))
print(voltage.hex(), air_density(powertrain, truth).hex())
powertrain.standard_atmosphere = True
print(air_density(powertrain, truth).hex(), "numba" in sys.modules)
print(refused(air_density, battery, truth).splitlines()[0])
"""


def test_records_match_between_library_numba_and_plain_python(
    command_line: Run, cache: Path, numba_only: dict[str, str]
) -> None:
    settings = ({"XDG_CACHE_HOME": str(cache)}, numba_only, {"ROSFLIGHT_PY_SIM_NO_JIT": "1"})
    runs = [command_line("-c", RECORDS, **variables) for variables in settings]
    for run in runs:
        assert run.returncode == 0, run.stderr
    library, numba, plain = (run.stdout.splitlines() for run in runs)
    assert (library[0], numba[0], plain[0]) == ("True True", "True False", "False False")
    # The standard atmosphere in the last line contains a power, which may differ in the last bit.
    assert library[1:3] == numba[1:3] == plain[1:3]
    assert library[3].split()[0] == numba[3].split()[0]
    assert library[3].split()[1] == "False", "the library left a call to numba"
    assert library[4] == "TypeError: air_density: Battery given as 'powertrain'; allowed: Powertrain"
    assert "standard_atmosphere" in numba[4]
    assert plain[4] == "AttributeError: 'Battery' object has no attribute 'standard_atmosphere'"


def test_library_built_from_other_sources_is_not_used(command_line: Run, cache: Path, tmp_path: Path) -> None:
    package = tmp_path / "rosflight_py_sim"
    shutil.copytree(ROOT / "rosflight_py_sim", package)
    program = "from rosflight_py_sim.kernels import jit; print(jit.__file__, jit.LIBRARY is not None)"
    edited = package / "physics" / "rotations.py"
    for uses_it in (True, False):
        result = command_line("-c", program, PYTHONPATH=str(tmp_path), XDG_CACHE_HOME=str(cache))
        assert result.stdout.split() == [str(package / "kernels" / "jit.py"), str(uses_it)], result.stderr
        edited.write_text(edited.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")


UNSUITABLE = """
import numpy as np
from numpy.typing import NDArray
from rosflight_py_sim.kernels.jit import kernel

@kernel
def doubled(x: float) -> float:
    return 2.0 * x

@kernel
def root(x: float) -> complex:
    return complex(0.0, x)

@kernel
def total(x: NDArray[np.float64]) -> float:
    return {}

@kernel
def first(x: list[float]) -> float:
    return x[0]
"""

COMPILE = """
from rosflight_py_sim.kernels.machine_code import machine_code_of
code = machine_code_of(["unsuitable"])
print(*(one.name for one in code.kernels))
print(*code.failed, sep="\\n")
"""


def test_kernels_that_do_not_fit_are_left_to_numba_with_the_reason(command_line: Run, tmp_path: Path) -> None:
    (tmp_path / "unsuitable.py").write_text(UNSUITABLE.format("np.zeros(3).sum() + x[0]"))
    done = command_line("-c", COMPILE, XDG_CACHE_HOME=str(tmp_path), PYTHONPATH=f"{ROOT}:{tmp_path}")
    assert done.returncode == 0, done.stderr
    kernels, *failed = done.stdout.splitlines()
    assert kernels == "unsuitable.doubled"
    assert failed[0] == "unsuitable.root: returns complex128; allowed: float64, int64, bool"
    assert failed[1].startswith("unsuitable.total: ")
    allowed = "allowed: float, int, bool, an array, a kernel record"
    assert failed[-1] == f"unsuitable.first: 'x' is annotated as list[float]; {allowed}"


def test_kernel_that_needs_code_of_numba_is_refused(command_line: Run, tmp_path: Path) -> None:
    (tmp_path / "unsuitable.py").write_text(UNSUITABLE.format("x.reshape((3, 3))[0, 0]"))
    done = command_line("-c", COMPILE, XDG_CACHE_HOME=str(tmp_path), PYTHONPATH=f"{ROOT}:{tmp_path}")
    assert done.returncode == 1
    assert "LibraryError: a kernel needs numba_attempt_nocopy_reshape of numba" in done.stderr


Element = TypeVar("Element", bound=np.generic)
Alias = TypeAliasType("Alias", np.ndarray[Any, np.dtype[Element]], type_params=(Element,))


def test_array_may_be_annotated_with_an_alias() -> None:
    """From Python 3.12 on, NDArray of numpy 2.5 is such an alias."""

    def sum_of(x: Alias[np.float64], rows: Alias[np.int64]) -> float:
        return float(x[0] + rows[0, 0])

    assert arguments_of(sum_of) == (Argument("float64", 1), Argument("int64", 2))
