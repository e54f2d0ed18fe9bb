"""Records: parameters and states with names, which kernels take by address.

A record is a class that lists its fields with their types, `float`, `int`, `bool` or another record:

    @kernel_record
    class Battery:
        voltage: float
        charge_drawn: float

    battery = Battery(voltage=25.2, charge_drawn=0.0)

Python and kernels read and write `battery.voltage`. The memory is that of a C structure (ctypes): a kernel call passes
one address, however many fields the record has. A kernel can pass the record, or a record within it, to other kernels.
An array is for numbered things: rows of rotors, elements of a vector or of a matrix.
"""

from __future__ import annotations

import ctypes
import types
import typing
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Tell type checkers that the decorated class gets a constructor of its fields; no effect at run time."""
        return lambda decorator: decorator


T = TypeVar("T")
S = TypeVar("S", bound="Record")

_C_TYPES: dict[Any, Any] = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_bool}


class Record(ctypes.Structure):
    """Base of all records.

    Class attributes:
        NAMES: names of the fields.

    Attributes:
        data: the record itself; numba looks here for the memory of a record.
    """

    __slots__ = ()
    NAMES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **values: float) -> None:
        """Set every field, each given by name.

        Raises:
            TypeError: a field is missing or unknown, or a value has the wrong type.
        """
        fields = self.NAMES
        if values.keys() != fields:
            wrong = [f"'{name}' is missing" for name in sorted(fields - values.keys())]
            wrong += [f"'{name}' is unknown" for name in sorted(values.keys() - fields)]
            raise TypeError(f"{type(self).__name__}: {', '.join(wrong)}; fields: {', '.join(sorted(fields))}")
        super().__init__(**values)

    @property
    def data(self: S) -> S:
        return self

    def __copy__(self: S) -> S:
        return type(self).from_buffer_copy(self)


def assign(target: T, source: T) -> None:
    """Copy the values of a record to another one of its class, which keeps its memory.

    Raises:
        TypeError: the classes differ.
    """
    to, values = cast("Record", target), cast("Record", source)
    if type(values) is not type(to):
        raise TypeError(f"{type(values).__name__} given; allowed: {type(to).__name__}, as the record that changes")
    ctypes.memmove(ctypes.addressof(to), ctypes.addressof(values), ctypes.sizeof(to))


def field_array(record: object, name: str) -> NDArray[np.float64]:
    """The memory of a field of type float as an array (1,)."""
    import numpy as np  # not at module level: a process that only reads records does not need it

    return np.frombuffer(cast("Any", record), np.float64, 1, getattr(type(record), name).offset)


@dataclass_transform(kw_only_default=True)
def kernel_record(declared: type[T]) -> type[T]:
    """The record that a class with annotated fields declares.

    Raises:
        TypeError: a field is neither a number, a boolean nor a record.
    """
    fields = []
    for name, hint in typing.get_type_hints(declared).items():
        kind = hint if is_record(hint) else _C_TYPES.get(hint)
        if kind is None:
            raise TypeError(f"{declared.__name__}.{name}: {hint} given; allowed: float, int, bool, a kernel record")
        fields.append((name, kind))
    namespace = {name: value for name, value in vars(declared).items() if name not in ("__dict__", "__weakref__")}
    namespace |= {
        "__slots__": (),
        "__qualname__": declared.__qualname__,
        "_fields_": fields,
        "NAMES": frozenset(name for name, _ in fields),
    }
    record: type[T] = types.new_class(declared.__name__, (Record,), exec_body=lambda body: body.update(namespace))
    return record


def is_record(hint: Any) -> bool:
    """Whether an annotation is a record."""
    return isinstance(hint, type) and issubclass(hint, Record)
