"""Wrappers of the kernels in the kernel library: C code that checks and converts the arguments of a call."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass

from rosflight_py_sim.kernels.signatures import Argument

CPU = {"x86_64": "x86-64-v2"}
"""Oldest supported processor by architecture; LLVM's `generic` for others."""

FEATURES = {"x86_64": ("ssse3", "sse4.1", "sse4.2", "popcnt")}
"""What such a processor has beyond the first ones of its architecture, by C compilers' names."""

C_TYPES = {"float64": "double", "int64": "int64_t", "boolean": "int64_t"}
"""C type of a number by numba's name of its type; a boolean is passed as 0 or 1."""

OBJECTS = {"float64": "PyFloat_FromDouble", "int64": "PyLong_FromLongLong", "bool": "PyBool_FromLong"}
"""C function that converts a result to a Python object, by numba's name of its type."""


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
        status: name of the function that a chain calls; NULL if the kernel's result is no status.
    """

    name: str
    symbol: str
    count: int
    records: frozenset[tuple[str, str]]
    wrapper: str
    status: str


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


def c_functions(kernels: Sequence[CompiledKernel]) -> str:
    """C code of the functions that Python calls, of their table, and of the check of the processor."""
    table = [f'    ENTRY("{one.name}", {one.symbol}, {one.count}, {one.status}),' for one in kernels]
    table = [
        "static struct entry kernels[] = {",
        *table,
        "    {{NULL, NULL, 0, NULL}, 0, 0, NULL, NULL, NULL},",
        "};",
        "",
    ]
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
    status = "NULL"
    if not in_tuple and set(results) <= {"int64", "bool"}:
        status = f"status_{symbol}"
        lines += [
            f"static int64_t {status}(void *with)",
            "{",
            f"    struct taken_{symbol} *t = with;",
            *(variables or ["    (void)t;"]),
            f"    {symbol}({', '.join(passed)});",
            f"    return {'r0' if results else '0'};",
            "}",
            "",
        ]
    return CompiledKernel(name, symbol, len(arguments), frozenset(records), "\n".join(lines), status)
