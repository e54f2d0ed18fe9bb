"""Calibrates the simulated magnetometer: turns the vehicle in the air until the flight controller has enough samples.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST .venv/bin/python docs/examples/turn_about.py`.
"""

import random

import rclpy
from rclpy.node import Node
from rclpy.task import Future
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import ParamGet, SetSimState
from std_srvs.srv import Trigger

HEIGHT_M = 200.0
HOLD_S = 0.1


class TurnAbout(Node):
    """Holds the vehicle in one attitude after another until MAG_CAL_A00 has changed."""

    def __init__(self) -> None:
        """Create the service clients."""
        super().__init__("turn_about")
        self.truth = SimState()
        self.create_subscription(SimState, "sim/truth_state", self.on_truth, 1)
        self.start = self.create_client(Trigger, "calibrate_mag")
        self.place = self.create_client(SetSimState, "dynamics/set_sim_state")
        self.get = self.create_client(ParamGet, "param_get")
        for client in (self.start, self.place, self.get):
            client.wait_for_service()

    def on_truth(self, message: SimState) -> None:
        """Keep the newest truth state."""
        self.truth = message

    def time_s(self) -> float:
        """Simulated time, s."""
        stamp = self.truth.header.stamp
        return float(stamp.sec + stamp.nanosec * 1e-9)

    def wait(self, future: Future) -> object:
        """Reply of a service."""
        rclpy.spin_until_future_complete(self, future)
        return future.result()

    def parameter(self, name: str) -> float:
        """Value of a flight controller parameter."""
        return float(self.wait(self.get.call_async(ParamGet.Request(name=name))).value)

    def hold(self, attitude: list[float]) -> None:
        """Set the vehicle to an attitude (any quaternion w x y z), at rest, and let some time pass."""
        state = SimState()
        state.pose.position.z = -HEIGHT_M
        norm = sum(q * q for q in attitude) ** 0.5
        o = state.pose.orientation
        o.w, o.x, o.y, o.z = (q / norm for q in attitude)
        self.wait(self.place.call_async(SetSimState.Request(state=state)))
        end = self.time_s() + HOLD_S
        while self.time_s() < end:
            rclpy.spin_once(self)


def main() -> None:
    """Calibrate the magnetometer."""
    rclpy.init()
    node = TurnAbout()
    answer = node.wait(node.start.call_async(Trigger.Request()))
    print(answer.message)
    before = node.parameter("MAG_CAL_A00")
    attitudes = random.Random(1)
    while answer.success and node.parameter("MAG_CAL_A00") == before:
        node.hold([attitudes.gauss(0.0, 1.0) for _ in range(4)])
    for axis in "XYZ":
        print(f"MAG_{axis}_BIAS {1e6 * node.parameter(f'MAG_{axis}_BIAS'):.2f} uT")
    rclpy.shutdown()


if __name__ == "__main__":
    main()
