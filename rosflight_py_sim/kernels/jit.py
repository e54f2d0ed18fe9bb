"""Compilation of the hot numeric loops.

`kernel` compiles a function with numba; without compiled code and numba, the function remains plain Python. Tests check
that both give equal results. A kernel takes and returns floats and integers; it also takes records
(`record.py`), and arrays of float64 or of the pixels of a picture. It neither creates nor returns an array or a
record.

Compiled kernels come from one of two places:

- the kernel library, an extension module. Wheels of `make dist` contain it, and `rosflight_py_sim compile` builds it
  (`kernels/library.py`). A process that loads the library starts at once and does not import numba. The library is
  valid only for the sources from which it was built, for one Python, and on a processor of its baseline.
- numba, if there is no library of these sources, or for arguments that the library's kernel does not take. numba
  compiles at the first call and caches the result. Before a flight without a library, `prepare_kernels`
  (`preparation.py`) builds the library, which the process then uses, or, without a C compiler, fills numba's cache. A
  library of a wheel that cannot be used is reported on stderr.

With the environment variable ROSFLIGHT_PY_SIM_NO_JIT set to 1, kernels are plain Python even if numba is installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, source_hash, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_type_hints

from rosflight_py_sim.kernels.record import Record, is_record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

_MAY_COMPILE = os.environ.get("ROSFLIGHT_PY_SIM_NO_JIT") != "1"

HAS_NUMBA = _MAY_COMPILE and find_spec("numba") is not None
"""Whether numba compiles kernels that the kernel library does not have."""

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""numba's options of all kernels that are compiled from now on.

Without numba's runtime, arrays are not reference-counted: passing an array takes a third of the time, and calls between
kernels take a fifth.
"""

_PACKAGE = Path(__file__).parents[1]

LIBRARY_NAME = "rosflight_kernels"
"""Module name of the kernel library."""

SHIPPED = _PACKAGE / "kernels" / "compiled"
"""Folder of the kernel library in a wheel, within a folder for the version of its sources; absent in a checkout."""


def kernel_sources() -> Iterator[tuple[Path, bytes]]:
    """Path and text of every file of the package that defines kernels, in a fixed order."""
    for folder, folders, files in os.walk(_PACKAGE):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                with open(f"{folder}/{name}", "rb", buffering=0) as source:  # noqa: PTH123 (faster than by Path)
                    text = source.read()
                if b"@kernel" in text:
                    yield Path(folder, name), text


@cache
def version() -> str:
    """Name of the folder for compiled kernels, one per version of the kernels and of the code that compiles them.

    numba detects changes in a kernel's file, but not in other files with kernels that it calls.
    """
    makers = ("library.c", "library.py", "machine_code.py", "record.py", "signatures.py", "wrappers.py")
    texts = [*(text for _, text in kernel_sources()), *(Path(__file__).with_name(name).read_bytes() for name in makers)]
    return f"kernels-{source_hash(b''.join(texts)).hex()}"  # hashlib would load 4 MiB of OpenSSL


def _cache_folders() -> Iterator[Path]:
    """Folders for compiled kernels, the preferred one first."""
    package = _PACKAGE.name
    given = os.environ.get("XDG_CACHE_HOME", "")
    with contextlib.suppress(RuntimeError):  # the user has no home folder
        # The XDG Base Directory Specification ignores a relative path; with it, each working folder would have a cache.
        yield (Path(given) if given.startswith("/") else Path.home() / ".cache") / package / version()
    import tempfile  # rarely needed, and slow to import

    with contextlib.suppress(OSError):  # no temporary folder can be written either
        temporary = Path(tempfile.gettempdir(), f"{package}-{os.getuid()}")
        temporary.mkdir(mode=0o700, exist_ok=True)
        # Another user could otherwise leave machine code there.
        if temporary.stat().st_uid == os.getuid():
            yield temporary / version()


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def library_path() -> Path:
    """Path at which the kernel library is built.

    Raises:
        FileNotFoundError: no folder for it can be written.
    """
    if CACHE is None:
        tried = " and ".join(map(str, _cache_folders())) or "none"
        raise FileNotFoundError(
            f"no folder for compiled kernels can be written (tried: {tried}): set XDG_CACHE_HOME to a folder that you "
            "can write to"
        )
    return CACHE / _LIBRARY_FILE


