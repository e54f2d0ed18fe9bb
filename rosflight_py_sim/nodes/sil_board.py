"""The flight controller as a node, with the services that run it by calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter as RosParameter
from std_srvs.srv import Trigger

from rosflight_py_sim.bridge.mavlink_port import MAVLINK_PARAMETERS, MavlinkPort
from rosflight_py_sim.bridge.peers import address_text
from rosflight_py_sim.ground.parameters import ParameterError, ParameterTable
from rosflight_py_sim.ground.shared_parameters import SEED
from rosflight_py_sim.ground.stamps import seconds_text
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import service


class SilBoard(RosflightBoard, PartNode):
    """Runs the firmware on each IMU message (lockstep) or on a timer, and publishes sim/pwm_output.

    With use_timer false the firmware runs only when sil_board/run (or rosflight_sil/take_sim_step) is called.
    """

    WITHOUT_ROS: ClassVar[type[Part] | None] = RosflightBoard
    PARAMETERS: ClassVar[ParameterTable] = RosflightBoard.PARAMETERS + MAVLINK_PARAMETERS + ParameterTable(SEED)

    # A class attribute, because a node that fails during construction is also destroyed.
    _port: MavlinkPort | None = None

    def begin(self) -> None:
        """Begin to run."""
        # In simulated time the node's clock does not advance during a pass; a measured time would differ between runs.
        self.measures_loop_time = not self.get_parameter("use_sim_time").value
        self._admit_answers()
        if not self.values["mavlink.port"] and not self.values["offers_rosflight_io"]:
            raise ParameterError(
                "parameters 'mavlink.port' and 'offers_rosflight_io': 0 and false given, so no program can command the "
                "flight controller; allowed: a port, such as 14525, or true"
            )
        if self.values["mavlink.port"]:
            self._port = MavlinkPort(self.values, self.get_logger())
            self.connect_link(self._port)
            self.get_logger().info(f"MAVLink on UDP {address_text(self._port.own)}")
        super().begin()

    @property
    def unrepeatable_inputs(self) -> Sequence[str]:
        """Programs on the MAVLink link, whose messages carry no simulated time."""
        if self._port is None:
            return super().unrepeatable_inputs
        return [*super().unrepeatable_inputs, f"MAVLink messages ({self.get_fully_qualified_name()})"]

    def destroy_node(self) -> None:
        """Also close the port of the MAVLink link."""
        if self._port is not None:
            self._port.close()
            self._port = None
        super().destroy_node()

    def _admit_answers(self) -> None:
        """Admit all answers, or none until a call."""
        if self.values["use_timer"]:
            self._join.admit()
        else:
            self._join.admit(-1)

    def _on_set_parameters(self, changes: list[RosParameter[Any]]) -> SetParametersResult:
        result = super()._on_set_parameters(changes)
        self._admit_answers()
        return result

    @service(Trigger, "sil_board/run", admits=True)
    def _run_once(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Run the firmware once, with `use_timer` false."""
        if self.values["use_timer"]:
            response.message = "the firmware runs automatically; set use_timer to false to run it by calls"
            return response
        if self.lockstep and self._join.waiting_ns < 0:
            response.message = "no IMU message is waiting for an answer"
            return response
        now_ns = self.now_ns
        if not self.lockstep and now_ns <= 0:
            response.message = "the time is not known: no /clock message has arrived"
            return response
        if self.lockstep:
            self._join.admit(self._join.waiting_ns)
            self._join.give_up()
        else:
            self._join.make_stale()
            self._join.trigger(now_ns)
            self._join.admit(now_ns)
        response.success = True
        response.message = f"ran at {seconds_text(self._join.answered_ns)}"
        return response

    @service(Trigger, "rosflight_sil/take_sim_step")
    def _take_sim_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._run_once(request, response)
