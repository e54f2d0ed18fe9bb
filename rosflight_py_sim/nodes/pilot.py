"""Scripted pilot: calibrates, arms, hands over and disarms."""

from __future__ import annotations

from typing import Any, ClassVar

from rclpy.subscription import Subscription
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.step_topics import AUTOPILOT_PHASE, IMU, STATUS, ImuSample, StatusReport
from rosflight_py_sim.nodes.pilot_script import MissionScript, PilotScript


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

    def on_status(self, status: StatusReport) -> None:
        """Follow the script; after the calibration, end the subscription to the IMU."""
        super().on_status(status)
        if self.is_calibrated and self._imu is not None:
            self.destroy_subscription(self._imu)
            self._imu = None

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
    """Also starts the autopilot's mission."""

    SERVICES = (*Pilot.SERVICES, "autopilot/start")

    def __init__(self, **arguments: Any) -> None:
        """Create the node."""
        super().__init__(**arguments)
        self.subscribe(AUTOPILOT_PHASE, self._on_phase)

    def _on_phase(self, message: String) -> None:
        self.on_phase(message.data)
