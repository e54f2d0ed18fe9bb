"""Kernel library: machine code of all kernels in one extension module, which runs without numba.

numba and LLVM compile each kernel for the types of `signatures.py` to position-independent machine code
(`machine_code.py`). The C compiler adds a wrapper for each kernel, which Python calls (`library.c` and the code of
`wrappers.py`). If an argument has another type, layout or number of dimensions, the wrapper passes the call on to
numba (`jit.Kernel`).

Results are identical to numba's to the bit: the C code only checks arguments and passes them on.
"""

from __future__ import annotations

import heapq
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TypeVar

import numpy as np

from rosflight_py_sim.ground.with_parent import end_with_parent
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.wrappers import LibraryError, MachineCode, c_functions

T = TypeVar("T")

_NO_COMPILER = (
    "no C compiler found (cc, gcc, clang): numba loads the kernels from its cache instead, which delays each start by "
    "some seconds"
)


def build_library() -> list[str]:
    """Build the library of these sources on all cores; return the kernels left to numba, with reasons.

    Without a C compiler, fill numba's cache instead.

    Raises:
        LibraryError: numba or a C compiler is missing or fails, or the library cannot be written.
    """
    if not jit.HAS_NUMBA:
        raise LibraryError("numba is not installed, or ROSFLIGHT_PY_SIM_NO_JIT is 1: kernels run as plain Python")
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        fill_cache()
        raise LibraryError(_NO_COMPILER)
    done = in_processes(_machine_code)
    try:
        path = jit.library_path()
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            linked(done, Path(folder), compiler).replace(path)
    except OSError as error:
        raise LibraryError(f"the kernel library cannot be written: {error}") from error
    return [reason for one in done for reason in one.failed]


def fill_cache() -> None:
    """Let numba compile all kernels on all cores and cache them, unless that has been done.

    Raises:
        LibraryError: numba cannot compile a kernel.
    """
    mark = jit.cache_mark()
    if mark is None or mark.exists():
        return
    failed = [reason for reasons in in_processes(_cached) for reason in reasons]
    if failed:
        raise LibraryError(f"numba cannot compile {'; '.join(failed)}")
    mark.touch()


def _machine_code(module_names: Sequence[str]) -> MachineCode:
    from rosflight_py_sim.kernels.machine_code import machine_code_of  # imports numba, which only the pool needs

    return machine_code_of(module_names)


def _cached(module_names: Sequence[str]) -> list[str]:
    from rosflight_py_sim.kernels.machine_code import cache_kernels

    return cache_kernels(module_names)


def in_processes(compile_them: Callable[[Sequence[str]], T]) -> list[T]:
    """Let processes, one for each core, compile the kernels of some modules each.

    A process compiles whole folders, because kernels mostly call kernels in the same folder.
    """
    package = Path(__file__).parents[1]
    sizes: Counter[str] = Counter()
    modules: dict[str, list[str]] = defaultdict(list)
    for source, text in jit.kernel_sources():
        if b"\n@kernel" in text:
            words = (package.name, *source.relative_to(package).with_suffix("").parts)
            sizes[words[1]] += len(text)
            modules[words[1]].append(".".join(words))
    shares = [(0, list[str]()) for _ in range(min(os.cpu_count() or 1, len(modules)))]
    for folder, size in sizes.most_common():
        total, names = heapq.heappop(shares)
        heapq.heappush(shares, (total + size, names + modules[folder]))
    with ProcessPoolExecutor(len(shares), get_context("spawn"), initializer=end_with_this_process) as pool:
        return list(pool.map(compile_them, [names for _, names in shares]))


def end_with_this_process() -> None:
    """End a process of a pool with the process that started the pool; its initializer."""
    parent = parent_process()
    assert parent is not None
    end_with_parent(parent.sentinel)


def linked(compiled: Sequence[MachineCode], folder: Path, compiler: str) -> Path:
    """Link kernels to a library in a folder; return its path.

    Raises:
        LibraryError: the compiler fails, or this Python and processor cannot load the library.
    """
    objects = [f"{index}.o" for index in range(len(compiled))]
    for name, one in zip(objects, compiled, strict=True):
        (folder / name).write_bytes(one.object_file)
    kernels = [kernel for one in compiled for kernel in one.kernels]
    (folder / "kernels.inc").write_text(c_functions(kernels), encoding="utf-8")
    includes = [f"-I{place}" for place in (folder, sysconfig.get_paths()["include"], np.get_include())]
    sources = [str(Path(__file__).with_suffix(".c")), *objects]
    library = folder / jit.library_path().name
    command = [compiler, "-shared", "-fPIC", "-O1", "-s", *includes, *sources, "-o", str(library), "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LibraryError(f"{compiler} failed (are Python's headers installed, python3-dev?):\n{done.stderr}")
    try:
        jit.load_library(library)
    except ImportError as error:
        raise LibraryError(f"the library built by {compiler} cannot be loaded: {error}") from error
    return library
