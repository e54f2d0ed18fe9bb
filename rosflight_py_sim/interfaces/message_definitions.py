"""Definitions of message types with all nested types, for recordings (MCAP's schema encoding ros2msg)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractString,
    AbstractWString,
    Array,
    BasicType,
    BoundedSequence,
    BoundedString,
    BoundedWString,
    NamespacedType,
)

# Separates the text of a type from the next.
_SEPARATOR = "=" * 80

# Type names of OMG's IDL that differ in .msg files.
_BASIC = {"boolean": "bool", "octet": "byte", "float": "float32", "double": "float64"}


def message_class(type_name: str) -> Any:
    """Class of the type `package/msg/Name`.

    Raises:
        ImportError: the package is not installed, or has no such type.
    """
    package, kind, name = type_name.split("/")
    found = importlib.import_module(f"{package}.{kind}")
    try:
        # Messages of services and actions are attributes of their classes, as in Name_Event.
        for part in name.split("_"):
            found = getattr(found, part)
    except AttributeError as error:
        raise ImportError(f"package '{package}' has no {type_name}") from error
    return found


def type_name_of(message_type: Any) -> str:
    """Name of a message class, as `package/msg/Name`."""
    return "/".join((*message_type.__module__.split(".")[:2], message_type.__name__))


def is_stamped(message_type: Any) -> bool:
    """Whether the messages begin with a std_msgs/Header."""
    first = message_type.SLOT_TYPES[:1]
    return bool(first) and isinstance(first[0], NamespacedType) and first[0].name == "Header"


def message_definition(type_name: str) -> str:
    """Definition of a type, followed by those of all nested types.

    Raises:
        ImportError: the type is not installed.
    """
    cls = message_class(type_name)
    texts = [_text(type_name, cls)]
    for inner in _inner_types(cls, {}):
        package, _, name = inner.split("/")
        texts.append(f"{_SEPARATOR}\nMSG: {package}/{name}\n{_text(inner, message_class(inner))}")
    return "\n".join(texts)


def _inner_types(cls: Any, found: dict[str, None]) -> dict[str, None]:
    """Names of all nested types, each once."""
    for inner in _named_types(cls):
        name = "/".join(inner.namespaced_name())
        if name not in found:
            found[name] = None
            _inner_types(message_class(name), found)
    return found


def _named_types(cls: Any) -> Iterator[NamespacedType]:
    for slot in cls.SLOT_TYPES:
        within = slot.value_type if isinstance(slot, AbstractNestedType) else slot
        if isinstance(within, NamespacedType):
            yield within


def _text(type_name: str, cls: Any) -> str:
    package, kind, name = type_name.split("/")
    # The .msg file is under the prefix of the class's module; there may be no ament index.
    for prefix in Path(importlib.import_module(package).__file__ or "").parents:
        file = prefix / "share" / package / kind / f"{name}.msg"
        if file.is_file():
            return file.read_text(encoding="utf-8").rstrip()
    return _written(cls)


def _written(cls: Any) -> str:
    """The fields in the format of a .msg file, for types without one."""
    names = cls.get_fields_and_field_types()
    return "\n".join(f"{_word(slot)} {name}" for name, slot in zip(names, cls.SLOT_TYPES, strict=True))


def _word(slot: Any) -> str:
    if isinstance(slot, AbstractNestedType):
        bounds = str(slot.size) if isinstance(slot, Array) else ""
        if isinstance(slot, BoundedSequence):
            bounds = f"<={slot.maximum_size}"
        return f"{_word(slot.value_type)}[{bounds}]"
    if isinstance(slot, NamespacedType):
        return f"{slot.namespaced_name()[0]}/{slot.name}"
    if isinstance(slot, (AbstractString, AbstractWString)):
        word = "string" if isinstance(slot, AbstractString) else "wstring"
        return f"{word}<={slot.maximum_size}" if isinstance(slot, (BoundedString, BoundedWString)) else word
    assert isinstance(slot, BasicType)
    return _BASIC.get(slot.typename, slot.typename)
