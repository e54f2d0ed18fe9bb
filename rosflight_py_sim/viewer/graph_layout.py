"""Places of boxes and lines of a directed graph: layers from top to bottom, few crossings, lines that run straight.

The method of Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system structures, IEEE Trans.
SMC 11(2), 1981: cycles are broken, boxes get layers, lines that pass layers get a place in each, the order within
layers comes from the mean place of the neighbours, and the places from least squares under the order (isotonic
regression by pooling adjacent violators).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

_GAP_X, _GAP_Y = 26.0, 44.0

# Lines leave and enter boxes straight for this long, so that arrow heads stand upright.
_STUB = 10.0

# What a line that passes a layer takes there.
_LINE_WIDTH, _LINE_GAP = 2.0, 12.0

_SWEEPS = 24

# How hard the places of a line hold together, to how hard a line pulls at a box.
_STRAIGHTNESS = 8.0

Point = tuple[float, float]
Edge = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Where all is drawn; x to the right, y down, from (0, 0).

    Attributes:
        centres: middle of each box.
        routes: the corners of each edge, from the box it leaves to the one it enters: it runs vertically from the first
            to the second, then aside to the third, vertically to the fourth, and so on.
        width, height: of the whole.
    """

    centres: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


class _Grid:
    """Boxes and places of lines in layers: vertices from 0 are boxes, further ones places."""

    def __init__(self, sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], first: Sequence[int]) -> None:
        self.sizes = list(sizes)
        self.boxes = len(sizes)
        turned = _turned(len(sizes), edges, first)
        downward = [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, turned, strict=True)]
        self.layer_of = _layers(len(sizes), downward)
        # The vertices that each edge goes through, from top to bottom.
        self.chains: list[list[int]] = []
        for top, bottom in downward:
            chain = [top]
            for layer in range(self.layer_of[top] + 1, self.layer_of[bottom]):
                chain.append(len(self.sizes))
                self.sizes.append((_LINE_WIDTH, 0.0))
                self.layer_of.append(layer)
            self.chains.append([*chain, bottom])
        self.turned = turned
        count = len(self.sizes)
        self.above: list[list[int]] = [[] for _ in range(count)]
        self.below: list[list[int]] = [[] for _ in range(count)]
        for chain in self.chains:
            for top, bottom in pairwise(chain):
                self.below[top].append(bottom)
                self.above[bottom].append(top)
        self.layers: list[list[int]] = [[] for _ in range(max(self.layer_of, default=-1) + 1)]
        for vertex in _depth_first(count, self.below, first):
            self.layers[self.layer_of[vertex]].append(vertex)

    def is_place(self, vertex: int) -> bool:
        """Whether it is a place of a line, not a box."""
        return vertex >= self.boxes


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], first: Sequence[int] = ()) -> Layout:
    """Lay a graph out.

    Args:
        sizes: width and height of each box.
        edges: numbers of the boxes that each leaves and enters; no edge from a box to itself.
        first: boxes from which to begin, which so come on top.
    """
    grid = _Grid(sizes, edges, first)
    _order(grid)
    x = _places(grid)
    tops, heights = _rows(grid)
    y = [tops[layer] + heights[layer] / 2.0 for layer in grid.layer_of]
    centres = list(zip(x, y, strict=True))
    width = max((x[v] + grid.sizes[v][0] / 2.0 for v in range(len(x))), default=0.0)
    height = tops[-1] + heights[-1] if tops else 0.0
    return Layout(centres[: grid.boxes], _routes(grid, x, tops, heights), width, height)


