"""A vehicle whose flight controller is the bridge: what is shown of each step, and the commands that answer it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.task import Future
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import (
    IMU,
    PWM_OUTPUT,
    STEP_SIZE_S,
    STEP_WISH_S,
    WAITING_FOR,
    ImuSample,
    PulseWidths,
    Wind,
    topic_of,
    vector3,
)
from rosflight_py_sim.interfaces.time_manager_interface import STEP_SIZE
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.nodes.bridged_vehicle import BridgedVehicle

# Looks after which an answer is missed: to put back an aircraft of JSBSim means to load it anew.
_PATIENT_LOOKS = 5


class SlotVehicle(BridgedVehicle):
    """Has a snapshot for each step of one vehicle, and publishes the commands that answer it.

    A snapshot is complete when state, wind and, if it is wanted, the IMU are of one time. Commands answer the IMU
    message, so what the front-end says earlier has to wait for that. An IMU message that was answered before gets the
    same PWM again.

    Attributes:
        pending: the snapshot that the front-end has not answered yet; None while the step is under way.
        commands: the answer to `pending`, until it may be published.
        starting_over: whether the vehicle is on its way back to its start.
        waiting: whether it has been told that somebody is waited for.
    """

    def __init__(
        self, node: SimulationNode, index: int, name: str, wants: frozenset[str], on_news: Callable[[], None]
    ) -> None:
        """Subscribe; `on_news` is called when there is a new `pending`, or `commands` may be published."""
        self.pending: Snapshot | None = None
        self.commands: list[int] | None = None
        self.starting_over = False
        self.waiting = False
        self._on_news = on_news
        self._wants_imu = "imu" in wants
        self._state_is_new = False
        self._imu_ns = -1
        self._pwm = PulseWidths(-1, ())
        self._step_wish: float | None = None
        self._step_told = 0.0
        self._step_asked, self._step_looks = False, 0
        self._resets, self._reset_is_done, self._looks = 0, False, 0
        self._send_pwm = node.publisher(PWM_OUTPUT, name)
        self._send_waiting_for = node.publisher(WAITING_FOR, name)
        self._send_waiting_for(String())
        self._send_step_wish = node.publisher(STEP_WISH_S, name)
        services = ("forces_and_moments/reset", "dynamics/reset")
        self._reset_clients = [node.create_client(Trigger, topic_of(name, service)) for service in services]
        super().__init__(node, index, name, wants)
        node.subscribe(STEP_SIZE_S, self._on_step_size, name)
        node.subscribe(IMU, self._on_imu, name)

    @property
    def step_s(self) -> float:
        """Length of a step, s; 0 before it was told."""
        return self._step_told

    @property
    def is_early(self) -> bool:
        """Whether `pending` is of a time whose IMU message has not come yet."""
        return self.pending is not None and self.pending.time_ns != self._imu_ns

    # What is published.

    def publish_commands(self) -> None:
        """Answer `pending` with `commands`."""
        pending, commands = self.pending, self.commands
        assert pending is not None and commands is not None
        self.pending = self.commands = None
        self.answered_ns, self._pwm = pending.time_ns, PulseWidths(pending.time_ns, commands)
        self._send_pwm(self._pwm)

    def tell_waiting(self, partner: str) -> None:
        """Tell who is waited for; empty: nobody."""
        self.waiting = bool(partner)
        self._send_waiting_for(String(data=partner))

    def has_step(self, wished: float | None, *, may_ask: bool) -> bool:
        """Whether the next step has the length that is wished for (s), or a shorter one.

        If not, it is asked for where `may_ask`, and `on_news` is called when the time manager has answered; where not,
        the step under way must be taken as it is.
        """
        if wished is None:
            return True
        wish = min(max(wished, STEP_SIZE.minimum), STEP_SIZE.maximum)
        if self._step_asked:
            return False
        if not may_ask or (wish == self._step_wish and self._step_told <= wish):
            return True
        self._step_wish, self._step_asked, self._step_looks = wish, True, 0
        self._send_step_wish(Float64(data=wish))
        return False

    def start_over(self) -> None:
        """Put the vehicle back to its start; then there is a new `pending`, of the same time."""
        self.starting_over, self._looks = True, 0
        self._state_is_new = self._reset_is_done = False
        self._resets += 1
        self._reset(0)

    def look(self) -> None:
        """Ask again for what nobody has answered, as of a node that was restarted; to be called now and then."""
        if self._step_asked and self._step_wish is not None:
            self._send_step_wish(Float64(data=self._step_wish))
            self._step_looks += 1
            if self._step_looks == _PATIENT_LOOKS:
                self._node.get_logger().warning(
                    f"no reply to the step-size request ({self._step_wish:g} s) on "
                    f"{self._node.resolve_topic_name(topic_of(self.name, STEP_WISH_S.name))}: is a "
                    "lockstep time manager running for this vehicle?"
                )
        if self.starting_over:
            self._looks += 1
            if self._looks >= _PATIENT_LOOKS:
                self.start_over()

    def _reset(self, number: int) -> None:
        run = self._resets

        def on_answer(future: Future[Any]) -> None:
            if run != self._resets or not self.starting_over:
                return
            answer = future.result()
            if answer is not None and not answer.success:
                self._node.get_logger().warning(f"{self._reset_clients[number].srv_name} refused: {answer.message}")
            if number + 1 < len(self._reset_clients):
                self._reset(number + 1)
            else:
                self._reset_is_done = True
                self._go_on_if_reset()

        self._reset_clients[number].call_async(Trigger.Request()).add_done_callback(on_answer)

    def _go_on_if_reset(self) -> None:
        if self._reset_is_done and self._state_is_new:
            self.starting_over = False
            self._begin(self._state.time_ns)

    # What is heard.

    def _on_step_size(self, message: Float64) -> None:
        self._step_told = message.data
        if self._step_asked and self._step_wish is not None and message.data <= self._step_wish:
            self._step_asked, self._step_looks = False, 0
            self._on_news()

    def _on_wind(self, wind: Wind) -> None:
        super()._on_wind(wind)
        self._begin_if_complete()

    def _on_truth(self, state: VehicleState) -> None:
        self._state = state
        if self.starting_over:
            self._state_is_new = True
            self._go_on_if_reset()
        else:
            self._begin_if_complete()

    def _on_imu(self, imu: ImuSample) -> None:
        stamp = imu.time_ns
        if stamp == self.answered_ns:
            self._send_pwm(self._pwm)
            return
        # Asked a second time, the state of that time is lost (a node was restarted): the newest one must do.
        asked_again = stamp == self._imu_ns and self._state.time_ns >= 0
        was_early = self.is_early
        self._imu_ns = stamp
        self._gyro, self._accel_body = vector3(imu.gyro), vector3(imu.accel)
        if was_early and not self.is_early:
            self._on_news()
        elif asked_again and self.pending is None:
            self._begin(stamp)
        else:
            self._begin_if_complete()

    def _begin_if_complete(self) -> None:
        known = self.answered_ns if self.pending is None else self.pending.time_ns
        time_ns = self._state.time_ns
        if known != time_ns == self._wind_ns and (time_ns == self._imu_ns or not self._wants_imu):
            self._begin(time_ns)

    def _begin(self, time_ns: int) -> None:
        self.commands = None
        self.pending = self._snapshot(time_ns)
        self._on_news()
