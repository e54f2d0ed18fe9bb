"""Kernel library: machine code of all kernels in one extension module, which runs without numba.

numba compiles each kernel for the types of `signatures.py`, and LLVM emits position-independent machine code.
The C compiler adds a wrapper for each kernel, which Python calls (`library.c` and the code generated here). If
an argument has another type, layout or number of dimensions, the wrapper passes the call on to numba (`jit.Kernel`).

Results are identical to numba's to the bit: the C code only checks arguments and passes them on.
"""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.ground.with_parent import end_with_parent
from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.record import Record
from rosflight_py_sim.kernels.signatures import Argument, arguments_of

CPU = {"x86_64": "x86-64-v2"}
"""Oldest supported processor by architecture; LLVM's `generic` for others."""

FEATURES = {"x86_64": ("ssse3", "sse4.1", "sse4.2", "popcnt")}
"""What such a processor has beyond the first ones of its architecture, by C compilers' names."""

C_TYPES = {"float64": "double", "int64": "int64_t", "boolean": "int64_t"}
"""C type of a number by numba's name of its type; a boolean is passed as 0 or 1."""

OBJECTS = {"float64": "PyFloat_FromDouble", "int64": "PyLong_FromLongLong", "bool": "PyBool_FromLong"}
"""C function that converts a result to a Python object, by numba's name of its type."""

SUPPLIED = {
    *("numba_gil_ensure", "numba_unpickle", "numba_runtime_build_excinfo_struct", "numba_do_raise"),
    *("numba_gil_release", "NRT_Free", "NRT_MemInfo_call_dtor"),
}
"""Functions of numba that `library.c` defines."""


_NO_COMPILER = (
    "no C compiler found (cc, gcc, clang): numba loads the kernels from its cache instead, which delays each start by "
    "some seconds"
)


