"""Parameters of several nodes by name: `NAME`, or `NODE.NAME` for one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable


class NamedParameters:
    """The parameters of several nodes by name.

    The short name of a parameter stands for every node that has it, if all declare the same, apart from overrides. The
    name of a node and a dot before it select the nodes of that name; the parameter found then has the name `NODE:NAME`,
    as in ROS arguments. Iteration yields the parameters that have a short name for all nodes.
    """

    def __init__(self, tables: Iterable[tuple[str, ParameterTable]]) -> None:
        """`tables`: default names of nodes and their parameters; a name may occur several times."""
        self._declared: dict[str, list[tuple[str, Parameter]]] = {}
        for node, table in tables:
            for one in table:
                self._declared.setdefault(one.name, []).append((node, one))

    def __iter__(self) -> Iterator[Parameter]:
        """The parameters with a short name."""
        agreed = (_agreed(one for _, one in declared) for declared in self._declared.values())
        return (one for one in agreed if one is not None)

    def find(self, key: str) -> Parameter | None:
        """The parameter of that name; None if there is none.

        Raises:
            ParameterError: nodes declare it differently; the text gives the names allowed.
        """
        node, _, name = key.partition(".")
        if key in self._declared:
            node, name = "", key
        elif not node:
            return None
        found = [(of, one) for of, one in self._declared.get(name, ()) if node in ("", of)]
        if not found:
            return None
        agreed = _agreed(one for _, one in found)
        if agreed is None:
            nodes = list(dict.fromkeys(of for of, _ in found))
            allowed = [f"'{of}.{name}'" for of in nodes] if len(nodes) > 1 else ["the parameters of single vehicles"]
            raise ParameterError(
                f"parameter '{key}' given, which nodes declare differently; allowed: {' or '.join(allowed)}"
            )
        return replace(agreed, name=f"{node}:{name}") if node else agreed

    def unknown(self, key: str) -> str:
        """Error text for a name that no parameter has, with similar names."""
        return ParameterTable(*self).unknown(key)

    def ros_arguments(self, arguments: Sequence[str]) -> list[str]:
        """ROS arguments with `-p NODE:NAME:=VALUE` in place of `-p NODE.NAME:=VALUE`.

        Raises:
            ParameterError: a short name is given that nodes declare differently.
        """
        words: list[str] = []
        for word in arguments:
            key, assigned, value = word.partition(":=")
            one = self.find(key) if assigned and words[-1:] in (["-p"], ["--param"]) else None
            words.append(f"{key if one is None else one.name}{assigned}{value}")
        return words


def _agreed(declared: Iterable[Parameter]) -> Parameter | None:
    """The declaration that overrides all others, or any of those that are the same; None if they differ."""
    first, *others = declared
    for other in others:
        if other.declared != first.declared:
            return None
        if other.overrides == first:
            first = other
    return first
