"""The transmitter: what the pilot's hands and switches say."""

from __future__ import annotations

from typing import Any, ClassVar

from rosflight_msgs.msg import RCRaw
from std_srvs.srv import Trigger

from rosflight_py_sim.interfaces.qos import CHAIN
from rosflight_py_sim.interfaces.simulation_node import TIME_MODE, SimulationNode
from rosflight_py_sim.interfaces.ticks import start_ticks
from rosflight_py_sim.interfaces.wire import WireFormat
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import Parameter, ParameterError, ParameterTable, Value, number

RC_WIRE = WireFormat(RCRaw)

LOW, CENTRE, HIGH = 1000, 1500, 2000

ROLL, PITCH, THROTTLE, YAW, ARM, OVERRIDE, ATTITUDE_TYPE, SPARE = range(8)


class Rc(SimulationNode):
    """Publishes sim/RC without a transmitter: sticks centred, throttle low, switches moved by services.

    toggle_arm moves the arm switch, toggle_override the switch that lets RC override the commands of a computer (on at
    the start, as arming needs it).
    """

    DEFAULT_NAME: ClassVar[str] = "rc"
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        TIME_MODE,
        Parameter("use_vimfly", False, "Fly with the keyboard; this version has no keyboard flying", read_only=True),
        Parameter("rc_frequency", 50.0, "Rate of RC frames", "Hz", minimum=1.0, maximum=400.0, read_only=True),
    )

    def __init__(self, **arguments: Any) -> None:
        """Create topic and services and start sending frames."""
        super().__init__(**arguments)
        self._channels = [CENTRE] * 8
        self._channels[THROTTLE] = LOW
        self._channels[ARM] = LOW
        self._channels[OVERRIDE] = HIGH
        self._channels[ATTITUDE_TYPE] = HIGH
        self._send = self.publisher("sim/RC", RC_WIRE, CHAIN)
        self.create_service(Trigger, "toggle_arm", self._toggle_arm)
        self.create_service(Trigger, "toggle_override", self._toggle_override)
        start_ticks(self, number(self.values, "rc_frequency"), self._on_tick)

    def configure(self, values: dict[str, Value]) -> None:
        """Refuse what this version cannot do."""
        if values["use_vimfly"]:
            raise ParameterError("parameter 'use_vimfly': True given; allowed: false (no keyboard flying yet)")

    def _on_tick(self, time_ns: int) -> None:
        self._send(time_ns, *self._channels)

    def _toggle(self, channel: int, name: str, response: Trigger.Response) -> Trigger.Response:
        on = self._channels[channel] != HIGH
        self._channels[channel] = HIGH if on else LOW
        response.success = True
        response.message = f"{name} switch {'on' if on else 'off'}"
        return response

    def _toggle_arm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._toggle(ARM, "arm", response)

    def _toggle_override(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._toggle(OVERRIDE, "override", response)


def main() -> None:
    """Run the node."""
    run(Rc)


if __name__ == "__main__":
    main()