def load_library(path: Path) -> ModuleType:
    """Load the kernel library from a file.

    Raises:
        ImportError: the file does not fit this Python, numpy, C library or processor.
    """
    spec = spec_from_file_location(LIBRARY_NAME, path, loader=ExtensionFileLoader(LIBRARY_NAME, str(path)))
    assert spec is not None and spec.loader is not None
    library = module_from_spec(spec)
    spec.loader.exec_module(library)
    return library


def found_library() -> ModuleType | None:
    """Load the kernel library, also from a folder that cannot be written; None if none fits."""
    for path in (
        *filter(_is_for_these_sources, shipped_libraries()),
        *(one / _LIBRARY_FILE for one in _cache_folders()),
    ):
        with contextlib.suppress(ImportError):
            return load_library(path)
    return None


def shipped_libraries() -> list[Path]:
    """The kernel library that came with the installed package, if it has one."""
    return [*SHIPPED.glob(f"*/{LIBRARY_NAME}.*")]


def _is_for_these_sources(shipped: Path) -> bool:
    return shipped.parent.name == version() and shipped.name == _LIBRARY_FILE


def _report_unused(shipped: Path) -> None:
    """Print why a shipped library is not used, and what replaces it."""
    reason = f"they were compiled from other sources or for another Python ({shipped})"
    if _is_for_these_sources(shipped):
        try:
            load_library(shipped)
        except ImportError as error:
            reason = str(error)
    instead = "numba compiles them instead" if HAS_NUMBA else "without numba, they run as plain Python, which is slow"
    print(
        f"rosflight_py_sim: the compiled kernels of the installed package cannot be used: {reason}; {instead}",
        file=sys.stderr,
        flush=True,
    )


_LIBRARY_FILE = f"{LIBRARY_NAME}{EXTENSION_SUFFIXES[0]}"

LIBRARY = found_library() if _MAY_COMPILE else None
"""The kernel library; None if there is none for these sources and this Python, numpy, C library and processor."""

if LIBRARY is None and _MAY_COMPILE:
    for _unused in shipped_libraries():
        _report_unused(_unused)

COMPILED = LIBRARY is not None or HAS_NUMBA
"""Whether kernels run compiled."""

CACHE = next(filter(_is_writable, _cache_folders()), None) if HAS_NUMBA else None
"""Folder for compiled kernels; None if no folder can be written."""


class Kernel:
    """A kernel for arguments that the kernel library does not take: numba compiles it at the first call.

    Attributes:
        py_func: the function as plain Python.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Store the function and numba's options for it."""
        self.py_func = function
        self._options = options

    @cached_property
    def dispatcher(self) -> Callable[..., Any]:
        """The function, compiled by numba if numba is installed."""
        return _compiled_by_numba(self.py_func, self._options) if HAS_NUMBA else self.py_func

    @cached_property
    def _records(self) -> dict[str, type[Record]]:
        """Class of each argument that is a record."""
        return {name: hint for name, hint in get_type_hints(self.py_func).items() if is_record(hint)}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function, compiled by numba if numba is installed.

        Raises:
            TypeError: an argument is not the record that the kernel takes.
        """
        for name, given in signature(self.py_func).bind(*arguments, **named).arguments.items():
            expected = self._records.get(name)
            if expected is not None and type(given) is not expected:
                raise TypeError(
                    f"{self.py_func.__name__}: {type(given).__name__} given as '{name}'; allowed: {expected.__name__}"
                )
        return self.dispatcher(*arguments, **named)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` for speed if the kernel library has it or numba is installed; otherwise return it unchanged.

    Compiled code is cached in the user's cache folder; numba's part of it in NUMBA_CACHE_DIR, if that is set.
    Arithmetic is strict IEEE (no fastmath): compiled and plain code agree to rounding.
    """
    return _compiled(function, {})


