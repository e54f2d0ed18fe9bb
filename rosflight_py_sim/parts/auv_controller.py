"""Flight controller of an underwater vehicle: holds depth and heading, with surge and sway from topics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from rosflight_py_sim.autopilot.hold_controller import (
    HOLD_CONTROLLER_PARAMETERS,
    Hold,
    HoldController,
    HoldSetpoint,
    Motion,
    hold_shares,
)
from rosflight_py_sim.autopilot.thruster_allocation import SURGE, SWAY
from rosflight_py_sim.autopilot.underwater_body import UNDERWATER_BODY_PARAMETERS, UnderwaterBody
from rosflight_py_sim.ground import pulse_width
from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value
from rosflight_py_sim.ground.pulse_width import CENTRE_US, OUTPUTS, SERVO
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, Taken, gate
from rosflight_py_sim.kernels.jit import bound, kernel, kernel_part
from rosflight_py_sim.physics.rotations import euler_from_quaternion, rotate_to_inertial
from rosflight_py_sim.physics.thrusters import settled_command
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import later, newest, output, repeated, service, synchronized, trigger
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    HOLD_DOING,
    HOLD_SETPOINT,
    IMU,
    PWM_OUTPUT,
    TRUTH_STATE,
    ImuSample,
    NamedNumbers,
    PulseWidths,
    StepTopic,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

_DEPTH = StepTopic[Float64]("hold/depth", Float64)
_YAW = StepTopic[Float64]("hold/yaw", Float64)
_SURGE = StepTopic[Float64]("hold/surge", Float64)
_SWAY = StepTopic[Float64]("hold/sway", Float64)

RELEASED = "released, thrusters stopped"
"""Text on hold/doing of a vehicle that holds nothing."""

_RELEASED = "the vehicle is released; call hold/here first"

pulse_of = kernel_part(pulse_width.pulse_of)

# Smallest and largest set-point, by name.
_LIMITS = {"depth": (0.0, math.inf), "yaw": (-math.inf, math.inf), "surge": (-1.0, 1.0), "sway": (-1.0, 1.0)}


@kernel
def hold_outputs(
    hold: Hold,
    share: NDArray[np.float64],
    full_thrust: NDArray[np.float64],
    thrusters: NDArray[np.float64],
    truth: NDArray[np.float64],
    dt: float,
    shares: NDArray[np.float64],
    pulse_us: NDArray[np.int64],
) -> bool:
    """Write the pulse widths (14,) of the thrusters for the next `dt` seconds, us; return whether it is impossible.

    Args:
        hold: state of the controller.
        share: pseudo-inverse of the allocation (n, 4).
        full_thrust: thrust of a share of 1 (n,), N.
        thrusters: rows as in `thrusters.py`.
        truth: true state (19,); the outputs are impossible if it is not finite.
        dt: s; 0 leaves the integrators unchanged.
        shares: the thrusters' shares of full thrust (n,).
        pulse_us: the pulse widths.
    """
    if not hold.is_held:
        for i in range(len(pulse_us)):
            pulse_us[i] = CENTRE_US
        return False
    qw, qx, qy, qz = truth[3], truth[4], truth[5], truth[6]
    _, _, down_rate = rotate_to_inertial(qw, qx, qy, qz, truth[7], truth[8], truth[9])
    _, _, yaw = euler_from_quaternion(qw, qx, qy, qz)
    if hold_shares(hold, share, truth[2], down_rate, yaw, truth[12], dt, shares):
        return True
    for i in range(len(shares)):
        pulse_us[i] = int(np.rint(pulse_of(settled_command(thrusters[i], shares[i] * full_thrust[i]), SERVO)))
    return False


class AuvController(Part):
    """Flight controller of an underwater vehicle: holds depth and yaw, and follows surge and sway set-points.

    It starts released, with the thrusters stopped. The service hold/here holds the current depth and yaw; from then on
    hold/depth (m), hold/yaw (rad from north), hold/surge and hold/sway (-1 to 1 of the full thrust) change the
    set-points; an autopilot sends several of them at once, by name, on hold/setpoint. The service hold/release stops
    the thrusters. A set-point that is not allowed is refused with a logged error, and the previous one is kept. The
    current action is published on hold/doing when it changes.

    Like the autopilots, it uses the true state. In lockstep each IMU message is answered with PWM; otherwise a timer
    runs the controller.
    """

    KIND: ClassVar[NodeKind | None] = NodeKind.FLIGHT_CONTROLLER
    DEFAULT_NAME: ClassVar[str] = "auv_controller"
    ALIASES: ClassVar[tuple[str, ...]] = ("auv_autopilot",)
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

    send_pwm = output(PWM_OUTPUT)
    send_doing = output(HOLD_DOING)

    def initialise(self) -> None:
        """Stop the thrusters."""
        super().initialise()
        self._controller: HoldController | None = None
        self._state = VehicleState()
        self._setpoint: HoldSetpoint | None = None
        self._has_ignored, self._reported = False, ""
        self._pulse_us = np.full(OUTPUTS, CENTRE_US)

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild the controller; it takes over the state of the old one."""
        body = UnderwaterBody(values)
        controller = HoldController(values, body.held, body.allocation)
        if self._controller is not None:
            controller.adopt(self._controller)
        controller.set(self._setpoint)
        self._controller, self._shares = controller, np.zeros(len(body.thrusters))
        self._reachable = body.allocation.reachable
        numbers = controller.hold, controller.share, body.full_thrust, body.thrusters
        self._hold, self._bound_hold = bound(hold_outputs, *numbers), partial(bound, hold_outputs, *numbers)

    def begin(self) -> None:
        """Report that the vehicle is released."""
        self._report_doing()

    # Services and set-points.

    @service(Trigger, "hold/here")
    def _hold_here(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state.time_ns < 0:
            response.message = f"no {TRUTH_STATE.name} yet"
            return response
        motion = self._motion()
        assert self._controller is not None
        self._controller.begin(motion)
        self._aim(HoldSetpoint(max(motion.depth, 0.0), motion.yaw))
        response.success, response.message = True, self._report_doing()
        return response

    @service(Trigger, "hold/release")
    def _release(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._has_ignored = False
        self._aim(None)
        response.success, response.message = True, self._report_doing()
        return response

    @later(HOLD_SETPOINT)
    def _on_setpoint(self, message: NamedNumbers) -> None:
        """Take set-points of an autopilot."""
        names, numbers = message.names, message.numbers
        if len(names) != len(numbers):
            self.log.error(f"{HOLD_SETPOINT.name} refused: {len(names)} names and {len(numbers)} positions given")
        elif self._setpoint is not None:
            self._set(HOLD_SETPOINT.name, dict(zip(names, numbers, strict=True)))
        elif not self._has_ignored:
            self._has_ignored = True
            self.log.error(f"{HOLD_SETPOINT.name} has no effect: {_RELEASED}")

    @newest(_DEPTH)
    def _on_depth(self, message: Float64) -> None:
        self._set(_DEPTH.name, {"depth": message.data})

    @newest(_YAW)
    def _on_yaw(self, message: Float64) -> None:
        self._set(_YAW.name, {"yaw": message.data})

    @newest(_SURGE)
    def _on_surge(self, message: Float64) -> None:
        self._set(_SURGE.name, {"surge": message.data})

    @newest(_SWAY)
    def _on_sway(self, message: Float64) -> None:
        self._set(_SWAY.name, {"sway": message.data})

    def _aim(self, setpoint: HoldSetpoint | None) -> None:
        assert self._controller is not None
        self._setpoint = setpoint
        self._controller.set(setpoint)

    def _set(self, topic: str, given: Mapping[str, float]) -> None:
        taken: dict[str, float] = {}
        for name, value in given.items():
            refusal = self._refusal(name, value)
            if refusal:
                self.log.error(f"{topic} refused: {refusal}")
            else:
                taken[name] = value
        if taken and self._setpoint is not None:
            self._aim(self._setpoint._replace(**taken))
            if self._doing != self._reported:
                self._report_doing()

    def _refusal(self, name: str, given: float) -> str:
        """Reason to refuse the set-point; empty if it is allowed."""
        if self._setpoint is None:
            return _RELEASED
        if name not in _LIMITS:
            return f"'{name}' given; allowed: {', '.join(_LIMITS)}"
        low, high = _LIMITS[name]
        if not (math.isfinite(given) and low <= given <= high):
            allowed = "at least 0 m" if name == "depth" else "any angle in rad" if name == "yaw" else "from -1 to 1"
            return f"{given:g} given; allowed: {allowed}"
        axis = {"surge": SURGE, "sway": SWAY}.get(name)
        if axis is not None and given and not self._reachable[axis]:
            return "the thrusters cannot push along that axis alone"
        return ""

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Current action."""
        yield Diagnosis("", self._doing)

    @property
    def _doing(self) -> str:
        held = self._setpoint
        if held is None:
            return RELEASED
        doing = f"holding {held.depth:.2f} m, {math.degrees(held.yaw):.0f} deg"
        if held.surge or held.sway:
            doing += f", surge {100.0 * held.surge:.0f} %, sway {100.0 * held.sway:.0f} %"
        return doing

    def _report_doing(self) -> str:
        self._reported = self._doing
        self.send_doing(String(data=self._reported))
        return self._reported

    # Inputs and answers of the step.

    @synchronized(TRUTH_STATE)
    def _on_truth(self, state: VehicleState) -> None:
        self._state = state

    imu = trigger(IMU, rate="hold_frequency", needed=True)
    repetition = repeated()

    def answer(self, time_ns: int, content: ImuSample | None) -> None:
        """Send the outputs."""
        self._update(time_ns)
        self.send_pwm(self._outputs(time_ns))

    def _update(self, time_ns: int) -> None:
        elapsed_ns = time_ns - self.answered_ns
        # After a longer gap, or if time goes back, another node was restarted: integrators must not advance.
        is_step = self.answered_ns >= 0 and 0 < elapsed_ns <= LONGEST_STEP_NS
        if self._hold(self._state.truth, elapsed_ns / NANOSECONDS if is_step else 0.0, self._shares, self._pulse_us):
            self._refuse_motion()

    def _refuse_motion(self) -> None:
        raise ValueError(f"motion is not finite: {self._motion()}")

    def _outputs(self, time_ns: int) -> PulseWidths:
        return PulseWidths(time_ns, tuple(self._pulse_us.tolist()))

    def answer_again(self, time_ns: int) -> None:
        """Send the last outputs."""
        self.send_pwm(self._outputs(time_ns))

    def cells(self) -> Cells:
        """The pulse widths."""
        return cell_of(PWM_OUTPUT, self._pulse_us, self._outputs)

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink]:
        """Compute the outputs in the chain, and take set-points when they are due."""
        dt = time.step_ns / NANOSECONDS if time.step_ns <= LONGEST_STEP_NS else 0.0
        truth = cells[TRUTH_STATE.name]
        inputs = self.wake

        def take_inputs(time_ns: int) -> None:
            if self.held.waiting:
                self.held.deliver(time_ns)
            inputs.at_ns = self.held.due_ns

        def attend(time_ns: int, status: int) -> None:
            self._state = truth.message(time_ns)
            self._refuse_motion()

        inputs.at_ns = 0
        held = self._bound_hold(truth.memory, dt, self._shares, self._pulse_us)
        return [gate(time, inputs, take_inputs), ChainLink(held, attend)]

    def _motion(self) -> Motion:
        """Depth and yaw with their rates."""
        quaternion = self._state.quaternion.tolist()
        _, _, down_rate = rotate_to_inertial(*quaternion, *self._state.velocity_body.tolist())
        _, _, yaw = euler_from_quaternion(*quaternion)
        return Motion(float(self._state.position_ned[2]), down_rate, yaw, float(self._state.angular_velocity[2]))
