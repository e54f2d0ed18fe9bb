"""Calibrates the simulated magnetometer: turns the vehicle in the air until the flight controller has enough samples.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST .venv/bin/python docs/examples/turn_about.py`. The vehicle must be disarmed;
the script puts it back where it was. Exit code 0: calibrated; 1: not calibrated, with the reason on stderr; 130: Ctrl-C
or SIGTERM.
"""

import random
import sys
import time

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future
from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import ParamGet, SetSimState
from std_srvs.srv import Trigger

HEIGHT_M = 200.0
HOLD_S = 0.1
# Time limits: for messages and replies, s of system time; for the calibration, s of simulated time, as the firmware's.
LIMIT_S = 10.0
LONGEST_S = 300.0


class StoppedError(RuntimeError):
    """The calibration cannot go on; the text gives the reason."""


class TurnAbout(Node):
    """Holds the vehicle in one attitude after another until MAG_CAL_A00 has changed."""

    def __init__(self) -> None:
        """Create the service clients.

        Raises:
            StoppedError: a service is missing.
        """
        super().__init__("turn_about")
        self.truth = SimState()
        self.create_subscription(SimState, "sim/truth_state", self.on_truth, 1)
        self.start = self.create_client(Trigger, "calibrate_mag")
        self.place = self.create_client(SetSimState, "dynamics/set_sim_state")
        self.get = self.create_client(ParamGet, "param_get")
        # Wakes `spin_once`, so that the time limits also hold without messages.
        self.create_timer(0.2, lambda: None)
        for client in (self.start, self.place, self.get):
            if not client.wait_for_service(LIMIT_S):
                raise self.stopped(f"no service {client.srv_name} within {LIMIT_S:g} s; is a simulation running?")

    def stopped(self, text: str) -> Exception:
        """Error for a time limit that has passed, or for the signal that ended the wait."""
        return StoppedError(text) if self.context.ok() else ExternalShutdownException()

    def on_truth(self, message: SimState) -> None:
        """Keep the newest truth state."""
        self.truth = message

    def time_s(self) -> float:
        """Simulated time, s."""
        stamp = self.truth.header.stamp
        return float(stamp.sec + stamp.nanosec * 1e-9)

    def wait(self, future: Future) -> object:
        """Reply of a service."""
        rclpy.spin_until_future_complete(self, future, timeout_sec=LIMIT_S)
        if not future.done():
            raise self.stopped(f"no reply within {LIMIT_S:g} s; was the simulation ended?")
        return future.result()

    def parameter(self, name: str) -> float:
        """Value of a flight controller parameter."""
        return float(self.wait(self.get.call_async(ParamGet.Request(name=name))).value)

    def put(self, state: SimState) -> None:
        """Set the vehicle's state."""
        reply = self.wait(self.place.call_async(SetSimState.Request(state=state)))
        if not reply.success:
            raise StoppedError(f"set_sim_state: {reply.message}")

    def pass_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        began, give_up = self.time_s(), time.monotonic() + LIMIT_S
        while began == 0.0 or self.time_s() < began + seconds:
            rclpy.spin_once(self)
            began = began or self.time_s()
            if time.monotonic() > give_up:
                raise StoppedError(f"simulated time stands still at {self.time_s():g} s; is the simulation paused?")

    def hold(self, attitude: list[float]) -> None:
        """Set the vehicle to an attitude (any quaternion w x y z), at rest, and let some time pass."""
        state = SimState()
        state.pose.position.z = -HEIGHT_M
        norm = sum(q * q for q in attitude) ** 0.5
        o = state.pose.orientation
        o.w, o.x, o.y, o.z = (q / norm for q in attitude)
        self.put(state)
        self.pass_time(HOLD_S)

    def calibrate(self) -> None:
        """Calibrate the magnetometer."""
        self.pass_time(HOLD_S)
        before, home, began = self.parameter("MAG_CAL_A00"), self.truth, self.time_s()
        answer = self.wait(self.start.call_async(Trigger.Request()))
        print(answer.message, flush=True)
        if not answer.success:
            raise StoppedError("calibrate_mag was refused")
        attitudes = random.Random(1)
        try:
            while self.parameter("MAG_CAL_A00") == before:
                if self.time_s() > began + LONGEST_S:
                    raise StoppedError(f"not calibrated within {LONGEST_S:g} s of simulated time")
                self.hold([attitudes.gauss(0.0, 1.0) for _ in range(4)])
        finally:
            if rclpy.ok():
                self.put(home)
        for axis in "XYZ":
            print(f"MAG_{axis}_BIAS {1e6 * self.parameter(f'MAG_{axis}_BIAS'):.2f} uT")
        print(f"calibrated in {self.time_s() - began:.1f} s of simulated time")


def main() -> int:
    """Calibrate the magnetometer; return the exit code."""
    rclpy.init()
    try:
        TurnAbout().calibrate()
    except StoppedError as reason:
        print(f"stopped: {reason}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Exception) as error:
        # A signal shuts ROS down, and calls then raise errors of many types.
        if rclpy.ok() and not isinstance(error, KeyboardInterrupt):
            raise
        print("interrupted: the vehicle may be left in the air, and the calibration unfinished", file=sys.stderr)
        return 130
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
