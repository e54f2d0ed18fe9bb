"""Plots of any topic's fields, chosen by their names."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import viser

from rosflight_py_sim.viewer.web.history import History
from rosflight_py_sim.viewer.web.intervals import Intervals
from rosflight_py_sim.viewer.web.message_fields import fields_of, value_of
from rosflight_py_sim.viewer.web.plots import send, time_plot

_CHOOSE = "choose a topic"
_WAITING = "waiting for a message"

_PERIODS_S = {"topics": 1.0, "plots": 0.2}

# Below this size, values are shown in thousandths, millionths and so on.
_SMALL = 0.05


class Messages(Protocol):
    """Source of the messages."""

    def topics(self) -> list[str]:
        """Names of all topics with numbers."""

    def newest(self, topic: str, time_s: float) -> Any:
        """Newest message of a topic at a time, s; None before the first."""

    def keep(self, topics: set[str]) -> None:
        """Receive these topics from now on, and no others."""


class FieldPlots:
    """Two lists, of topics and fields, a button that adds a plot, and the plots."""

    def __init__(self, gui: viser.GuiApi, place: viser.GuiTabHandle, messages: Messages) -> None:
        """Add the lists to a tab."""
        self._gui = gui
        self._messages = messages
        self._plots: list[_FieldPlot] = []
        self._intervals = Intervals(**_PERIODS_S)
        self._fields_of = ""
        with place:
            self._folder = gui.add_folder("Fields of topics", order=100.0)
        with self._folder:
            self._topic = gui.add_dropdown("Topic", (_CHOOSE,))
            self._field = gui.add_dropdown("Field", (_CHOOSE,))
            self._add = gui.add_button("Add plot", icon=viser.Icon.CHART_LINE, disabled=True)
        self._add.on_click(lambda _: self._add_plot(self._topic.value, self._field.value))

    def show(self, time_s: float) -> None:
        """Take the newest messages at a time, s, and draw the plots."""
        if self._intervals.is_due("topics"):
            names = (_CHOOSE, *self._messages.topics())
            if self._topic.options != names:
                self._topic.options = names
        chosen = {self._topic.value} - {_CHOOSE}
        self._messages.keep(chosen | {plot.topic for plot in self._plots})
        self._show_fields(time_s)
        is_drawn = self._intervals.is_due("plots")
        for plot in list(self._plots):
            if plot.is_closed:
                # Here and not in the button's callback, which has a thread of its own: a plot that is drawn meanwhile
                # would update what the page no longer has.
                plot.remove()
                self._plots.remove(plot)
                continue
            plot.take(time_s, self._messages.newest(plot.topic, time_s))
            if is_drawn:
                plot.draw()

    def _show_fields(self, time_s: float) -> None:
        """Show the fields of the chosen topic, which are known from its first message."""
        topic = self._topic.value
        if topic == self._fields_of:
            return
        message = None if topic == _CHOOSE else self._messages.newest(topic, time_s)
        if message is None:
            waiting = (_CHOOSE if topic == _CHOOSE else _WAITING,)
            if self._field.options != waiting:
                self._field.options, self._add.disabled = waiting, True
            return
        self._fields_of = topic
        self._field.options = tuple(fields_of(message))
        self._add.disabled = not self._field.options

    def _add_plot(self, topic: str, field: str) -> None:
        if topic == self._fields_of and field in self._field.options:
            with self._folder:
                self._plots.append(_FieldPlot(self._gui, topic, field))


class _FieldPlot:
    """The plot of one field."""

    def __init__(self, gui: viser.GuiApi, topic: str, field: str) -> None:
        self.topic = topic
        self.is_closed = False
        self._field = field
        self._history = History()
        self._plot = time_plot(gui, f"{topic} {field}", (field,))
        self._remove = gui.add_button(f"Remove {field}", color="gray")
        self._remove.on_click(lambda _: setattr(self, "is_closed", True))

    def take(self, time_s: float, message: Any) -> None:
        value = None if message is None else value_of(message, self._field)
        if value is not None:
            self._history.take(time_s, [value])

    def draw(self) -> None:
        columns = self._history.columns
        if not len(columns):
            return
        times, values = columns
        finite = np.abs(values[np.isfinite(values)])
        factor = _factor(float(finite.max()) if len(finite) else 0.0)
        title = f"{self.topic} {self._field}" + (f", in 1e-{round(math.log10(factor))}" if factor > 1.0 else "")
        if self._plot.title != title:
            self._plot.title = title
        send(self._plot, times, [factor * values])

    def remove(self) -> None:
        self._plot.remove()
        self._remove.remove()


def _factor(largest: float) -> float:
    """Power of a thousand by which small values are multiplied, so that the labels of the axis have digits."""
    if not 1e-15 < largest < _SMALL:
        return 1.0
    return float(10.0 ** (3 * math.ceil(math.log10(_SMALL / largest) / 3.0)))