def _turned(count: int, edges: Sequence[Edge], first: Sequence[int]) -> list[bool]:
    """Which edges to turn round so that no cycle is left: those that lead back, seen from `first`."""
    after: list[list[int]] = [[] for _ in range(count)]
    for number, (a, _) in enumerate(edges):
        after[a].append(number)
    turned = [False] * len(edges)
    state = [0] * count
    sources = [v for v in range(count) if all(b != v for _, b in edges)]
    for start in [*first, *sources, *range(count)]:
        if state[start]:
            continue
        state[start] = 1
        path = [(start, iter(after[start]))]
        while path:
            vertex, rest = path[-1]
            number = next(rest, -1)
            if number < 0:
                state[vertex] = 2
                path.pop()
                continue
            target = edges[number][1]
            if state[target] == 1:
                turned[number] = True
            elif state[target] == 0:
                state[target] = 1
                path.append((target, iter(after[target])))
    return turned


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """Layer of each box: below all that lead to it, and no further from what it leads to than need be."""
    layer = [0] * count
    for _ in range(count):
        moved = False
        for a, b in edges:
            if layer[b] <= layer[a]:
                layer[b] = layer[a] + 1
                moved = True
        if not moved:
            break
    entered = {b for _, b in edges}
    for vertex in range(count):
        if vertex not in entered:
            layer[vertex] = min((layer[b] for a, b in edges if a == vertex), default=1) - 1
    return layer


def _depth_first(count: int, below: list[list[int]], first: Sequence[int]) -> list[int]:
    order: list[int] = []
    seen = [False] * count
    for start in [*first, *range(count)]:
        waiting = [start]
        while waiting:
            vertex = waiting.pop()
            if not seen[vertex]:
                seen[vertex] = True
                order.append(vertex)
                waiting += reversed(below[vertex])
    return order


def _order(grid: _Grid) -> None:
    """Sort each layer by where the neighbours are, down and up again, and keep the best."""
    best, fewest = [list(layer) for layer in grid.layers], _all_crossings(grid)
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        numbers = range(1, len(grid.layers)) if downward else range(len(grid.layers) - 2, -1, -1)
        for number in numbers:
            beside = grid.layers[number - 1 if downward else number + 1]
            where = {vertex: i for i, vertex in enumerate(beside)}
            neighbours = grid.above if downward else grid.below
            layer = grid.layers[number]
            now = {vertex: i for i, vertex in enumerate(layer)}
            mean = {
                v: sum(where[n] for n in neighbours[v]) / len(neighbours[v]) if neighbours[v] else float(now[v])
                for v in layer
            }
            layer.sort(key=lambda v: (mean[v], now[v]))
        crossings = _all_crossings(grid)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in grid.layers], crossings
    grid.layers = best


def _all_crossings(grid: _Grid) -> int:
    total = 0
    for upper, lower in pairwise(grid.layers):
        where = {vertex: i for i, vertex in enumerate(lower)}
        ends = [where[b] for vertex in upper for b in sorted(grid.below[vertex], key=where.__getitem__)]
        total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total


def _places(grid: _Grid) -> list[float]:
    """x of each vertex: near its neighbours, in the order of its layer and with room between."""
    x = [0.0] * len(grid.sizes)
    line_of = {vertex: chain[1:-1] for chain in grid.chains for vertex in chain[1:-1]}
    for layer in grid.layers:
        for vertex, offset in zip(layer, _offsets(grid, layer), strict=True):
            x[vertex] = offset
    for sweep in range(_SWEEPS):
        for layer in grid.layers if sweep % 2 == 0 else reversed(grid.layers):
            wishes, weights = [], []
            for v in layer:
                beside = [x[n] for n in line_of.get(v) or [*grid.above[v], *grid.below[v]]]
                wishes.append(sum(beside) / len(beside) if beside else x[v])
                weights.append(_STRAIGHTNESS if v in line_of else len(beside) or 0.1)
            offsets = _offsets(grid, layer)
            shifts = _increasing([w - o for w, o in zip(wishes, offsets, strict=True)], weights)
            for v, offset, shift in zip(layer, offsets, shifts, strict=True):
                x[v] = offset + shift
    _straighten(grid, x)
    left = min((x[v] - grid.sizes[v][0] / 2.0 for v in range(len(x))), default=0.0)
    return [value - left for value in x]


