"""Web page of the simulation: a scene, plots, and buttons that call services."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rcl_interfaces.msg import Log
from sensor_msgs.msg import Joy
from std_msgs.msg import String

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, number
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.ground.stamps import set_time
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.display_rate import STATES_HZ, display_rate
from rosflight_py_sim.nodes.live_messages import LiveMessages
from rosflight_py_sim.nodes.node_names import ROSFLIGHT_NAMES
from rosflight_py_sim.nodes.page_actions import PageActions
from rosflight_py_sim.nodes.page_services import PageServices
from rosflight_py_sim.nodes.vehicle_shape import SHAPE_PARAMETERS, VEHICLE_SHAPE_PARAMETERS, vehicle_shapes
from rosflight_py_sim.nodes.viewed_vehicle import ViewedVehicle
from rosflight_py_sim.recording.rosout import ERROR, WARN
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.mission_topics import MISSION_SETTINGS, MISSION_VERDICT
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pilot_topics import PILOT
from rosflight_py_sim.step.ports import newest
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import PAUSED, RC, TRUTH_STATE, topic_of
from rosflight_py_sim.step.viewed_topics import RELAYED, viewed
from rosflight_py_sim.transmitter.page import StickReport
from rosflight_py_sim.viewer.graph_model import Health
from rosflight_py_sim.viewer.graph_watch import GraphWatch
from rosflight_py_sim.viewer.web.cockpit import Cockpit
from rosflight_py_sim.viewer.web.disturbance import DYNAMICS, FORCES, SENSORS
from rosflight_py_sim.viewer.web.flight_events import text_of_log
from rosflight_py_sim.viewer.web.flight_verdict import Verdicts
from rosflight_py_sim.viewer.web.pilot_state import PilotState
from rosflight_py_sim.viewer.web.server import NoServerError, open_server, stop_server, url_of
from rosflight_py_sim.viewer.web.viser_internals import pushing
from rosflight_py_sim.world import WORLD, world_of

if TYPE_CHECKING:
    from rosflight_py_sim.viewer.web.display import Display

WEB_VIEWER_PARAMETERS = (
    ParameterTable(
        VEHICLES,
        WORLD,
        Parameter("web_viewer.port", 8642, "TCP port of the page; 0 for any free port", "", 0, 65535, read_only=True),
        Parameter(
            "web_viewer.address",
            "127.0.0.1",
            "Local address at which the page is served; 0.0.0.0 for all addresses, so that other machines can view "
            "and control the simulation",
            read_only=True,
        ),
        Parameter(
            "web_viewer.rate",
            30.0,
            f"Updates per second of system time; at most {STATES_HZ} divided by the number of vehicles",
            "Hz",
            minimum=1.0,
            maximum=30.0,
            read_only=True,
        ),
        RELAYED,
    )
    + SHAPE_PARAMETERS
)

_CHECK_PERIOD_S = 1.0

# Queue size of log lines.
_LOG_LINES = 50

# Services that no button names.
_READ = ("time_manager/get_parameters",)

# Without a browser, only one picture in this many is processed, to record the path.
_UNSEEN = 10

# Nodes that subscribe to the transmitter's frames without flying the vehicle.
_OBSERVERS = ("web_viewer", "view_relay", "recorder")

# System time over which the real-time factor is averaged.
_PACE_SPAN_S = 1.0


def known_names() -> dict[str, str]:
    """ROSflight's node names to those under which the page calls the nodes' services."""
    # ROSflight names a node of forces after its executable.
    forces = dict.fromkeys(node_names(NodeKind.FORCES_AND_MOMENTS), FORCES)
    return {ROSFLIGHT_NAMES[name]: name for name in ("time_manager", DYNAMICS, SENSORS)} | forces


class WebViewer(PartNode):
    """Serves a web page with all vehicles, live plots, and buttons that call the simulation's services.

    It polls the newest messages at its own rate. Any number of browsers may show the page; a setting changed in one
    browser applies to all.

    Attributes:
        controls: the page's buttons.
    """

    DEFAULT_NAME: ClassVar[str] = "web_viewer"
    PARAMETERS: ClassVar[ParameterTable] = WEB_VIEWER_PARAMETERS
    VEHICLE_PARAMETERS: ClassVar[ParameterTable] = VEHICLE_SHAPE_PARAMETERS
    HOSTS: ClassVar[tuple[type[Part], ...]] = (ViewedVehicle,)

    paused = newest(PAUSED)

    # A class attribute, because a node that fails during construction is also destroyed.
    _server: Any = None

    def __init__(self, **arguments: Any) -> None:
        """Open the port, subscribe and start drawing.

        Raises:
            ParameterError: viser is not installed, or the address or port is not available.
        """
        self._vehicles: list[ViewedVehicle] = []
        super().__init__(**arguments)
        self.follow_stamps()
        self._cockpit = Cockpit()
        self._cockpit.can_fly = True
        try:
            self._server = open_server(
                str(self.values["web_viewer.address"]),
                int(number(self.values, "web_viewer.port")),
                "rosflight_py_sim",
                self._cockpit,
            )
        except NoServerError as error:
            raise ParameterError(str(error)) from error
        # After open_server, because these need viser.
        from rosflight_py_sim.viewer.web.controls import Controls
        from rosflight_py_sim.viewer.web.display import Display as Page
        from rosflight_py_sim.viewer.web.field_plots import FieldPlots
        from rosflight_py_sim.viewer.web.flight_history import FlightHistory
        from rosflight_py_sim.viewer.web.graph_page import GraphPage

        names = vehicle_namespaces(self.values["vehicles"])
        shapes = vehicle_shapes(self, names)
        self._display: Display = Page(self._server, shapes, world_of(self.values), self._cockpit)
        self._calls = PageServices(self, self._report_call, known_names())
        self._requests: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._history = FlightHistory(self._server, self._display, self.request)
        self.controls = Controls(self._server, self._display, PageActions(self), self._history.past.replay)
        self._messages = LiveMessages(self)
        self._fields = FieldPlots(self._server.gui, self._display.plots_tab, self._messages)
        with self._display.view:
            self._graph_page = GraphPage(self._server.gui)
        self._graph = GraphWatch(self)
        renamed = partial(viewed, relayed=bool(self.values[RELAYED.name]))
        self._vehicles = [self.host(ViewedVehicle(self, name), name, renamed) for name in names]
        self.create_subscription(Log, "/rosout", self._on_log, _LOG_LINES)
        self._flown, self._multiplier = self._vehicles[0], 1.0
        self._cockpit.obstacle, self._cockpit.on_report = self._obstacle, self._on_report
        self._cockpit.on_take = self._on_take
        self._unseen = 0
        self._pilot_state = PilotState()
        self._paces: deque[tuple[float, float]] = deque()
        rate_hz = display_rate(number(self.values, "web_viewer.rate"), len(names))
        self.create_system_timer(1.0 / rate_hz, self._draw)
        self.create_system_timer(_CHECK_PERIOD_S, self._check_graph)
        # Printed regardless of the log level.
        print(f"see the simulation in a browser: {self.url}", flush=True)

    @property
    def url(self) -> str:
        """URL of the page."""
        return url_of(self._server)

    def destroy_node(self) -> None:
        """Also close the port."""
        for vehicle in self._vehicles:
            vehicle.watch_cameras(())
        if self._vehicles:
            self._messages.keep(set())
        self._vehicles = []
        if self._server is not None:
            stop_server(self._server)
            self._server = None
        super().destroy_node()

    def diagnose(self, period: Period) -> Iterator[Diagnosis]:
        """Whether all vehicles have a truth state, and the number of browsers."""
        known = sum(vehicle.state.time_ns >= 0 for vehicle in self._vehicles)
        shown = known == len(self._vehicles)
        yield Diagnosis(
            "",
            "showing" if shown else "waiting for truth states",
            Level.OK if shown else Level.WARN,
            values={"vehicles": f"{known} of {len(self._vehicles)}", "browsers": len(self._server.get_clients())},
        )

    def request(self, act: Callable[[], None]) -> None:
        """Call `act` at the next picture, in the executor's thread; may be called from any thread."""
        self._requests.put(act)

    @property
    def calls(self) -> PageServices:
        """Calls of the simulation's services; use them only in the executor's thread."""
        return self._calls

    @property
    def display(self) -> Display:
        """The page."""
        return self._display

    # The pilot on the page; all but the last method run in the web server's thread.

    def _obstacle(self) -> str:
        topic = topic_of(self._display.chosen, PILOT.name)
        if not self.count_subscribers(self.resolve_topic_name(topic)):
            truth = topic_of(self._display.chosen, TRUTH_STATE.name)
            if not self.count_publishers(self.resolve_topic_name(truth)):
                return "no simulation of this vehicle is running"
            return (
                f"no node rc subscribes to {topic}; start one without a joystick, or with its parameter device set to "
                "page"
            )
        frames = topic_of(self._display.chosen, RC.name)
        name = self.resolve_topic_name(frames)
        receivers = self.get_subscriptions_info_by_topic(name)
        if self.count_publishers(name) and all(one.node_name in _OBSERVERS for one in receivers):
            return (
                f"no flight controller of this vehicle subscribes to {frames}; to fly it by hand, start the simulation "
                "with --flight-controller sil_board"
            )
        return ""

    def _on_report(self, report: StickReport) -> None:
        message = Joy(axes=report.axes, buttons=list(map(int, report.buttons)))
        message.header.frame_id = report.device
        set_time(message.header.stamp, max(self._flown.state.time_ns, 0))
        self._flown.report_sticks(message)

    def _on_take(self) -> None:
        self._flown = next(one for one in self._vehicles if one.name == self._display.chosen)
        self.request(self._prepare_pilot)

    def _prepare_pilot(self) -> None:
        """Prepare a flight by hand: real time, and a calibrated IMU."""
        if self._multiplier != 1.0:
            self._calls.run("Fly by hand", self._calls.set_parameters("time_manager", {"real_time_multiplier": 1.0}))
        if self._flown.pilot.has_firmware and not self._flown.pilot.is_calibrated:
            self._calls.run("Fly by hand", self._calls.call(topic_of(self._flown.name, "calibrate_imu")))

    @pushing()
    def _report_call(self, what: str, text: str, good: bool) -> None:
        self.controls.notify(what, text, good=good)

    @pushing()
    def _draw(self) -> None:
        while not self._requests.empty():
            self._requests.get()()
        self._unseen = 0 if self._server.get_clients() else self._unseen + 1
        if self._unseen % _UNSEEN:
            return
        views = {vehicle.name: view for vehicle in self._vehicles if (view := vehicle.poll()) is not None}
        for vehicle in self._vehicles:
            if vehicle.name in views:
                self.update_clock(vehicle.state.time_ns)
        if views and self._history.take(views):
            self._begin_flight()
        for vehicle in self._vehicles:
            state = vehicle.pilot_state(paused=self.paused is not None and self.paused.data)
            if vehicle is self._flown if self._cockpit.is_flown else vehicle.name == self._display.chosen:
                self._cockpit.armed = state.is_armed
            if vehicle.name == self._display.chosen:
                self._note_pace(vehicle.state.time_s)
                self._show_pilot_state(state)
                self._history.refresh(vehicle.events.events)
                self._fields.show(vehicle.state.time_s)
        self._display.refresh()

    def _begin_flight(self) -> None:
        """Forget the last flight: time went back."""
        self.controls.result.hide()
        for vehicle in self._vehicles:
            vehicle.events.clear()

    @newest(MISSION_VERDICT)
    def on_verdict(self, message: String) -> None:
        """Show the end of a flight."""
        try:
            verdicts = Verdicts.of_text(message.data)
        except ValueError as error:
            self.get_logger().warning(f"{MISSION_VERDICT.name}: {error}")
            return
        self.request(lambda: self.controls.result.show(verdicts))

    def _on_log(self, line: Log) -> None:
        """Note a warning of a node among the events of its vehicle, and show an error of the selected one.

        The firmware gives as errors the reasons why it does not arm.
        """
        if line.level < WARN:
            return
        for vehicle in self._vehicles:
            text = text_of_log(line.name, line.msg, topic_of(self.get_namespace().strip("/"), vehicle.name))
            if not text:
                continue
            is_new = vehicle.events.note(vehicle.state.time_s, text)
            if is_new and line.level >= ERROR and vehicle.name == self._display.chosen:
                self._report_call(line.name, line.msg, good=False)

    def _show_pilot_state(self, state: PilotState) -> None:
        if not self._history.past.is_shown:
            self._display.show_state(state)
        if state != self._pilot_state:
            self._pilot_state = state
            self.controls.show(state)

    def _note_pace(self, time_s: float) -> None:
        now_s = time.monotonic()
        if self._paces and time_s < self._paces[-1][1]:
            self._paces.clear()
        self._paces.append((now_s, time_s))
        while now_s - self._paces[0][0] > _PACE_SPAN_S and len(self._paces) > 2:
            self._paces.popleft()
        began_s, began_time_s = self._paces[0]
        if now_s > began_s:
            self._display.show_pace((time_s - began_time_s) / (now_s - began_s))

    @pushing()
    def _show_pace(self, multiplier: object) -> None:
        if isinstance(multiplier, float):
            self._multiplier = multiplier
            self.controls.show_pace(multiplier)

    @pushing()
    def _show_mass(self, mass_kg: object) -> None:
        self.controls.disturb.show_mass(mass_kg)

    @pushing()
    def _check_graph(self) -> None:
        self.controls.offer(self._calls.discover(lambda name: self.controls.uses(name) or name in _READ))
        self._cockpit.show_obstacle(self._obstacle())
        self._calls.read_parameter("time_manager", "real_time_multiplier", self._show_pace)
        self._calls.read_parameter(self._display.of_chosen(DYNAMICS), "mass", self._show_mass)
        if self._graph_page.requested:
            self._graph_page.show(self._graph.model())
        watched = bool(self._server.get_clients()) and self._display.shows_pictures
        topics = self.get_topic_names_and_types() if watched else []
        chosen = self._display.chosen
        self._check_judge(topic_of(chosen, MISSION_SETTINGS.name))
        for vehicle in self._vehicles:
            is_watched = watched and vehicle.name == chosen
            vehicle.watch_cameras(vehicle.cameras(topics) if is_watched else ())

    def _check_judge(self, settings: str) -> None:
        """Show whether `fly` flies the mission whose settings are published on a topic, and what its judge warns of."""
        judges = self.get_publishers_info_by_topic(self.resolve_topic_name(settings))
        reports = [self._graph.report(absolute_name(one.node_namespace, one.node_name)) for one in judges]
        pilot = self.controls.pilot
        pilot.flown_by_program = bool(judges)
        pilot.warning = "; ".join(one.message for one in reports if one.health in (Health.WARN, Health.ERROR))