def kernel_part(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, for a function that a kernel calls inside a loop: it is inlined into the kernel."""
    return _compiled(function, {"inline": "always"})


def bound(compiled: Callable[..., R], *first: Any) -> Callable[..., R]:
    """A kernel with its first arguments bound: a call passes the others.

    Arrays and records are bound by their memory: replace their contents, not the objects. With the kernel library, a
    call checks and converts only the others, which takes a fraction of the time.
    """
    made: Callable[..., R] | None = None if LIBRARY is None else LIBRARY.bind(compiled, *first)
    return partial(compiled, *first) if made is None else made


def chained(links: Sequence[Callable[[], Any]]) -> Callable[[int], tuple[int, int]]:
    """Kernels, all arguments of which are bound, that run one after the other, and after the last the first again.

    A kernel of a chain returns a status, an integer or a boolean, or nothing, which counts as 0. The chain is called
    with the number of the first kernel to run. It runs until a kernel returns a status greater than 0, and returns the
    number of that kernel and the status. After the status -n it skips the next n kernels.
    """
    made: Callable[[int], tuple[int, int]] | None = None if LIBRARY is None else LIBRARY.chain(*links)
    return partial(_run_chain, links) if made is None else made


def run_chains(
    chains: list[Callable[[int], tuple[int, int]]], at: NDArray[np.int64], status: NDArray[np.int64]
) -> None:
    """Run chains that `chained` returned, each until it stops, in one call.

    Args:
        chains: the chains (n).
        at: number of the first link of each (n,); replaced by that of the kernel that stopped it.
        status: the status of that kernel (n,).
    """
    if LIBRARY is None or LIBRARY.run_chains(chains, at, status) is None:
        for lane, run in enumerate(chains):
            at[lane], status[lane] = run(int(at[lane]))


def _run_chain(links: Sequence[Callable[[], Any]], start: int) -> tuple[int, int]:
    index = start
    while True:
        status = int(links[index]() or 0)
        if status > 0:
            return index, status
        index = (index + 1 - status) % len(links)


def plain(compiled: Callable[P, R]) -> Callable[P, R]:
    """The plain Python function of a kernel."""
    function: Callable[P, R] = getattr(_behind(compiled), "py_func", compiled)
    return function


def dispatcher(compiled: Any) -> Any:
    """numba's dispatcher of a kernel."""
    found = _behind(compiled)
    return found.dispatcher if isinstance(found, Kernel) else found


def _behind(compiled: Any) -> Any:
    """The `Kernel` that a function of the kernel library falls back to; other objects are returned unchanged."""
    return getattr(compiled, "__self__", compiled)


def _compiled(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    if not COMPILED:
        return function
    if LIBRARY is not None:
        return _of_library(LIBRARY, Kernel(function, options))
    by_numba = _compiled_by_numba(function, options)
    _BY_NUMBA.append(by_numba)
    return by_numba


def _of_library(library: ModuleType, by_numba: Kernel) -> Any:
    """The library's kernel, or the given one if the library has none of that name."""
    function = by_numba.py_func
    return library.kernel(f"{function.__module__}.{function.__qualname__}", by_numba)


_BY_NUMBA: list[Any] = []


def adopt_library() -> None:
    """Use a kernel library that has been built since the start, in all modules, instead of compiling by numba."""
    global LIBRARY
    if LIBRARY is not None or (LIBRARY := found_library()) is None:
        return
    adopted = {}
    for one in _BY_NUMBA:
        fallback = Kernel(one.py_func, {})
        fallback.dispatcher = one
        if (compiled := _of_library(LIBRARY, fallback)) is not fallback:
            adopted[id(one)] = compiled
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{_PACKAGE.name}."):
            for key, value in list(vars(module).items()):
                if id(value) in adopted:
                    setattr(module, key, adopted[id(value)])


def _compiled_by_numba(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    can_cache = CACHE is not None or "NUMBA_CACHE_DIR" in os.environ
    compiled: Callable[P, R] = _numba().njit(**{"cache": can_cache, **OPTIONS, **options})(function)
    return compiled


@cache
def _numba() -> Any:
    """The module numba, extended to compile calls to functions of the kernel library."""
    import numba
    from numba.core import config
    from numba.extending import typeof_impl

    if "NUMBA_CACHE_DIR" not in os.environ and CACHE is not None:
        config.CACHE_DIR = str(CACHE)

    @typeof_impl.register(BuiltinFunctionType)  # type: ignore[untyped-decorator]
    @typeof_impl.register(Kernel)  # type: ignore[untyped-decorator]
    def type_of(value: Any, _context: Any) -> Any:
        found = _behind(value)
        return numba.types.Dispatcher(found.dispatcher) if isinstance(found, Kernel) else None

    @typeof_impl.register(Record)  # type: ignore[untyped-decorator]
    def type_of_record(value: Record, _context: Any) -> Any:
        return numba_type(type(value))

    return numba


def cache_mark() -> Path | None:
    """File that exists if numba's cache holds all kernels; None if nothing can be cached."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or CACHE
    if folder is None:
        return None
    import numba
    from llvmlite.binding import get_host_cpu_name

    return Path(folder, f"complete-{numba.__version__}-{get_host_cpu_name()}{EXTENSION_SUFFIXES[0]}")


@cache
def numba_type(record: type[Record]) -> Any:
    """numba's type of a record."""
    import numba
    import numpy as np

    return numba.from_dtype(np.dtype(record))
