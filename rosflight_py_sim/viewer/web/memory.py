"""The states that the page has shown, for a replay without a recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from rosflight_py_sim.viewer.web.player import between
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView

LONGEST = 30_000
"""Largest number of states of a vehicle: a quarter of an hour at 30 a second; older ones are dropped."""


class Memory:
    """States of each vehicle in order of time, without camera images."""

    def __init__(self, names: Iterable[str]) -> None:
        """Remember nothing; `names` are those of the vehicles."""
        self._views: dict[str, list[VehicleView]] = {name: [] for name in names}

    def take(self, name: str, view: VehicleView) -> bool:
        """Add a state; return whether time went back, so that a new flight begins and earlier states are dropped."""
        views = self._views[name]
        went_back = bool(views) and view.time_s < views[-1].time_s
        if went_back:
            self.clear()
        if not views or view.time_s > views[-1].time_s:
            views.append(replace(view, images={}))
        if len(views) > LONGEST:
            del views[: LONGEST // 10]
        return went_back

    def clear(self) -> None:
        """Forget all states."""
        for views in self._views.values():
            views.clear()

    @property
    def span_s(self) -> tuple[float, float]:
        """First and last time, s; both 0 without states."""
        kept = [views for views in self._views.values() if views]
        if not kept:
            return 0.0, 0.0
        return min(views[0].time_s for views in kept), max(views[-1].time_s for views in kept)

    def at(self, name: str, time_s: float) -> VehicleView | None:
        """State of a vehicle at a time, between the two next to it; None if it has none."""
        views = self._views[name]
        if not views:
            return None
        row = max(bisect_right(views, time_s, key=lambda view: view.time_s) - 1, 0)
        before, after = views[row], views[min(row + 1, len(views) - 1)]
        truth = between(time_s, before.time_s, before.truth, after.time_s, after.truth)
        return replace(before, time_s=time_s, truth=truth)
