"""A node of your own: it sends the true airspeed of the vehicle, 50 times a second (docs/testing.md)."""

import math
from typing import ClassVar

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.ports import output, synchronized, trigger
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import TRUTH_STATE, TRUTH_WIND, StepTopic
from rosflight_py_sim.step.vehicle_state import VehicleState
from std_msgs.msg import Float64


class AirspeedMeter(Part):
    """Sends the true airspeed, m/s."""

    KIND: ClassVar = NodeKind.FURTHER
    DEFAULT_NAME: ClassVar = "airspeed_meter"
    PARAMETERS: ClassVar = ParameterTable(
        TIME_MODE,
        Parameter("airspeed_rate", 50.0, "Rate of the true airspeed", "Hz", minimum=1.0, maximum=400.0),
    )

    wind = synchronized(TRUTH_WIND, required=True)
    state = trigger(TRUTH_STATE, needed=True)
    send = output(StepTopic("true_airspeed", Float64))

    def configure(self, values: dict) -> None:
        """Set the rate, at the start and whenever a parameter changes."""
        self._schedule = Schedule(values["airspeed_rate"])

    def answer(self, time_ns: int, state: VehicleState) -> None:
        """Send the airspeed when it is due."""
        if self._schedule.due(time_ns):
            wind_body = rotate_to_body(*state.quaternion.tolist(), *self.wind.velocity_ned)
            self.send(Float64(data=math.dist(state.velocity_body, wind_body)))


if __name__ == "__main__":
    run(AirspeedMeter)
