"""Arms the simulated vehicle, flies the autopilot's mission, prints the position once a second, and disarms.

Start the graph first: `.venv/bin/rosflight_py_sim sim --autopilot`; then, in another terminal,
`.venv/bin/python docs/examples/arm_and_watch.py`. The script begins only with a vehicle that is disarmed. It ends with
what it saw; exit code 0: flown, 1: not flown, 130: Ctrl-C or SIGTERM, after which the autopilot flies on.
"""

import math

from rclpy.qos import DurabilityPolicy, QoSProfile
from rosflight_msgs.msg import SimState, Status
from std_msgs.msg import String
from std_srvs.srv import Trigger

from simulation_client import SimulationClient, StoppedError, run

UNCALIBRATED_IMU = 0x20
OVERRIDE_SWITCHES = Status.OVERRIDE_ATT_SWITCH | Status.OVERRIDE_THR_SWITCH
# Longest mission, s of simulated time, and greatest height of a vehicle on the ground, m above its start.
LONGEST_S = 600.0
GROUND_M = 0.5


class ArmAndWatch(SimulationClient):
    """Calibrates, arms, hands over, flies and disarms."""

    def __init__(self) -> None:
        """Subscribe to status and phase."""
        super().__init__("watch")
        self.status: Status | None = None
        self.phase = ""
        self.start = SimState()
        self.highest_m = 0.0
        self.create_subscription(Status, "status", self.on_status, 1)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(String, "autopilot/phase", self.on_phase, latched)

    def on_status(self, message: Status) -> None:
        """Keep the newest status."""
        self.status = message

    def on_phase(self, message: String) -> None:
        """Keep the autopilot's phase."""
        self.phase = message.data

    @property
    def seen(self) -> str:
        """Position, arming and phase."""
        if self.status is None:
            return super().seen
        code = f", error code {self.status.error_code:#04x}" if self.status.error_code else ""
        phase = f", phase '{self.phase}'" if self.phase else ""
        return f"{super().seen}, {'armed' if self.status.armed else 'disarmed'}{code}{phase}"

    @property
    def height_m(self) -> float:
        """Height above the start."""
        return float(self.start.pose.position.z - self.truth.pose.position.z)

    def act(self) -> None:
        """Fly one mission."""
        self.until(lambda: self.status is not None and self.time_s, "status of a flight controller")
        if self.status.armed:
            raise StoppedError(f"the vehicle is armed already, and was left alone: {self.seen}")
        if self.status.error_code & UNCALIBRATED_IMU:
            self.press(Trigger, "calibrate_imu")
            self.until(lambda: not self.status.error_code & UNCALIBRATED_IMU, "calibrated IMU", 60.0)
        # A flight controller arms only while the transmitter has control.
        self.set_override(on=True)
        self.arm()
        self.set_override(on=False)
        self.start = self.truth
        self.press(Trigger, "autopilot/start")
        # The phase may still be that of an earlier mission.
        self.until(lambda: self.phase not in ("", "wait", "done"), "beginning of the mission")
        self.watch()
        self.disarm()

    def set_override(self, *, on: bool) -> None:
        """Give control to the transmitter (on), or to the autopilot."""
        if bool(self.status.rc_override & OVERRIDE_SWITCHES) is not on:
            self.press(Trigger, "toggle_override")
            wanted = f"override switch {'on' if on else 'off'}"
            self.until(lambda: bool(self.status.rc_override & OVERRIDE_SWITCHES) is on, wanted)

    def arm(self) -> None:
        """Move the arm switch to on; if the flight controller refuses to arm, move it back."""
        if self.status.armed:
            # The switch was on before, and the calibration removed the reason against arming.
            return
        if self.press(Trigger, "toggle_arm").endswith("off"):
            self.press(Trigger, "toggle_arm")
        try:
            self.until(lambda: self.status.armed, "armed vehicle", 5.0)
        except StoppedError:
            self.press(Trigger, "toggle_arm")
            raise StoppedError(f"the flight controller refused to arm; its log has the reason: {self.seen}") from None

    def watch(self) -> None:
        """Print the position once a simulated second until the mission is done."""
        start_s = printed_s = self.time_s
        while self.phase != "done":
            self.look()
            self.highest_m = max(self.highest_m, self.height_m)
            if self.time_s >= printed_s + 1.0:
                printed_s = self.time_s
                print(f"{self.place}  {self.phase}", flush=True)
            if self.status.failsafe or not self.status.armed:
                raise StoppedError(f"{'failsafe' if self.status.failsafe else 'disarmed'} in flight: {self.seen}")
            if self.time_s > start_s + LONGEST_S:
                raise StoppedError(f"the mission takes longer than {LONGEST_S:g} s: {self.seen}")

    def disarm(self) -> None:
        """Disarm a vehicle on the ground, and print a summary."""
        on_ground = self.height_m < GROUND_M
        if on_ground:
            self.press(Trigger, "toggle_arm")
            self.until(lambda: not self.status.armed, "disarmed vehicle")
        position, start = self.truth.pose.position, self.start.pose.position
        off_m = math.hypot(position.x - start.x, position.y - start.y)
        end = "on the ground, disarmed" if on_ground else "in the air, still armed"
        flown_s = self.time_s - (self.start.header.stamp.sec + 1e-9 * self.start.header.stamp.nanosec)
        print(f"done in {flown_s:.1f} s: {self.highest_m:.2f} m high, {off_m:.2f} m from the start, {end}", flush=True)


if __name__ == "__main__":
    run(ArmAndWatch)
