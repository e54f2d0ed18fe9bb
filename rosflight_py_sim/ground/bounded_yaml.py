"""YAML for files that others may have written: a document is read, or refused by a YAMLError, and nothing else happens.

PyYAML's safe loader creates no objects of other types, but nested or aliased lists can exhaust stack and memory, and
its constructors raise errors of many types.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

# Nesting of lists and mappings; far more than any file of this project needs.
_DEEPEST = 50

_LARGEST_INTEGER = 2**63


class BoundedLoader(yaml.SafeLoader):
    """Safe loader that refuses aliases, deep nesting and integers of more than 64 bits.

    A date is a text, as in YAML 1.2 and ROS.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Node of the next event, with the nodes below it."""
        mark: Any = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias (*name) given; allowed: none", mark)
        if self._depth == _DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"nested more than {_DEEPEST} deep", mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Value of a node."""
        try:
            value = super().construct_object(node, deep=deep)
        except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
            kind = node.tag.rpartition(":")[2]
            problem = f"'{node.value}' is not of the type {kind}" if isinstance(node, yaml.ScalarNode) else str(error)
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error
        if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
            raise yaml.constructor.ConstructorError(None, None, "an integer of more than 64 bits", node.start_mark)
        return value


def _text(loader: BoundedLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


BoundedLoader.add_constructor("tag:yaml.org,2002:timestamp", _text)


def load_yaml(text: str, loader: type[BoundedLoader] = BoundedLoader) -> Any:
    """Content of a document: numbers, texts, truth values, lists and mappings; None if it is empty.

    Raises:
        yaml.YAMLError: not one document of YAML, or beyond the bounds.
    """
    return loader(text).get_single_data()


@lru_cache(maxsize=16)
def compose_yaml(text: str) -> yaml.Node | None:
    """Nodes of a document, which have line numbers; None if it is empty.

    The nodes are shared by all callers with the same text, such as the flight controllers of a fleet, and must not be
    changed.

    Raises:
        yaml.YAMLError: as `load_yaml`, except for the types of values.
    """
    return yaml.compose(text, Loader=BoundedLoader)
