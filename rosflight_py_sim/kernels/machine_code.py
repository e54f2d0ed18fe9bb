"""Machine code of kernels: numba translates each kernel to LLVM's intermediate representation, which is optimized once.

numba's own compilation makes each kernel ready to run: it optimizes and emits it together with the kernels that it
calls, and these again with each further caller. Here, the kernels of a process form one module, which LLVM optimizes
and emits as a whole. Nothing is executed, so numba's cache stays empty.
"""

from __future__ import annotations

import gc
import importlib
import platform
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import errors, types
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array

from rosflight_py_sim.kernels import jit
from rosflight_py_sim.kernels.signatures import Argument, arguments_of
from rosflight_py_sim.kernels.wrappers import CPU, OBJECTS, LibraryError, MachineCode, compiled_kernel

SUPPLIED = {"numba_unpickle", "numba_runtime_build_excinfo_struct", "numba_do_raise"}
"""Functions of numba that `library.c` defines."""

_LENGTH = ir.IntType(64)


class _Translation(JITCodeLibrary):
    """Intermediate representation of a function, which is never executed."""

    def add_ir_module(self, ir_module: ir.Module) -> None:
        """Add code to that of the process."""
        self.codegen.modules.append(llvm.parse_assembly(normalize_ir_text(str(ir_module))))

    def add_linking_library(self, library: Any) -> None:
        """Do nothing: functions that this one calls are in the same process."""

    def finalize(self) -> None:
        """Do not optimize, emit or load anything."""
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """Address of a function: none."""
        return 0


class _Translator(JITCPUCodegen):
    """Code generation of numba that ends with the intermediate representation.

    Attributes:
        modules: code of all functions since the last call of `linked`.
    """

    _library_class = _Translation

    def __init__(self) -> None:
        super().__init__("kernels")
        self.modules: list[Any] = []

    def set_env(self, _name: str, _environment: Any) -> None:
        """Do nothing: only functions that are executed have an environment."""

    def linked(self) -> Any:
        """The code of all functions as one module."""
        modules, self.modules = self.modules, []
        while len(modules) > 1:  # in pairs, because each call takes a time proportional to the size of both modules
            for one, other in zip(modules[::2], modules[1::2], strict=False):
                one.link_in(other)
            modules = modules[::2]
        return modules[0]


