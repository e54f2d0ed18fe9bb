"""Calibrates the simulated magnetometer: turns the vehicle in the air until the flight controller has enough samples.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`.venv/bin/python docs/examples/turn_about.py`. The vehicle must be disarmed; the script puts it back where it was.
"""

import random

import rclpy
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import ParamGet, SetSimState
from std_srvs.srv import Trigger

from simulation_client import SimulationClient, StoppedError, run

HEIGHT_M = 200.0
HOLD_S = 0.1
# Time limit of the calibration, s of simulated time, as the firmware's.
LONGEST_S = 300.0


class TurnAbout(SimulationClient):
    """Holds the vehicle in one attitude after another until MAG_CAL_A00 has changed."""

    def __init__(self) -> None:
        """Create the node."""
        super().__init__("turn_about")

    def act(self) -> None:
        """Calibrate the magnetometer, and print the result."""
        self.look()
        before, home, began_s = self.magnetometer("CAL_A00"), self.truth, self.time_s
        self.press(Trigger, "calibrate_mag")
        attitudes = random.Random(1)
        try:
            while self.magnetometer("CAL_A00") == before:
                if self.time_s > began_s + LONGEST_S:
                    raise StoppedError(f"not calibrated within {LONGEST_S:g} s of simulated time")
                self.hold([attitudes.gauss(0.0, 1.0) for _ in range(4)])
        finally:
            if rclpy.ok():
                self.call(SetSimState, "dynamics/set_sim_state", state=home)
        for axis in "XYZ":
            print(f"MAG_{axis}_BIAS {1e6 * self.magnetometer(f'{axis}_BIAS'):.2f} uT")
        print(f"calibrated in {self.time_s - began_s:.1f} s of simulated time")

    def magnetometer(self, name: str) -> float:
        """Value of a parameter MAG_... of the flight controller."""
        return float(self.call(ParamGet, "param_get", name=f"MAG_{name}").value)

    def hold(self, attitude: list[float]) -> None:
        """Set the vehicle to an attitude (any quaternion w x y z), at rest, and let some time pass."""
        state = SimState()
        state.pose.position.z = -HEIGHT_M
        norm = sum(q * q for q in attitude) ** 0.5
        o = state.pose.orientation
        o.w, o.x, o.y, o.z = (q / norm for q in attitude)
        self.call(SetSimState, "dynamics/set_sim_state", state=state)
        end_s = self.time_s + HOLD_S
        while self.time_s < end_s:
            self.look()


if __name__ == "__main__":
    run(TurnAbout)
