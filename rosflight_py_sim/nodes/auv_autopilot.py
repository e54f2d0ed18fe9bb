"""Autopilot of an underwater vehicle: holds depth and heading, with surge and sway from topics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.hold_controller import HOLD_CONTROLLER_PARAMETERS, HoldController, HoldSetpoint, Motion
from rosflight_py_sim.autopilot.thruster_allocation import SURGE, SWAY
from rosflight_py_sim.autopilot.underwater_body import UNDERWATER_BODY_PARAMETERS, UnderwaterBody
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.interfaces.ticks import start_ticks
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.pulse_width import CENTRE_US, OUTPUTS, SERVO, pulse_of
from rosflight_py_sim.shared_parameters import TIME_MODE
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.join import JoinRule, StepJoin
from rosflight_py_sim.step.qos import CHAIN, LATCHED
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    IMU,
    PWM_OUTPUT,
    REPEATED_CLOCK,
    TRUTH_STATE,
    ImuSample,
    PulseWidths,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

_STILL = [CENTRE_US] * OUTPUTS


class AuvAutopilot(SimulationNode):
    """Flight controller of an underwater vehicle: holds depth and yaw, and follows surge and sway set-points.

    It starts released, with the thrusters stopped. The service hold/here holds the current depth and yaw; from then on
    hold/depth (m), hold/yaw (rad from north), hold/surge and hold/sway (-1 to 1 of the full thrust) change the
    set-points. The service hold/release stops the thrusters. A set-point that is not allowed is refused with a logged
    error, and the previous one is kept. The current action is published on hold/doing.

    Like the other autopilots, it uses the true state. In lockstep each IMU message is answered with PWM, by the rule of
    `StepJoin`; otherwise a timer runs the controller.

    Class attributes:
        JOIN: inputs of an answer.
    """

    DEFAULT_NAME: ClassVar[str] = "auv_autopilot"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(
            TIME_MODE,
            Parameter(
                "hold_frequency",
                100.0,
                "Rate of the controller (in lockstep it runs once a step)",
                "Hz",
                minimum=1.0,
                maximum=1000.0,
                read_only=True,
            ),
        )
        + HOLD_CONTROLLER_PARAMETERS
        + UNDERWATER_BODY_PARAMETERS
    )

    JOIN: ClassVar[JoinRule] = JoinRule(IMU.name, synchronized=(TRUTH_STATE.name,))

    def __init__(self, **arguments: Any) -> None:
        """Create topics and services, with the thrusters stopped."""
        self._controller: HoldController | None = None
        self._body: UnderwaterBody | None = None
        self._state = VehicleState()
        self._setpoint: HoldSetpoint | None = None
        self._pwm = list(_STILL)
        super().__init__(**arguments)
        lockstep = self.values["time_mode"] == "lockstep"
        self._join = StepJoin(self.JOIN, self._answer, self._answer_again, lockstep=lockstep)
        self._state_arrived = self._join.input(TRUTH_STATE.name)
        self._send_pwm = self.publisher(PWM_OUTPUT)
        self._send_doing = self.create_publisher(String, "hold/doing", LATCHED).publish
        self.create_service(Trigger, "hold/here", self._hold_here)
        self.create_service(Trigger, "hold/release", self._release)
        for name, low, high in (
            ("depth", 0.0, math.inf),
            ("yaw", -math.inf, math.inf),
            ("surge", -1.0, 1.0),
            ("sway", -1.0, 1.0),
        ):
            self.create_subscription(Float64, f"hold/{name}", self._takes(name, low, high), CHAIN)
        self.subscribe(TRUTH_STATE, self._on_truth, needed=True)
        if lockstep:
            self.follow_stamps()
            self.subscribe(IMU, self._on_imu, needed=True)
            self.subscribe(REPEATED_CLOCK, self._join.repeat)
        else:
            start_ticks(self, number(self.values, "hold_frequency"), self._join.trigger)
        self._report_doing()

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the controller; it takes over the state of the old one."""
        body = UnderwaterBody(values)
        controller = HoldController(values, body.held, body.allocation)
        if self._controller is not None:
            controller.adopt(self._controller)
        self._controller, self._body = controller, body

    # Services and set-points.

    def _hold_here(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state.time_ns < 0:
            response.message = f"no {TRUTH_STATE.name} yet"
            return response
        motion = self._motion()
        assert self._controller is not None
        self._controller.begin(motion)
        self._setpoint = HoldSetpoint(max(motion.depth, 0.0), motion.yaw)
        response.success, response.message = True, self._report_doing()
        return response

    def _release(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._setpoint = None
        response.success, response.message = True, self._report_doing()
        return response

    def _takes(self, name: str, low: float, high: float) -> Callable[[Float64], None]:
        """Callback for the set-point of that name."""

        def take(message: Float64) -> None:
            refusal = self._refusal(name, message.data, low, high)
            if refusal:
                self.get_logger().error(f"hold/{name} refused: {refusal}")
            elif self._setpoint is not None:
                self._setpoint = self._setpoint._replace(**{name: message.data})
                self._report_doing()

        return take

    def _refusal(self, name: str, given: float, low: float, high: float) -> str:
        """Reason to refuse the set-point; empty if it is allowed."""
        assert self._body is not None
        if self._setpoint is None:
            return "the vehicle is released; call hold/here first"
        if not (math.isfinite(given) and low <= given <= high):
            allowed = "at least 0 m" if name == "depth" else "any angle in rad" if name == "yaw" else "from -1 to 1"
            return f"{given:g} given; allowed: {allowed}"
        axis = {"surge": SURGE, "sway": SWAY}.get(name)
        if axis is not None and given and not self._body.allocation.reachable[axis]:
            return "the thrusters cannot push along that axis alone"
        return ""

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Current action."""
        yield Diagnosis("", self._doing)

    @property
    def _doing(self) -> str:
        held = self._setpoint
        if held is None:
            return "released, thrusters stopped"
        doing = f"holding {held.depth:.2f} m, {math.degrees(held.yaw):.0f} deg"
        if held.surge or held.sway:
            doing += f", surge {100.0 * held.surge:.0f} %, sway {100.0 * held.sway:.0f} %"
        return doing

    def _report_doing(self) -> str:
        self._send_doing(String(data=self._doing))
        return self._doing

    # Inputs and answers of the step.

    def _on_truth(self, state: VehicleState) -> None:
        self._state = state
        self._state_arrived(state.time_ns)

    def _on_imu(self, imu: ImuSample) -> None:
        self._join.trigger(imu.time_ns)

    def _answer(self, time_ns: int, _: None) -> None:
        self.update_clock(time_ns)
        answered_ns = self._join.answered_ns
        elapsed_ns = time_ns - answered_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = answered_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        if self._setpoint is None:
            self._pwm = list(_STILL)
        else:
            assert self._controller is not None
            assert self._body is not None
            shares = self._controller.update(
                self._motion(), self._setpoint, elapsed_ns / NANOSECONDS if is_step else 0.0
            )
            commands = self._body.commands(shares)
            self._pwm[: len(commands)] = [round(pulse_of(command, SERVO)) for command in commands]
        self._send_pwm(PulseWidths(time_ns, tuple(self._pwm)))

    def _answer_again(self, time_ns: int) -> None:
        self._send_pwm(PulseWidths(time_ns, tuple(self._pwm)))

    def _motion(self) -> Motion:
        """Depth and yaw with their rates."""
        quaternion = self._state.quaternion.tolist()
        _, _, down_rate = rotate_to_inertial(*quaternion, *self._state.velocity_body.tolist())
        _, _, yaw = euler_from_quaternion(*quaternion)
        return Motion(float(self._state.position_ned[2]), down_rate, yaw, float(self._state.angular_velocity[2]))


def main() -> None:
    """Run the node."""
    run(AuvAutopilot)


if __name__ == "__main__":
    main()
