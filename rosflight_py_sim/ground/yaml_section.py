"""YAML reader whose errors name the line and the path within the file."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from rosflight_py_sim.ground.bounded_yaml import BoundedLoader, compose_yaml

T = TypeVar("T")
D = TypeVar("D")

_LARGEST_FILE = 1_000_000
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class _Loader(BoundedLoader):
    """Loader that reads `1e-3` as a number, as YAML 1.2 and ROS do; PyYAML reads it as a text."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Value of a node."""
        value = super().construct_object(node, deep=deep)
        is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
        return float(value) if is_plain and isinstance(value, str) and _NUMBER.fullmatch(value) else value


class Item:
    """One value of a file, with its position.

    Attributes:
        file: the file.
    """

    def __init__(self, file: Path, node: yaml.Node, path: str, error: type[ValueError]) -> None:
        self.file = file
        self._node = node
        self._path = path
        self._error = error

    def refuse(self, allowed: str, given: str = "") -> ValueError:
        """Error that names the value given and the values allowed; `given` replaces the value's own text."""
        prefix = f"{given or _shown(self._node)} given; " if given or self._path else ""
        return self.fail(f"{prefix}allowed: {allowed}")

    def fail(self, text: str) -> ValueError:
        """Error with this text, and the place of the value."""
        return self._error(f"{self._place}: {text}")

    @property
    def _place(self) -> str:
        place = f"{self.file}, line {self._node.start_mark.line + 1}"
        return f"{place}: {self._path}" if self._path else place

    def _at(self, node: yaml.Node, path: str) -> Item:
        return Item(self.file, node, path, self._error)

    def section(self, allowed: Sequence[str], required: Sequence[str] = ()) -> Section:
        """The value as a mapping with only the allowed keys, including the required ones."""
        node = self._node
        if not isinstance(node, yaml.MappingNode):
            raise self.refuse(f"a mapping with {', '.join(allowed)}")
        items: dict[str, Item] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else _shown(key)
            path = f"{self._path}.{name}" if self._path else name
            if name in items:
                raise self._at(key, path).refuse("each key once", "a second one")
            if name not in allowed:
                near = difflib.get_close_matches(name, allowed, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise self._at(key, path).refuse(", ".join(allowed) + hint, "an unknown key")
            items[name] = self._at(value, path)
        missing = [name for name in required if name not in items]
        if missing:
            raise self.refuse(f"only with the keys {', '.join(required)}", f"no {missing[0]}")
        return Section(items)

    def items(self) -> Iterator[Item]:
        """The elements of a list."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.refuse("a list")
        for k, node in enumerate(self._node.value):
            yield self._at(node, f"{self._path}[{k}]")

    def number(self, *, least: float = -math.inf, most: float = math.inf, above_least: bool = False) -> float:
        """The value as a number."""
        bounds = [f"greater than {least:g}" if above_least else f"at least {least:g}"] if least > -math.inf else []
        bounds += [f"at most {most:g}"] if most < math.inf else []
        allowed = " ".join(["a number", " and ".join(bounds)]).strip()
        node = self._node
        plain = isinstance(node, yaml.ScalarNode) and node.style is None
        if not plain or not _NUMBER.fullmatch(node.value):
            raise self.refuse(allowed)
        value = float(node.value)
        if not math.isfinite(value) or value < least or value > most or (above_least and value <= least):
            raise self.refuse(allowed)
        return value

    def numbers(self, names: Sequence[str], one: Callable[[Item], float]) -> tuple[float, ...]:
        """The value as a list of as many numbers as there are names, each read by `one`."""
        if not isinstance(self._node, yaml.SequenceNode) or len(self._node.value) != len(names):
            raise self.refuse(f"[{', '.join(names)}]")
        return tuple(one(item) for item in self.items())

    def entries(self) -> dict[str, Item]:
        """The value as a mapping with any names."""
        node = self._node
        if not isinstance(node, yaml.MappingNode) or not all(isinstance(k, yaml.ScalarNode) for k, _ in node.value):
            raise self.refuse("a mapping from names to values")
        items: dict[str, Item] = {}
        for key, value in node.value:
            path = f"{self._path}.{key.value}"
            if key.value in items:
                raise self._at(key, path).refuse("each name once", "a second one")
            items[key.value] = self._at(value, path)
        return items

    def value(self) -> Any:
        """The value as it is: a number, a text, a truth value, a list or a mapping of these."""
        try:
            return _Loader("").construct_document(self._node)
        except yaml.YAMLError as error:
            raise self.refuse("a number, a text, a truth value, a list or a mapping") from error

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self._node, yaml.SequenceNode)

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""
        return isinstance(self._node, yaml.MappingNode)

    def text(self) -> str:
        """The value as a non-empty text."""
        if not isinstance(self._node, yaml.ScalarNode) or self._node.tag != "tag:yaml.org,2002:str":
            raise self.refuse("a text")
        value = str(self._node.value)
        if not value.strip():
            raise self.refuse("a text that is not empty")
        return value

    def choice(self, choices: Mapping[str, T]) -> T:
        """The object in `choices` under the value's text."""
        node = self._node
        if not isinstance(node, yaml.ScalarNode) or node.value not in choices:
            raise self.refuse(", ".join(choices))
        return choices[node.value]


class Section:
    """The values of a mapping, by name."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> Item:
        return self._items[name]

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def get(self, name: str, default: D) -> Item | D:
        """The value of that name, or the default if there is none."""
        return self._items.get(name, default)

    def over(self, base: Section) -> Section:
        """These values, and those of `base` under all other names."""
        return Section({**base._items, **self._items})

    def read(self, name: str, one: Callable[[Item], T], default: D) -> T | D:
        """The value as read by `one`, or the default if there is none."""
        return one(self._items[name]) if name in self._items else default


def read_file(file: Path, error: type[ValueError], text: str | None = None) -> Item:
    """Read the document in a file; errors in it are raised as `error`.

    Args:
        file: the file.
        error: type of the errors.
        text: the file's content; None: read the file.

    Raises:
        ValueError: of the type `error`: the file cannot be read, is not YAML, or is empty.
    """
    try:
        if (file.stat().st_size if text is None else len(text.encode())) > _LARGEST_FILE:
            raise error(f"{file}: larger than {_LARGEST_FILE} bytes")
        node = compose_yaml(file.read_text(encoding="utf-8") if text is None else text)
    except (OSError, UnicodeDecodeError) as cause:
        raise error(f"{file}: cannot be read: {cause}") from cause
    except yaml.YAMLError as cause:
        raise error(f"{file}: not YAML: {' '.join(str(cause).split())}") from cause
    if node is None:
        raise error(f"{file}: is empty")
    return Item(file, node, "", error)


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value) if node.style or not node.value else str(node.value)
    if isinstance(node, yaml.SequenceNode) and all(isinstance(one, yaml.ScalarNode) for one in node.value):
        return f"[{', '.join(_shown(one) for one in node.value)}]"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping"