class LibraryError(Exception):
    """The library cannot be built; the text gives the reason."""


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel as machine code.

    Attributes:
        name: module and name of the function.
        symbol: name of the machine code.
        arguments: arguments of the kernel.
        read_only: for each argument, whether it is an array that the machine code never writes to.
        results: numba's names of the types of the results.
        in_tuple: whether the kernel returns a tuple.
        machine_code: an object file.
    """

    name: str
    symbol: str
    arguments: tuple[Argument, ...]
    read_only: tuple[bool, ...]
    results: tuple[str, ...]
    in_tuple: bool
    machine_code: bytes


def build_library() -> list[str]:
    """Build the library of these sources on all cores; return the kernels left to numba, with reasons.

    numba's cache then holds all kernels, too; it is filled even without a C compiler.

    Raises:
        LibraryError: numba or a C compiler is missing or fails, or the library cannot be written.
    """
    if not jit.HAS_NUMBA:
        raise LibraryError("numba is not installed, or ROSFLIGHT_PY_SIM_NO_JIT is 1: kernels run as plain Python")
    mark = jit.cache_mark()
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None and mark is not None and mark.exists():
        raise LibraryError(_NO_COMPILER)
    package = Path(__file__).parents[1]
    rooms: dict[str, list[str]] = defaultdict(list)
    for source, text in jit.kernel_sources():
        if b"\n@kernel" in text:
            words = (package.name, *source.relative_to(package).with_suffix("").parts)
            rooms[words[1]].append(".".join(words))
    # Each process compiles whole folders, because kernels mostly call kernels in the same folder.
    count = min(os.cpu_count() or 1, len(rooms))
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=end_with_this_process) as pool:
        done = [one for compiled in pool.map(compiled_kernels, rooms.values()) for one in compiled]
    if mark is not None:
        mark.touch()
    if compiler is None:
        raise LibraryError(_NO_COMPILER)
    try:
        path = jit.library_path()
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            built = linked([one for one in done if isinstance(one, CompiledKernel)], Path(folder), compiler)
            built.replace(path)
    except OSError as error:
        raise LibraryError(f"the kernel library cannot be written: {error}") from error
    return [one for one in done if isinstance(one, str)]


def end_with_this_process() -> None:
    """End a process of a pool with the process that started the pool; its initializer."""
    parent = parent_process()
    assert parent is not None
    end_with_parent(parent.sentinel)


def linked(kernels: Sequence[CompiledKernel], folder: Path, compiler: str) -> Path:
    """Link some kernels to a library in a folder; return its path.

    Raises:
        LibraryError: the compiler fails, or this Python and processor cannot load the library.
    """
    for one in kernels:
        (folder / f"{one.symbol}.o").write_bytes(one.machine_code)
    (folder / "kernels.inc").write_text(c_functions(kernels), encoding="utf-8")
    includes = [f"-I{place}" for place in (folder, sysconfig.get_paths()["include"], np.get_include())]
    sources = [str(Path(__file__).with_suffix(".c")), *(f"{one.symbol}.o" for one in kernels)]
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


def compiled_kernels(module_names: Sequence[str]) -> list[CompiledKernel | str]:
    """All kernels of some modules that take only numbers, arrays and records; for a kernel that fails, the reason."""
    import numba

    compiled: list[CompiledKernel | str] = []
    for module_name in module_names:
        for name, value in vars(importlib.import_module(module_name)).items():
            function = jit.plain(value)
            if function is value or value.__module__ != module_name:
                continue
            arguments = arguments_of(function)
            if arguments is None:
                continue
            try:
                compiled.append(_compiled_kernel(value, arguments, f"kernel_{module_name.replace('.', '_')}_{name}"))
            except (LibraryError, numba.core.errors.NumbaError) as error:
                compiled.append(f"{module_name}.{name}: {error}")
    return compiled


def _compiled_kernel(dispatcher: Any, arguments: Sequence[Argument], symbol: str) -> CompiledKernel:
    import llvmlite.binding as llvm
    from numba import types

    taken = tuple(
        types.Array(kind, one.dimensions, "C") if one.dimensions else kind
        for one, kind in ((one, _numba_type(one)) for one in arguments)
    )
    dispatcher.compile(taken)
    returned = dispatcher.overloads[taken].signature.return_type
    in_tuple = isinstance(returned, types.BaseTuple)
    results = () if returned == types.none else tuple(returned) if in_tuple else (returned,)
    if unknown := [str(one) for one in results if str(one) not in OBJECTS]:
        raise LibraryError(f"returns {', '.join(unknown)}; allowed: {', '.join(OBJECTS)}")
    entry = _entry(dispatcher, arguments, results, in_tuple)
    module = llvm.parse_assembly(entry.inspect_llvm())
    for value in (*module.functions, *module.global_variables):
        if value.name == entry.native_name:
            value.name = symbol
        elif value.name == "PyErr_WriteUnraisable":
            value.name = "kernel_raised"
        elif not value.is_declaration:
            value.linkage = "internal"  # other kernels define the same name
        elif value.name.startswith(("NRT_", "numba_")) and value.name not in SUPPLIED:
            raise LibraryError(f"needs {value.name} of numba; a kernel makes no arrays")
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=CPU.get(target.triple.split("-")[0], "generic"), opt=3, reloc="pic", codemodel="default"
    )
    return CompiledKernel(
        f"{dispatcher.__module__}.{dispatcher.__qualname__}",
        symbol,
        tuple(arguments),
        _read_only(module.get_function(symbol), arguments),
        tuple(str(one) for one in results),
        in_tuple,
        machine.emit_object(module),
    )


def _numba_type(argument: Argument) -> Any:
    """numba's type of a number, of an array's elements, or of a record."""
    from numba import types

    return getattr(types, argument.type) if argument.record is None else jit.numba_type(argument.record)


def _read_only(function: Any, arguments: Sequence[Argument]) -> tuple[bool, ...]:
    """For each argument of a kernel, whether LLVM found that the function only reads it."""
    parameters = iter(function.arguments)
    found = []
    for argument in arguments:
        first, *_ = islice(parameters, 1 + argument.dimensions)
        found.append(argument.dimensions > 0 and bool({b"readonly", b"readnone"} & set(first.attributes)))
    return tuple(found)


def _entry(dispatcher: Any, arguments: Sequence[Argument], results: Sequence[Any], in_tuple: bool) -> Any:
    """The kernel as a C function, which takes data and shape for an array, and a pointer for each record and result."""
    from numba import carray, cfunc, types

    def passed(kind: Any) -> Any:
        return types.int64 if kind == types.boolean else kind

    types_taken, names_taken, given = [], [], []
    for index, argument in enumerate(arguments):
        kind, name = passed(_numba_type(argument)), f"a{index}"
        lengths = [f"n{index}_{axis}" for axis in range(argument.dimensions)]
        by_address = argument.dimensions > 0 or argument.record is not None
        types_taken += [types.CPointer(kind) if by_address else kind, *[types.int64] * len(lengths)]
        names_taken += [name, *lengths]
        if lengths:
            given.append(f"carray({name}, ({', '.join(lengths)},))")
        elif argument.record is not None:
            given.append(f"carray({name}, 1)[0]")
        else:
            given.append(f"{name} != 0" if argument.type == "boolean" else name)
    written = [f"r{index}" for index in range(len(results))]
    types_taken += [types.CPointer(passed(kind)) for kind in results]
    lines = [f"def entry({', '.join(names_taken + written)}):", f"    result = kernel({', '.join(given)})"]
    lines += [f"    {name}[0] = result{f'[{index}]' if in_tuple else ''}" for index, name in enumerate(written)]
    names: dict[str, Callable[..., Any]] = {"kernel": dispatcher, "carray": carray}
    # The text contains only numbers and the names given here.
    exec("\n".join(lines), names)  # noqa: S102
    return cfunc(types.void(*types_taken), error_model="numpy")(names["entry"])


def c_functions(kernels: Sequence[CompiledKernel]) -> str:
    """C code of the functions that Python calls, of their table, and of the check of the processor."""
    table = [f'    ENTRY("{one.name}", {one.symbol}, {len(one.arguments)}),' for one in kernels]
    table = ["static struct entry kernels[] = {", *table, "    {{NULL, NULL, 0, NULL}, 0, 0, NULL, NULL},", "};", ""]
    records = {argument.record for one in kernels for argument in one.arguments if argument.record is not None}
    machine = platform.machine()
    lacks = " || ".join(f'!__builtin_cpu_supports("{feature}")' for feature in FEATURES.get(machine, ())) or "0"
    baseline = [f'#define BASELINE "{CPU.get(machine, "generic")}"', f"#define LACKS_BASELINE ({lacks})"]
    places = [f'static struct record {_c_name(one)} = {{"{one.__module__}", "{one.__name__}"}};' for one in records]
    return "\n".join([*baseline, *sorted(places), "", *map(_c_function, kernels), *table])


def _c_name(record: type[Record]) -> str:
    return f"record_{record.__module__.replace('.', '_')}_{record.__name__}"


def _c_function(kernel: CompiledKernel) -> str:
    """C code of a kernel: its arguments as C values, how they are taken from Python's, a call with them, and all three.

    Arguments from `first` on are taken, so that some can be taken once for many calls.
    """
    fields, taken, passed = [], [], []
    for index, argument in enumerate(kernel.arguments):
        given, name = f"arguments[{index}]", f"a{index}"
        taken.append(f"    case {index}:")
        if argument.dimensions:
            kind = f"NPY_{argument.type.upper()}, {argument.dimensions}, {int(not kernel.read_only[index])}"
            lengths = [f"n{index}_{axis}" for axis in range(argument.dimensions)]
            fields += [("void *", name), *(("int64_t", length) for length in lengths)]
            check = f"is_array({given}, {kind})"
            read = [f"t->{name} = PyArray_DATA((PyArrayObject *){given});"]
            read += [f"t->{one} = PyArray_DIM((PyArrayObject *){given}, {i});" for i, one in enumerate(lengths)]
            passed += [f"t->{one}" for one in (name, *lengths)]
        else:
            is_record = argument.record is not None
            fields.append(("void *" if is_record else C_TYPES[argument.type], name))
            expected = "" if argument.record is None else f"&{_c_name(argument.record)}, "
            check = f"is_{'record' if is_record else argument.type}({given}, {expected}&t->{name})"
            read = []
            passed.append(f"t->{name}")
        lines = [f"if (last == {index})", "    return 1;", f"if (!{check})", "    return 0;", *read]
        taken += [f"        {line}" for line in lines]
    types, variables, objects = [kind for kind, _ in fields], [], []
    for index, result in enumerate(kernel.results):
        kind = "double" if result == "float64" else "int64_t"
        types.append(f"{kind} *")
        variables.append(f"    {kind} r{index};")
        passed.append(f"&r{index}")
        objects.append(f"{OBJECTS[result]}(r{index})")
    if kernel.in_tuple:
        returned = f"tuple_of({', '.join([str(len(objects)), *objects])})"
    else:
        returned = objects[0] if objects else "Py_NewRef(Py_None)"
    symbol = kernel.symbol
    lines = [
        f"void {symbol}({', '.join(types) or 'void'});",
        f"struct taken_{symbol} {{ {' '.join(f'{kind} {name};' for kind, name in fields) or 'char none;'} }};",
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
        f"    if (names || count != {len(kernel.arguments)} || !take_{symbol}(&t, arguments, 0, count))",
        "        return PyObject_Vectorcall(by_numba, arguments, count, names);",
        f"    return run_{symbol}(&t);",
        "}",
        "",
    ]
    return "\n".join(lines)
