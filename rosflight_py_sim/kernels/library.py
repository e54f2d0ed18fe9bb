"""Kernel library: machine code of all kernels in one extension module, which runs without numba.

numba and LLVM compile each kernel for the types of `signatures.py` to position-independent machine code
(`machine_code.py`). The C compiler adds a wrapper for each kernel, which Python calls (`library.c` and the code
generated here). If an argument has another type, layout or number of dimensions, the wrapper passes the call on to
numba (`jit.Kernel`).

Results are identical to numba's to the bit: the C code only checks arguments and passes them on.
"""

from __future__ import annotations

import heapq
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TypeVar

import numpy as np

from rosflight_py_sim.ground.with_parent import end_with_parent
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.signatures import Argument

T = TypeVar("T")

CPU = {"x86_64": "x86-64-v2"}
"""Oldest supported processor by architecture; LLVM's `generic` for others."""

FEATURES = {"x86_64": ("ssse3", "sse4.1", "sse4.2", "popcnt")}
"""What such a processor has beyond the first ones of its architecture, by C compilers' names."""

C_TYPES = {"float64": "double", "int64": "int64_t", "boolean": "int64_t"}
"""C type of a number by numba's name of its type; a boolean is passed as 0 or 1."""

OBJECTS = {"float64": "PyFloat_FromDouble", "int64": "PyLong_FromLongLong", "bool": "PyBool_FromLong"}
"""C function that converts a result to a Python object, by numba's name of its type."""

_NO_COMPILER = (
    "no C compiler found (cc, gcc, clang): numba loads the kernels from its cache instead, which delays each start by "
    "some seconds"
)


class LibraryError(Exception):
    """The library cannot be built; the text gives the reason."""


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel in an object file.

    Attributes:
        name: module and name of the function.
        symbol: name of the machine code.
        count: number of arguments.
        records: module and name of the classes of its arguments that are records.
        wrapper: C code of the function that Python calls.
    """

    name: str
    symbol: str
    count: int
    records: frozenset[tuple[str, str]]
    wrapper: str


@dataclass(frozen=True)
class MachineCode:
    """Machine code of kernels that one process compiled.

    Attributes:
        kernels: the kernels.
        object_file: their machine code.
        failed: kernels left to numba, with reasons.
    """

    kernels: list[CompiledKernel]
    object_file: bytes
    failed: list[str]


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


def c_functions(kernels: Sequence[CompiledKernel]) -> str:
    """C code of the functions that Python calls, of their table, and of the check of the processor."""
    table = [f'    ENTRY("{one.name}", {one.symbol}, {one.count}),' for one in kernels]
    table = ["static struct entry kernels[] = {", *table, "    {{NULL, NULL, 0, NULL}, 0, 0, NULL, NULL},", "};", ""]
    records = sorted(set[tuple[str, str]]().union(*(one.records for one in kernels)))
    machine = platform.machine()
    lacks = " || ".join(f'!__builtin_cpu_supports("{feature}")' for feature in FEATURES.get(machine, ())) or "0"
    baseline = [f'#define BASELINE "{CPU.get(machine, "generic")}"', f"#define LACKS_BASELINE ({lacks})"]
    places = [f'static struct record {_c_name(one)} = {{"{one[0]}", "{one[1]}"}};' for one in records]
    return "\n".join([*baseline, *places, "", *(one.wrapper for one in kernels), *table])


def _c_name(record: tuple[str, str]) -> str:
    return "_".join(("record", *record)).replace(".", "_")


def compiled_kernel(
    name: str,
    symbol: str,
    arguments: Sequence[Argument],
    read_only: Sequence[bool],
    results: Sequence[str],
    in_tuple: bool,
) -> CompiledKernel:
    """A kernel, with its wrapper.

    The wrapper takes the arguments from `first` on, so that some can be taken once for many calls.

    Args:
        name: module and name of the function.
        symbol: name of the machine code.
        arguments: arguments of the kernel.
        read_only: for each argument, whether it is an array that the machine code never writes to.
        results: numba's names of the types of the results.
        in_tuple: whether the kernel returns a tuple.
    """
    fields, taken, passed = [], [], []
    records = set()
    for index, argument in enumerate(arguments):
        given, field = f"arguments[{index}]", f"a{index}"
        taken.append(f"    case {index}:")
        read: list[str] = []
        if argument.dimensions:
            kind = f"NPY_{argument.type.upper()}, {argument.dimensions}, {int(not read_only[index])}"
            lengths = [f"n{index}_{axis}" for axis in range(argument.dimensions)]
            fields += [("void *", field), *(("int64_t", length) for length in lengths)]
            check = f"is_array({given}, {kind})"
            read = [f"t->{field} = PyArray_DATA((PyArrayObject *){given});"]
            read += [f"t->{one} = PyArray_DIM((PyArrayObject *){given}, {i});" for i, one in enumerate(lengths)]
            passed += [f"t->{one}" for one in (field, *lengths)]
        elif argument.record is not None:
            record = (argument.record.__module__, argument.record.__name__)
            records.add(record)
            fields.append(("void *", field))
            check = f"is_record({given}, &{_c_name(record)}, &t->{field})"
            passed.append(f"t->{field}")
        else:
            fields.append((C_TYPES[argument.type], field))
            check = f"is_{argument.type}({given}, &t->{field})"
            passed.append(f"t->{field}")
        lines = [f"if (last == {index})", "    return 1;", f"if (!{check})", "    return 0;", *read]
        taken += [f"        {line}" for line in lines]
    types, variables, objects = [kind for kind, _ in fields], [], []
    for index, result in enumerate(results):
        kind = "double" if result == "float64" else "int64_t"
        types.append(f"{kind} *")
        variables.append(f"    {kind} r{index};")
        passed.append(f"&r{index}")
        objects.append(f"{OBJECTS[result]}(r{index})")
    if in_tuple:
        returned = f"tuple_of({', '.join([str(len(objects)), *objects])})"
    else:
        returned = objects[0] if objects else "Py_NewRef(Py_None)"
    lines = [
        f"void {symbol}({', '.join(types) or 'void'});",
        f"struct taken_{symbol} {{ {' '.join(f'{kind} {field};' for kind, field in fields) or 'char none;'} }};",
        f"static int take_{symbol}(TAKE)",
        "{",
        f"    struct taken_{symbol} *t = into;",
        "    switch (first) {",
        *taken,
        "    }",
        "    return 1;",
        "}",
        f"static PyObject *run_{symbol}(void *with)",
        "{",
        f"    struct taken_{symbol} *t = with;",
        *variables,
        f"    {symbol}({', '.join(passed)});",
        f"    return raised() ? NULL : {returned};",
        "}",
        f"static PyObject *call_{symbol}(CALL)",
        "{",
        f"    struct taken_{symbol} t;",
        f"    if (names || count != {len(arguments)} || !take_{symbol}(&t, arguments, 0, count))",
        "        return PyObject_Vectorcall(by_numba, arguments, count, names);",
        f"    return run_{symbol}(&t);",
        "}",
        "",
    ]
    return CompiledKernel(name, symbol, len(arguments), frozenset(records), "\n".join(lines))
