"""Relay for viewers in other processes: the newest messages of frequent topics at a display rate."""

from __future__ import annotations

from typing import Any, ClassVar

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import VEHICLES, vehicle_namespaces
from rosflight_py_sim.nodes.display_rate import STATES_HZ, display_rate
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import Output, Polled, output, polled
from rosflight_py_sim.step.topics import BATTERY, FORCES_AND_MOMENTS, PWM_OUTPUT, RC, SETPOINT, TRUTH_STATE, TRUTH_WIND
from rosflight_py_sim.step.viewed_topics import viewed


class _RelayedVehicle(Part):
    """The newest messages of a vehicle, sent again."""

    truth, wind, pwm, wrench = polled(TRUTH_STATE), polled(TRUTH_WIND), polled(PWM_OUTPUT), polled(FORCES_AND_MOMENTS)
    rc, battery, setpoint = polled(RC), polled(BATTERY), polled(SETPOINT)
    send_truth = output(viewed(TRUTH_STATE, relayed=True))
    send_wind = output(viewed(TRUTH_WIND, relayed=True))
    send_pwm = output(viewed(PWM_OUTPUT, relayed=True))
    send_wrench = output(viewed(FORCES_AND_MOMENTS, relayed=True))
    send_rc = output(viewed(RC, relayed=True))
    send_battery = output(viewed(BATTERY, relayed=True))
    send_setpoint = output(viewed(SETPOINT, relayed=True))

    def relay(self) -> None:
        """Send each message that has arrived since the last call."""
        for read, out in zip(self.ports(Polled), self.ports(Output), strict=True):
            message = getattr(self, read.name)()
            if message is not None:
                getattr(self, out.name)(message)


class ViewRelay(PartNode):
    """Publishes the newest messages of the topics in VIEWED and PILOTED on view/..., at a display's rate.

    A subscription in another process wakes that process for each message, which costs a graph in one process a quarter
    of its speed. This node, in the graph's process, costs one percent.
    """

    DEFAULT_NAME: ClassVar[str] = "view_relay"
    ONLY_OBSERVES: ClassVar[bool] = True
    PARAMETERS: ClassVar[ParameterTable] = ParameterTable(
        VEHICLES,
        Parameter(
            "view_rate",
            30.0,
            f"Messages per second of system time; at most {STATES_HZ} divided by the number of vehicles",
            "Hz",
            1.0,
            100.0,
            read_only=True,
        ),
    )
    HOSTS: ClassVar[tuple[type[Part], ...]] = (_RelayedVehicle,)

    def __init__(self, **arguments: Any) -> None:
        """Start relaying."""
        super().__init__(**arguments)
        self._vehicles = [
            self.host(_RelayedVehicle({}), vehicle) for vehicle in vehicle_namespaces(self.values["vehicles"])
        ]
        rate_hz = display_rate(number(self.values, "view_rate"), len(self._vehicles))
        self.create_system_timer(1.0 / rate_hz, self._relay)

    def _relay(self) -> None:
        for vehicle in self._vehicles:
            vehicle.relay()