def _straighten(grid: _Grid, x: list[float]) -> None:
    """Give all places of a line the same x, wherever their neighbours leave room for it."""
    beside: dict[int, tuple[int | None, int | None]] = {}
    for layer in grid.layers:
        for left, vertex, right in zip([None, *layer], layer, [*layer[1:], None], strict=False):
            beside[vertex] = left, right

    def reach(vertex: int) -> tuple[float, float]:
        left, right = beside[vertex]
        low = -math.inf if left is None else x[left] + _distance(grid, left, vertex)
        return low, math.inf if right is None else x[right] - _distance(grid, vertex, right)

    for _ in range(_SWEEPS):
        for chain in grid.chains:
            places = chain[1:-1]
            reaches = [reach(vertex) for vertex in places]
            low, high = max((r[0] for r in reaches), default=0.0), min((r[1] for r in reaches), default=0.0)
            if places and low <= high:
                wish = median(x[vertex] for vertex in places)
                for vertex in places:
                    x[vertex] = min(max(wish, low), high)


def _distance(grid: _Grid, left: int, right: int) -> float:
    """Least distance between the middles of neighbours."""
    gap = _LINE_GAP if grid.is_place(left) or grid.is_place(right) else _GAP_X
    return (grid.sizes[left][0] + grid.sizes[right][0]) / 2.0 + gap


def _offsets(grid: _Grid, layer: Sequence[int]) -> list[float]:
    """x of each vertex of a layer when all are pushed to the left."""
    offsets: list[float] = []
    for i, vertex in enumerate(layer):
        offsets.append(offsets[-1] + _distance(grid, layer[i - 1], vertex) if i else 0.0)
    return offsets


def _increasing(wishes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The numbers nearest to the wishes, by weighted squares, none of which is less than the one before."""
    blocks: list[tuple[float, float, int]] = []
    for wish, weight in zip(wishes, weights, strict=True):
        block = (wish, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, sum_of, count = blocks.pop()
            total = sum_of + block[1]
            block = ((mean * sum_of + block[0] * block[1]) / total, total, count + block[2])
        blocks.append(block)
    return [mean for mean, _, count in blocks for _ in range(count)]


def _rows(grid: _Grid) -> tuple[list[float], list[float]]:
    """Top and height of each layer."""
    heights = [max(grid.sizes[v][1] for v in layer) for layer in grid.layers]
    tops: list[float] = []
    for i in range(len(heights)):
        tops.append(tops[-1] + heights[i - 1] + _GAP_Y if i else 0.0)
    return tops, heights


def _routes(grid: _Grid, x: list[float], tops: list[float], heights: list[float]) -> list[list[Point]]:
    """Corners of each edge, its ends spread over the sides of the boxes in the order of where they lead."""
    leaving: dict[int, list[tuple[float, int]]] = {}
    entering: dict[int, list[tuple[float, int]]] = {}
    for number, chain in enumerate(grid.chains):
        leaving.setdefault(chain[0], []).append((x[chain[1]], number))
        entering.setdefault(chain[-1], []).append((x[chain[-2]], number))
    start, end = _ports(grid, x, leaving), _ports(grid, x, entering)
    routes = []
    for number, chain in enumerate(grid.chains):
        middle = [
            (x[v], y)
            for v in chain[1:-1]
            for y in (tops[grid.layer_of[v]], tops[grid.layer_of[v]] + heights[grid.layer_of[v]])
        ]
        (top, bottom), layers = (chain[0], chain[-1]), grid.layer_of
        y0 = tops[layers[top]] + heights[layers[top]] / 2.0 + grid.sizes[top][1] / 2.0
        y1 = tops[layers[bottom]] + heights[layers[bottom]] / 2.0 - grid.sizes[bottom][1] / 2.0
        out = [(start[number], y0), (start[number], tops[layers[top]] + heights[layers[top]] + _STUB)]
        route = [*out, *middle, (end[number], tops[layers[bottom]] - _STUB), (end[number], y1)]
        routes.append(route[::-1] if grid.turned[number] else route)
    return routes


def _ports(grid: _Grid, x: list[float], sides: dict[int, list[tuple[float, int]]]) -> dict[int, float]:
    ports: dict[int, float] = {}
    for vertex, lines in sides.items():
        room = grid.sizes[vertex][0] * 0.8
        for i, (_, number) in enumerate(sorted(lines)):
            ports[number] = x[vertex] + room * ((i + 0.5) / len(lines) - 0.5)
    return ports
