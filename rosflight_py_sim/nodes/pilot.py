"""Scripted pilot: calibrates, arms, hands over and disarms."""

from __future__ import annotations

from typing import Any, ClassVar

from rclpy.subscription import Subscription
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.pilot_script import MissionScript, PilotScript
from rosflight_py_sim.step.topics import (
    AUTOPILOT_PHASE,
    FORCES_AND_MOMENTS,
    IMU,
    SETPOINT,
    STATUS,
    TRUTH_STATE,
    TRUTH_WIND,
    Floats,
    ImuSample,
    StatusReport,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState


class Pilot(PilotScript, SimulationNode):
    """Calls the services of its script."""

    DEFAULT_NAME: ClassVar[str] = "pilot"
    SERVICES: ClassVar[tuple[str, ...]] = ("calibrate_imu", "toggle_arm", "toggle_override")

    def __init__(self, **arguments: Any) -> None:
        """Start at the first status of the flight controller."""
        super().__init__(**arguments)
        self._calls = {name: self.create_client(Trigger, name) for name in self.SERVICES}
        self.subscribe(STATUS, self.on_status)
        self._imu: Subscription[Any] | None = self.subscribe(IMU, self._on_imu)
        self._force: Floats | None = None
        self._motion: list[Subscription[Any]] = []
        if self.slide is not None:
            self._motion = [
                self.subscribe(FORCES_AND_MOMENTS, self._on_wrench),
                self.subscribe(TRUTH_STATE, self._on_truth),
            ]

    def on_status(self, status: StatusReport) -> None:
        """Follow the script; end the subscriptions that only the calibration and the time before arming need."""
        super().on_status(status)
        if self.is_calibrated and self._imu is not None:
            self.destroy_subscription(self._imu)
            self._imu = None
        if status.armed:
            for subscription in self._motion:
                self.destroy_subscription(subscription)
            self._motion = []

    def _on_wrench(self, wrench: Wrench) -> None:
        self._force = wrench.force

    def _on_truth(self, state: VehicleState) -> None:
        if self.slide is not None and self._force is not None:
            self.slide.observe(state, self._force)

    def _on_imu(self, _: ImuSample) -> None:
        self.imu_count += 1

    def call(self, service: str) -> None:
        """Call the service as soon as it is available."""
        client = self._calls[service]
        if not client.service_is_ready():
            self.miss(service, client.service_is_ready)
            return
        client.call_async(Trigger.Request()).add_done_callback(lambda future: self._on_answer(service, future))

    def _on_answer(self, service: str, future: Future[Any]) -> None:
        answer = future.result()
        self.answered(service, answer.success, answer.message)


class MissionPilot(MissionScript, Pilot):
    """Also starts the autopilot's mission.

    Class attributes:
        KEEPS_TO_SETPOINT: whether a vehicle far from its set-point is lost, and not on its way to it.
    """

    SERVICES = (*Pilot.SERVICES, "autopilot/start")
    KEEPS_TO_SETPOINT: ClassVar[bool] = True

    def __init__(self, **arguments: Any) -> None:
        """Create the node."""
        super().__init__(**arguments)
        self.subscribe(AUTOPILOT_PHASE, self._on_phase)
        self._state, self._setpoint, self._wind = self.poll(TRUTH_STATE), self.poll(SETPOINT), self.poll(TRUTH_WIND)

    def on_status(self, status: StatusReport) -> None:
        """Follow the script, and watch the distance from the set-point."""
        if self.KEEPS_TO_SETPOINT and self.stays_near_setpoint:
            state, setpoint, wind = self._state.take(), self._setpoint.take(), self._wind.take()
            if state is not None and setpoint is not None and wind is not None:
                self.drift.observe(state.time_ns, state.position_ned.tolist(), setpoint.position_ned, wind.velocity_ned)
        super().on_status(status)

    def _on_phase(self, message: String) -> None:
        self.on_phase(message.data)
