"""Parameter store of the flight controller: get, set, save, load, and change callbacks.

Files have ROSflight's format: a YAML list of {name, type, value}, with type 6 for an integer and 9 for a number.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from rosflight_py_sim.firmware.parameter_file import FILE_TYPES, ParameterEntry, ParameterFileError, read_entries
from rosflight_py_sim.firmware.parameter_table import PARAMETERS, FirmwareParameter
from rosflight_py_sim.ground.parameters import Parameter, ParameterError

FIRMWARE_PARAMETERS = Parameter(
    "firmware_parameters",
    [],
    "Initial firmware parameters, such as `PID_ROLL_ANG_P 6` (docs/firmware.md); they override those in "
    "firmware_param_file, and saved parameters override them",
    read_only=True,
    element=str,
)

STRICT_FIRMWARE_FILES = Parameter(
    "strict_firmware_files",
    False,
    "Whether files given to firmware_param_file and param_load_from_file are refused if they contain a name that the "
    "firmware does not have; if false, such entries are left out with one warning",
    read_only=True,
)

Number = int | float

_TABLE: dict[str, FirmwareParameter] = {parameter.name: parameter for parameter in PARAMETERS}
_DEFAULTS: dict[str, Number] = {name: parameter.default for name, parameter in _TABLE.items()}


class UnknownFirmwareParameter(ValueError):  # noqa: N818 (named for what is wrong)
    """Unknown parameter name."""


class FirmwareParameterOutOfRange(ValueError):  # noqa: N818 (named for what is wrong)
    """Value that is not allowed; the text names the parameter, the value and the allowed values."""


class FirmwareParameters:
    """All parameters of the flight controller, initially at their defaults.

    `types` maps names to int or float. `unsaved` is true if a value has changed since the last `save`. The functions in
    `on_change` are called with the name of each parameter after its value has changed.
    """

    types: Mapping[str, type[int] | type[float]] = {p.name: p.type for p in PARAMETERS}

    def __init__(self, *, unlimited_numbers: bool = False) -> None:
        """Set the defaults; with `unlimited_numbers`, only the ranges of integers are enforced."""
        self._unlimited = unlimited_numbers
        self._values = dict(_DEFAULTS)
        self.unsaved = False
        self.on_change: list[Callable[[str], None]] = []

    def __contains__(self, name: object) -> bool:
        return name in _TABLE

    def __getitem__(self, name: str) -> Number:
        try:
            return self._values[name]
        except KeyError:
            raise UnknownFirmwareParameter(_unknown(name)) from None

    def get(self, name: str) -> Number | None:
        """The value, or None if there is no such parameter."""
        return self._values.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, in the order of the table."""
        return tuple(_TABLE)

    def set(self, name: str, value: float) -> bool:
        """Set a parameter; return whether its value changed. The type int requires a whole number.

        Raises:
            UnknownFirmwareParameter: there is no such parameter.
            FirmwareParameterOutOfRange: the value is not allowed; the old one is kept.
        """
        checked = self._checked(name, value)
        if checked == self._values[name]:
            return False
        self._values[name] = checked
        self.unsaved = True
        self._notify(name)
        return True

    def snapshot(self) -> dict[str, Number]:
        """A copy of all values."""
        return dict(self._values)

    def restore(self, values: Mapping[str, Number]) -> None:
        """Set the values given, all or (on an error) none; the others are kept.

        Raises:
            UnknownFirmwareParameter, FirmwareParameterOutOfRange: as `set`.
        """
        present = self._values
        self._apply({name: self._checked(name, value) for name, value in values.items() if value != present.get(name)})

    def _apply(self, checked: Mapping[str, Number]) -> None:
        changed = {name: value for name, value in checked.items() if value != self._values[name]}
        self._values.update(changed)
        if changed:
            self.unsaved = True
        for name in changed:
            self._notify(name)

    def restore_defaults(self) -> None:
        """Set every parameter to its default."""
        self.restore(_DEFAULTS)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write every value to a file atomically (a new file replaces the old one).

        Raises:
            OSError: the file cannot be written.
        """
        target = Path(path)
        lines = [
            f"- {{name: {name}, type: {FILE_TYPES[self.types[name]]}, value: {_text(value)}}}\n"
            for name, value in sorted(self._values.items())
        ]
        # In the same folder, because a rename is atomic only within one file system.
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            with unfinished.open("w", encoding="utf-8") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(target)
            _sync_folder(target.parent)
        finally:
            unfinished.unlink(missing_ok=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """`export` the values and mark them as saved."""
        self.export(path)
        self.unsaved = False

    def load(self, path: str | os.PathLike[str], on_unknown: Callable[[str], None] | None = None) -> None:
        """Set the values of a file, all or (on an error) none; parameters not listed are kept.

        Entries with unknown names are left out if `on_unknown` is given: it is called once, with a text that names them
        all. ROSflight's loader leaves them out, too, for example those of another release of the firmware.

        Raises:
            ParameterFileError: not readable, not a list of {name, type, value}, a type or value that is not allowed,
                or, without `on_unknown`, an unknown name.
        """
        entries = read_entries(Path(path))
        values, unknown = _values_of(entries, Path(path), unlimited=self._unlimited, strict=on_unknown is None)
        self._apply(values)
        if on_unknown is not None and unknown:
            on_unknown(
                f"{path}: {len(unknown)} of {len(unknown) + len(values)} parameters left out, which the firmware does "
                f"not have: {', '.join(unknown)}"
            )

    def load_texts(self, texts: Iterable[str]) -> None:
        """Set the values of texts such as `PID_ROLL_ANG_P 6`, all or (on an error) none; of one name, the last.

        Raises:
            ParameterError: not a name and a value, or one that is not allowed.
        """
        try:
            self._apply({name: self._checked(name, value) for name, value in map(_words, texts)})
        except ValueError as error:
            raise ParameterError(f"parameter '{FIRMWARE_PARAMETERS.name}': {error}") from error

    def _checked(self, name: str, value: float | str) -> Number:
        return _checked(name, value, unlimited=self._unlimited)

    def _notify(self, name: str) -> None:
        for notify in self.on_change:
            notify(name)


def _text(value: Number) -> str:
    """Shortest text that reads back as the value, even in YAML 1.1, which needs 1.0e-07 for 1e-07."""
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, _TABLE, n=3, cutoff=0.7)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no firmware parameter '{name}'{hint}"


def _words(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) != 2:
        raise ValueError(f"{text!r} given; allowed: a name and a value, as in 'PID_ROLL_ANG_P 6'")
    return words[0], words[1]


def _checked(name: str, value: float | str, *, unlimited: bool) -> Number:
    parameter = _TABLE.get(name)
    if parameter is None:
        raise UnknownFirmwareParameter(_unknown(name))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    beyond = unlimited and parameter.type is float and math.isfinite(number)
    if not beyond and not parameter.accepts(number):
        raise FirmwareParameterOutOfRange(f"firmware parameter '{name}': {value!r} given; allowed: {parameter.allowed}")
    return parameter.type(number)


@lru_cache(maxsize=16)
def _values_of(
    entries: tuple[ParameterEntry, ...], path: Path, *, unlimited: bool, strict: bool
) -> tuple[Mapping[str, Number], Sequence[str]]:
    """Checked values of a file's entries, and the unknown names, which are an error if `strict`."""
    values: dict[str, Number] = {}
    unknown: list[str] = []
    for entry in entries:
        parameter = _TABLE.get(entry.name)
        if parameter is None and not strict:
            unknown.append(entry.name)
            continue
        try:
            if parameter is None:
                raise UnknownFirmwareParameter(_unknown(entry.name))
            expected = FILE_TYPES[parameter.type]
            if entry.type != str(expected):
                raise ValueError(f"'{entry.name}' has type {expected}, but the file gives type {entry.type}")
            values[entry.name] = _checked(entry.name, entry.value, unlimited=unlimited)
        except ValueError as error:
            raise ParameterFileError(f"{path}, line {entry.line}: {error}") from error
    return values, unknown
