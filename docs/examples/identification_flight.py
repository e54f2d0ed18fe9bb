"""Flies the manoeuvres that show the parameters of a multirotor, for `rosflight_py_sim identify` (docs/identify.md).

Start a simulation in the air first, with a recording:
`.venv/bin/rosflight_py_sim sim --record flight.mcap --params-file docs/examples/identification_flight.yaml`; then, in
another terminal, `.venv/bin/python docs/examples/identification_flight.py`. The flight takes 50 s of simulated time.
Exit code 0: flown, 1: not flown, 130: Ctrl-C or SIGTERM.
"""

import numpy as np
from rosflight_msgs.msg import Command
from rosflight_py_sim.identification.excitation import ExcitingGuidance

from simulation_client import SimulationClient, StoppedError, run

SECONDS = 50.0
# Least height above the origin, m.
LEAST_HEIGHT_M = 10.0


class IdentificationFlight(SimulationClient):
    """Flies the manoeuvres from the height at which the vehicle is."""

    def __init__(self) -> None:
        """Prepare the commands."""
        super().__init__("identification_flight")
        self.commands = self.create_publisher(Command, "command", 1)

    def act(self) -> None:
        """Fly for SECONDS of simulated time."""
        self.until(lambda: self.time_s, "vehicle")
        height_m = -self.truth.pose.position.z
        if height_m < LEAST_HEIGHT_M:
            raise StoppedError(f"the vehicle is {height_m:.1f} m high; allowed: at least {LEAST_HEIGHT_M:g} m")
        guidance, start_s, printed_s = ExcitingGuidance(height_m), self.time_s, self.time_s
        while self.time_s < start_s + SECONDS:
            self.commands.publish(self.command(guidance, self.time_s - start_s))
            self.look()
            if -self.truth.pose.position.z < LEAST_HEIGHT_M:
                raise StoppedError(f"the vehicle is too low: {self.seen}")
            if self.time_s >= printed_s + 5.0:
                printed_s = self.time_s
                print(self.place, flush=True)

    def command(self, guidance: ExcitingGuidance, time_s: float) -> Command:
        """Command at a time since the begin, s."""
        pose, twist = self.truth.pose, self.truth.twist
        truth = np.zeros(19)
        truth[:3] = pose.position.x, pose.position.y, pose.position.z
        truth[3:7] = pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z
        truth[7:10] = twist.linear.x, twist.linear.y, twist.linear.z
        message = Command(mode=Command.MODE_ROLL_PITCH_YAWRATE_THROTTLE)
        message.header.stamp = self.truth.header.stamp
        message.u = [float(one) for one in guidance.command(time_s, truth)]
        return message


if __name__ == "__main__":
    run(IdentificationFlight)
