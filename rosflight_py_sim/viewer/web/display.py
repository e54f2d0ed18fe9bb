"""The viewer's page for a live or recorded flight: scene, readings, plots and camera images."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from html import escape

import numpy as np
import viser

from rosflight_py_sim.viewer.appearance import Appearance
from rosflight_py_sim.viewer.web.camera_views import VIEWS
from rosflight_py_sim.viewer.web.cockpit import Cockpit
from rosflight_py_sim.viewer.web.instruments import readings
from rosflight_py_sim.viewer.web.intervals import Intervals
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.plots import Plots
from rosflight_py_sim.viewer.web.scene import Scene
from rosflight_py_sim.viewer.web.vehicle_view import VehicleView
from rosflight_py_sim.viewer.web.viser_internals import show_jpeg
from rosflight_py_sim.world import World

_PAUSED_COLOUR = "#b35900"

# Update rate of plots and readings, slower than the scene for legibility.
_PERIODS_S = {"plots": 0.2, "reading": 0.1, "pictures": 0.1}


class Display:
    """The page without the parts that only a live simulation or only a recording has; those are added to its tabs.

    Attributes:
        scene: the 3D scene.
        tabs: tabs of the panel.
        flight: first tab.
        plots_tab: tab of the plots.
        view: folder of view options.
        plots: plots of the selected vehicle.
        shows_pictures: whether camera images are shown.
        pictures: camera name to its image on the page.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        vehicles: Mapping[str, Appearance],
        world: World,
        cockpit: Cockpit | None = None,
    ) -> None:
        """Build the page; `vehicles`: name to appearance, `cockpit`: that of the server, if it has one."""
        self._server = server
        self._cockpit = cockpit
        self._gui = server.gui
        self._underwater = world.water is not None
        self.scene = Scene(server, vehicles, world)
        self._names = tuple(vehicles)
        self.shows_pictures = True
        self._turn = threading.RLock()
        self._views: dict[str, VehicleView] = {}
        self.pictures: dict[str, viser.GuiImageHandle] = {}
        self._intervals = Intervals(**_PERIODS_S)
        self._factor = 0.0
        self._state = PilotState()
        self._notes: dict[str, str] = {}
        self._reading = self._gui.add_html("")
        self.tabs = self._gui.add_tab_group()
        self.flight = self.tabs.add_tab("Flight", viser.Icon.PLANE_TILT)
        self.plots_tab = self.tabs.add_tab("Plots", viser.Icon.CHART_LINE)
        with self.flight:
            self._add_view_folder(list(vehicles))
            self._cameras = self._gui.add_folder("Cameras", order=5.0, visible=False)
        with self.plots_tab:
            self.plots = Plots(self._gui, vehicles.items(), underwater=self._underwater)

    @property
    def names(self) -> list[str]:
        """Names of the vehicles."""
        return list(self._names)

    @property
    def chosen(self) -> str:
        """Name of the vehicle shown in readings and plots, and controlled by buttons."""
        return self.scene.chosen

    def of_chosen(self, name: str) -> str:
        """Name in the selected vehicle's namespace."""
        return f"{self.chosen}/{name}" if self.chosen else name

    @property
    def is_underwater(self) -> bool:
        """Whether the vehicles are in water."""
        return self._underwater

    @property
    def readings(self) -> str:
        """HTML above the tabs."""
        return str(self._reading.content)

    def view_of(self, name: str) -> VehicleView | None:
        """Last view of a vehicle; None before the first."""
        return self._views.get(name)

    def show(self, views: Mapping[str, VehicleView]) -> None:
        """Show states, outputs and camera images of vehicles, by name."""
        with self._turn:
            self._views.update(views)
            self.scene.show(views)
            for name, view in views.items():
                self.plots.take(name, view)
            chosen = views.get(self.chosen)
            if chosen is not None:
                if self._cockpit is not None:
                    self._cockpit.show(readings(chosen, underwater=self._underwater))
                self._refresh(chosen)

    def note(self, what: str, text: str) -> None:
        """Show a text beside the time, in place of the previous one with the same key."""
        self._notes[what] = text

    def show_state(self, state: PilotState) -> None:
        """Show flight controller, mission and battery of the selected vehicle beside the time."""
        self._state = state

    def show_pace(self, factor: float) -> None:
        """Show the pace, in simulated seconds per second."""
        self._factor = factor

    def refresh(self) -> None:
        """Update the readings while no state arrives."""
        with self._turn:
            view = self._views.get(self.chosen)
            if view is not None:
                self._refresh(view)

    def _add_view_folder(self, names: list[str]) -> None:
        gui = self._gui
        self.view = gui.add_folder("View", order=90.0)
        with self.view:
            vehicle = gui.add_dropdown("Vehicle", names, initial_value=names[0], visible=len(names) > 1)
            camera = gui.add_dropdown("Camera", tuple(VIEWS), initial_value="follow")
            paths = gui.add_checkbox("Path", initial_value=True)
            wind = gui.add_checkbox("Current" if self._underwater else "Wind", initial_value=True)
            pictures = gui.add_checkbox("Camera images", initial_value=True)
            clear = gui.add_button("Clear path", icon=viser.Icon.ERASER)
        vehicle.on_update(lambda _: self._choose(vehicle.value))
        camera.on_update(lambda _: self._in_turn(lambda: self.scene.choose_view(camera.value)))
        paths.on_update(lambda _: self._in_turn(lambda: self.scene.show_paths(paths.value)))
        wind.on_update(lambda _: self._in_turn(lambda: self.scene.show_wind(wind.value)))
        pictures.on_update(lambda _: self._on_pictures_switch(pictures.value))
        clear.on_click(lambda _: self._in_turn(self.scene.clear_paths))

    def _in_turn(self, act: Callable[[], None]) -> None:
        """Wrap a callback, because viser calls it in other threads."""
        with self._turn:
            act()

    def _choose(self, name: str) -> None:
        with self._turn:
            self.scene.chosen = name
            self._forget_pictures()
            self._intervals.restart()

    def _on_pictures_switch(self, wanted: bool) -> None:
        with self._turn:
            self.shows_pictures = wanted
            if not wanted:
                self._forget_pictures()

    def _forget_pictures(self) -> None:
        for picture in self.pictures.values():
            picture.remove()
        self.pictures.clear()
        self._cameras.visible = False

    def _refresh(self, view: VehicleView) -> None:
        if self._intervals.is_due("reading"):
            self._reading.content = self._readings(view)
        if self._intervals.is_due("plots"):
            self.plots.draw(self.chosen)
        if view.images and self.shows_pictures and self._intervals.is_due("pictures"):
            self._show_pictures(view.images)

    def _readings(self, view: VehicleView) -> str:
        north, east, down = view.truth[0:3]
        speed = float(np.linalg.norm(view.truth[7:10]))
        flow = float(np.linalg.norm(view.wind_ned))
        height_m = down if self._underwater else -down
        height = f"{'depth' if self._underwater else 'height'} {rounded(height_m)} m"
        time_s = f'<span class="simulated-time">{view.time_s:.4f}</span> s'
        paused = self._state.paused
        colour = _PAUSED_COLOUR if paused else "inherit"
        state_lines = self._state.lines(height_m, underwater=self._underwater)
        lines = [
            f'<span style="font-size:1.6em;font-weight:600;color:{colour}">{time_s}</span>',
            f'<b style="color:{colour}">paused at {view.time_s:.4f} s</b>'
            if paused
            else f"{self._factor:.2f} &times; real time",
            f"north {rounded(north)} m, east {rounded(east)} m, {height}",
            f"{speed:.1f} m/s over ground, {'current' if self._underwater else 'wind'} {flow:.1f} m/s",
            *map(escape, state_lines.values()),
            *map(escape, filter(None, self._notes.values())),
        ]
        return f'<div style="padding:0.4em 0.8em;line-height:1.45;font-size:0.9em">{"<br>".join(lines)}</div>'

    def _show_pictures(self, images: Mapping[str, bytes]) -> None:
        for name, jpeg in images.items():
            if name not in self.pictures:
                self._cameras.visible = True
                with self._cameras:
                    self.pictures[name] = self._gui.add_image(np.zeros((2, 2, 3), dtype=np.uint8), label=name)
            show_jpeg(self.pictures[name], jpeg)


def rounded(number: float) -> str:
    """A number with one decimal place, and without the sign of a negative zero."""
    return f"{round(number, 1) + 0.0:.1f}"
