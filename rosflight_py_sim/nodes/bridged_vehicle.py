"""One vehicle as the bridge sees it: what is heard of it, and what is published for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3Stamped
from rclpy.task import Future
from rosflight_msgs.msg import Airspeed, BatteryStatus, RCRaw, SimState
from sensor_msgs.msg import CompressedImage, Imu, Range
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.bridge.front_end_interface import Snapshot
from rosflight_py_sim.interfaces.dynamics_interface import WIND_WIRE
from rosflight_py_sim.interfaces.forces_and_moments_interface import BATTERY_WIRE, PWM_WIRE
from rosflight_py_sim.interfaces.qos import CHAIN, LATCHED
from rosflight_py_sim.interfaces.sensor_interface import (
    AIRSPEED_WIRE,
    IMU_ACCEL,
    IMU_GYRO,
    IMU_WIRE,
    RANGE_DISTANCE,
    RANGE_WIRE,
)
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.stamped_inputs import StampedInputs
from rosflight_py_sim.interfaces.time_manager_interface import STEP_SIZE, topic_of
from rosflight_py_sim.interfaces.vehicle_state import VehicleState
from rosflight_py_sim.interfaces.wire import NANOSECONDS
from rosflight_py_sim.nodes.rc import RC_WIRE

CAMERAS = ("front", "bottom")
"""Names of the cameras that a vehicle may have."""

# Looks after which an answer is missed: to put back an aircraft of JSBSim means to load it anew.
_PATIENT_LOOKS = 5


class BridgedVehicle:
    """Gathers the snapshots of one vehicle, and publishes the commands that answer them.

    A snapshot is complete when state, wind and, if it is wanted, the IMU are of one time. Commands answer the IMU
    message, so what the front-end says earlier has to wait for that. An IMU message that was answered before gets the
    same PWM again.

    Attributes:
        index: its number, from 0.
        name: its namespace, from the bridge's own.
        pending: the snapshot that the front-end has not answered yet; None while the step is under way.
        commands: the answer to `pending`, until it may be published.
        answered_ns: time of the newest snapshot whose answer is published.
        starting_over: whether the vehicle is on its way back to its start.
        waiting: whether it has been told that somebody is waited for.
    """

    def __init__(
        self, node: SimulationNode, index: int, name: str, wants: frozenset[str], on_news: Callable[[], None]
    ) -> None:
        """Subscribe; `on_news` is called when there is a new `pending`, or `commands` may be published."""
        self.index, self.name = index, name
        self.pending: Snapshot | None = None
        self.commands: list[int] | None = None
        self.answered_ns = -1
        self.starting_over = False
        self.waiting = False
        self._node, self._on_news = node, on_news
        self._wants_imu = "imu" in wants
        self._state, self._state_is_new = VehicleState(), False
        self._wind_ns, self._wind_ned = -1, (0.0, 0.0, 0.0)
        self._imu_ns = -1
        self._gyro = self._accel_body = (0.0, 0.0, 0.0)
        self._pwm: list[int] = []
        self._ranges: tuple[float, ...] = ()
        self._airspeed: float | None = None
        self._battery: tuple[float, float] | None = None
        self._rc_us: tuple[int, ...] = ()
        self._rc_inputs = StampedInputs()
        self._images: dict[str, bytes] = {}
        self._step_wish: float | None = None
        self._step_told = 0.0
        self._step_asked, self._step_looks = False, 0
        self._resets, self._reset_is_done, self._looks = 0, False, 0
        self._send_pwm = node.publisher(topic_of(name, "sim/pwm_output"), PWM_WIRE, CHAIN)
        self._waiting_for = node.create_publisher(String, topic_of(name, "sim/waiting_for"), LATCHED)
        self._wishes = node.create_publisher(Float64, topic_of(name, "sim/step_wish"), LATCHED)
        services = ("forces_and_moments/reset", "dynamics/reset")
        self._reset_clients = [node.create_client(Trigger, topic_of(name, service)) for service in services]
        self._subscribe(wants)

    def _subscribe(self, wants: frozenset[str]) -> None:
        def listen(topic: str, message_type: Any, callback: Callable[[bytes], None], qos: Any = CHAIN) -> None:
            self._node.listen(topic_of(self.name, topic), message_type, callback, qos)

        # Before the IMU's: executors of one thread serve subscriptions in the order of their making.
        if "range" in wants:
            listen("sim/sensors/range", Range, self._on_range)
        if "airspeed" in wants:
            listen("sim/sensors/diff_pressure", Airspeed, self._on_airspeed)
        if "battery" in wants:
            listen("sim/sensors/battery", BatteryStatus, self._on_battery)
        if "rc" in wants:
            listen("sim/RC", RCRaw, self._on_rc)
        for camera in CAMERAS if "images" in wants else ():
            topic = topic_of(self.name, f"camera/{camera}/image_raw/compressed")
            self._node.create_subscription(CompressedImage, topic, partial(self._on_image, camera), CHAIN)
        step_size = topic_of(self.name, "sim/step_size")
        self._node.create_subscription(Float64, step_size, self._on_step_size, LATCHED)
        listen("sim/truth_wind", Vector3Stamped, self._on_wind, LATCHED)
        listen("sim/truth_state", SimState, self._on_truth, LATCHED)
        listen("sim/sensors/imu/data", Imu, self._on_imu)

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
        self.answered_ns, self._pwm = pending.time_ns, commands
        self._send_pwm(pending.time_ns, *commands)

    def tell_waiting(self, partner: str) -> None:
        """Tell who is waited for; empty: nobody."""
        self.waiting = bool(partner)
        self._waiting_for.publish(String(data=partner))

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
        self._wishes.publish(Float64(data=wish))
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
            self._wishes.publish(Float64(data=self._step_wish))
            self._step_looks += 1
            if self._step_looks == _PATIENT_LOOKS:
                self._node.get_logger().warning(
                    f"nobody answers the wish for steps of {self._step_wish:g} s on {self._wishes.topic_name}: is "
                    "there a lockstep time manager of this vehicle?"
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

    def _on_range(self, message: bytes) -> None:
        self._ranges = (RANGE_WIRE.decode(message)[RANGE_DISTANCE],)

    def _on_airspeed(self, message: bytes) -> None:
        self._airspeed = AIRSPEED_WIRE.decode(message)[2]

    def _on_battery(self, message: bytes) -> None:
        m = BATTERY_WIRE.decode(message)
        self._battery = m[2], m[3]

    def _on_rc(self, message: bytes) -> None:
        m = RC_WIRE.decode(message)
        self._rc_inputs.take(m[0] * NANOSECONDS + m[1], self.answered_ns, partial(self._set_rc, m[2:]))

    def _set_rc(self, rc_us: tuple[int, ...]) -> None:
        self._rc_us = rc_us

    def _on_image(self, camera: str, message: CompressedImage) -> None:
        self._images[camera] = bytes(message.data)

    def _on_step_size(self, message: Float64) -> None:
        self._step_told = message.data
        if self._step_asked and self._step_wish is not None and message.data <= self._step_wish:
            self._step_asked, self._step_looks = False, 0
            self._on_news()

    def _on_wind(self, message: bytes) -> None:
        m = WIND_WIRE.decode(message)
        self._wind_ned = m[2:5]
        self._wind_ns = m[0] * NANOSECONDS + m[1]
        self._begin_if_complete()

    def _on_truth(self, message: bytes) -> None:
        self._state.read(message)
        if self.starting_over:
            self._state_is_new = True
            self._go_on_if_reset()
        else:
            self._begin_if_complete()

    def _on_imu(self, message: bytes) -> None:
        m = IMU_WIRE.decode(message)
        stamp = m[0] * NANOSECONDS + m[1]
        if stamp == self.answered_ns:
            self._send_pwm(stamp, *self._pwm)
            return
        # Asked a second time, the state of that time is lost (a node was restarted): the newest one must do.
        asked_again = stamp == self._imu_ns and self._state.time_ns >= 0
        was_early = self.is_early
        self._imu_ns = stamp
        self._gyro, self._accel_body = m[IMU_GYRO], m[IMU_ACCEL]
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
        self._node.tell_time(time_ns)
        self._rc_inputs.deliver(time_ns)
        self.commands = None
        self.pending = Snapshot(
            time_ns,
            np.copy(self._state.truth),
            self._wind_ned,
            self._gyro,
            self._accel_body,
            self._ranges,
            self._airspeed,
            self._battery,
            self._rc_us,
            self._images,
        )
        self._on_news()