def machine_code_of(module_names: Sequence[str]) -> MachineCode:
    """All kernels of some modules that take only numbers, arrays and records.

    Call this in a process of its own: numba can no longer execute anything there.

    Raises:
        LibraryError: a kernel calls a function of numba that `library.c` does not define.
    """
    gc.disable()  # saves a sixth of the time; the process ends soon
    jit.OPTIONS.update(cache=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    cpu_target.target_context.refresh()  # compiles numba's runtime, which must be executable
    translator = cpu_target.target_context._internal_codegen = _Translator()
    found: dict[str, tuple[str, tuple[Argument, ...], tuple[str, ...], bool]] = {}
    failed: list[str] = []
    for name, dispatcher in _kernels(module_names):
        symbol = f"kernel_{name.replace('.', '_')}"
        try:
            arguments = arguments_of(dispatcher.py_func)
            found[symbol] = (name, arguments, *_translated(dispatcher, arguments, symbol))
        except (LibraryError, TypeError, errors.NumbaError) as error:
            failed += _left(name, dispatcher, error)
    if not found:
        return MachineCode([], b"", failed)
    module = translator.linked()
    machine = _optimized(module, found)
    kernels = [
        compiled_kernel(name, symbol, arguments, _read_only(module.get_function(symbol), arguments), results, in_tuple)
        for symbol, (name, arguments, results, in_tuple) in found.items()
    ]
    return MachineCode(kernels, machine.emit_object(module), failed)


def cache_kernels(module_names: Sequence[str]) -> list[str]:
    """Let numba compile and cache the kernels of some modules; return kernels that it cannot compile, with reasons."""
    failed: list[str] = []
    for name, dispatcher in _kernels(module_names):
        try:
            dispatcher.compile(tuple(map(_numba_type, arguments_of(dispatcher.py_func))))
        except (TypeError, errors.NumbaError) as error:
            failed += _left(name, dispatcher, error)
    return failed


def _kernels(module_names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Name and dispatcher of the kernels that some modules define."""
    for module_name in module_names:
        for name, value in vars(importlib.import_module(module_name)).items():
            if jit.plain(value) is not value and value.__module__ == module_name:
                yield f"{module_name}.{name}", jit.dispatcher(value)


def _left(name: str, dispatcher: Any, error: Exception) -> list[str]:
    """A kernel that cannot be compiled, with the reason; none for a part of kernels, which is inlined into them."""
    return [] if dispatcher.targetoptions.get("inline") == "always" else [f"{name}: {error}"]


def _optimized(module: Any, exported: Collection[str]) -> Any:
    """Optimize a module in which only some functions are called from outside; return the machine for which to emit it.

    Raises:
        LibraryError: as of `machine_code_of`.
    """
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=CPU.get(platform.machine(), "generic"), opt=3, reloc="pic", codemodel="default"
    )
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in exported:
            value.linkage = "internal"  # the modules of other processes define the same names
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    needed = {one.name for one in module.functions if one.is_declaration and one.name.startswith(("NRT_", "numba_"))}
    if unknown := sorted(needed - SUPPLIED):
        raise LibraryError(f"a kernel needs {', '.join(unknown)} of numba; a kernel makes no arrays")
    return machine


def _translated(dispatcher: Any, arguments: Sequence[Argument], symbol: str) -> tuple[tuple[str, ...], bool]:
    """Translate a kernel and its entry; return the types of its results, and whether these are a tuple."""
    taken = tuple(map(_numba_type, arguments))
    dispatcher.compile(taken)
    compiled = dispatcher.overloads[taken]
    returned = compiled.signature.return_type
    in_tuple = isinstance(returned, types.BaseTuple)
    results = () if returned == types.none else tuple(map(str, returned)) if in_tuple else (str(returned),)
    if unknown := [one for one in results if one not in OBJECTS]:
        raise LibraryError(f"returns {', '.join(unknown)}; allowed: {', '.join(OBJECTS)}")
    _add_entry(compiled, taken, symbol, len(results), in_tuple)
    return results, in_tuple


def _numba_type(argument: Argument) -> Any:
    """numba's type of an argument."""
    if argument.record is not None:
        return jit.numba_type(argument.record)
    kind = getattr(types, argument.type)
    return types.Array(kind, argument.dimensions, "C") if argument.dimensions else kind


def _read_only(function: Any, arguments: Sequence[Argument]) -> tuple[bool, ...]:
    """For each argument of a kernel, whether LLVM found that the function only reads it."""
    parameters = iter(function.arguments)
    found = []
    for argument in arguments:
        first, *_ = islice(parameters, 1 + argument.dimensions)
        found.append(argument.dimensions > 0 and bool({b"readonly", b"readnone"} & set(first.attributes)))
    return tuple(found)


def _add_entry(compiled: Any, taken: Sequence[Any], symbol: str, results: int, in_tuple: bool) -> None:
    """Add a C function that calls a kernel.

    It takes data and shape for an array, and a pointer for each record and result; a boolean is a 64-bit integer. If
    the kernel raises an exception, the function raises it in Python and calls `kernel_raised`.
    """
    context = compiled.target_context
    convention = context.call_conv
    module = context.create_module(symbol)
    pointer = ir.IntType(8).as_pointer()
    parameters: list[ir.Type] = []
    for kind in taken:
        if isinstance(kind, types.Array):
            parameters += [pointer, *[_LENGTH] * kind.ndim]
        elif isinstance(kind, types.Record):
            parameters.append(pointer)
        else:
            parameters.append(_LENGTH if kind == types.boolean else context.get_value_type(kind))
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [*parameters, *[pointer] * results]), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    given = iter(entry.args)
    passed = [_passed(context, builder, kind, given) for kind in taken]
    returned = compiled.signature.return_type
    callee = ir.Function(module, convention.get_function_type(returned, taken), compiled.fndesc.llvm_func_name)
    status, result = convention.call_function(builder, callee, returned, taken, passed)
    with builder.if_then(status.is_error, likely=False):
        convention.raise_error(builder, context.get_python_api(builder), status)
        builder.call(ir.Function(module, ir.FunctionType(ir.VoidType(), []), "kernel_raised"), [])
        builder.ret_void()
    for index, place in enumerate(given):
        value = builder.extract_value(result, index) if in_tuple else result
        if value.type == ir.IntType(1):
            value = builder.zext(value, _LENGTH)
        builder.store(value, builder.bitcast(place, value.type.as_pointer()))
    builder.ret_void()
    compiled.library.codegen.modules.append(llvm.parse_assembly(normalize_ir_text(str(module))))


def _passed(context: Any, builder: ir.IRBuilder, kind: Any, given: Iterator[ir.Value]) -> ir.Value:
    """numba's value of an argument, made of the next arguments of the entry."""
    first = next(given)
    if isinstance(kind, types.Record):
        return builder.bitcast(first, context.get_value_type(kind))
    if kind == types.boolean:
        return builder.icmp_signed("!=", first, first.type(0))
    if not isinstance(kind, types.Array):
        return first
    shape = list(islice(given, kind.ndim))
    size = _LENGTH(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = make_array(kind)(context, builder)
    data = builder.bitcast(first, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
