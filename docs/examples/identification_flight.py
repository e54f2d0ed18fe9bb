"""Flies the manoeuvres that show the parameters of a vehicle, for `rosflight_py_sim identify` (docs/identify.md).

Start a simulation in the air first, with a recording:
`.venv/bin/rosflight_py_sim sim --record flight.mcap --params-file docs/examples/identification_flight.yaml`; then, in
another terminal, `.venv/bin/python docs/examples/identification_flight.py`. For a fixed wing, add `--vehicle anaconda`
to both, and use identification_flight_anaconda.yaml. The simulation waits for the commands of this program. The flight
takes one to two minutes of simulated time.
Exit code 0: flown, 1: not flown, 130: Ctrl-C or SIGTERM.
"""

import argparse
import copy
from functools import partial

import numpy as np
from geometry_msgs.msg import Vector3Stamped
from rosflight_msgs.msg import Command
from rosflight_msgs.srv import SetSimState
from rosflight_py_sim.commands.identify import excitation_of
from rosflight_py_sim.identification.excitation import Excitation
from rosflight_py_sim.vehicles import vehicle

from simulation_client import SimulationClient, StoppedError, run

# Least height above the origin, m.
LEAST_HEIGHT_M = 10.0


class IdentificationFlight(SimulationClient):
    """Flies the manoeuvres from the height at which the vehicle is."""

    def __init__(self, name: str) -> None:
        """Prepare the commands for a vehicle, by its file or name."""
        super().__init__("identification_flight")
        self.vehicle = vehicle(name)
        self.wind_ned = np.zeros(3)
        self.create_subscription(Vector3Stamped, "sim/truth_wind", self.on_wind, 1)
        self.commands = self.create_publisher(Command, "command", 1)

    def on_wind(self, message: Vector3Stamped) -> None:
        """Keep the newest wind."""
        self.wind_ned[:] = message.vector.x, message.vector.y, message.vector.z

    def act(self) -> None:
        """Fly the manoeuvres once."""
        self.until(lambda: self.time_s, "vehicle")
        height_m = -self.truth.pose.position.z
        if height_m < LEAST_HEIGHT_M:
            raise StoppedError(f"the vehicle is {height_m:.1f} m high; allowed: at least {LEAST_HEIGHT_M:g} m")
        excitation = excitation_of(self.vehicle, height_m)
        if excitation.start_airspeed:
            state = copy.deepcopy(self.truth)
            state.twist.linear.x = excitation.start_airspeed
            self.press(SetSimState, "dynamics/set_sim_state", state=state)
        start_s = printed_s = self.time_s
        while self.time_s < start_s + excitation.SECONDS:
            self.commands.publish(self.command(excitation, self.time_s - start_s))
            self.look()
            if -self.truth.pose.position.z < LEAST_HEIGHT_M:
                raise StoppedError(f"the vehicle is too low: {self.seen}")
            if self.time_s >= printed_s + 5.0:
                printed_s = self.time_s
                print(self.place, flush=True)

    def command(self, excitation: Excitation, time_s: float) -> Command:
        """Command at a time since the begin, s."""
        pose, twist = self.truth.pose, self.truth.twist
        truth = np.zeros(19)
        truth[:3] = pose.position.x, pose.position.y, pose.position.z
        truth[3:7] = pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z
        truth[7:10] = twist.linear.x, twist.linear.y, twist.linear.z
        truth[10:13] = twist.angular.x, twist.angular.y, twist.angular.z
        message = Command(mode=int(excitation.MODE))
        message.header.stamp = self.truth.header.stamp
        message.u = [float(one) for one in excitation.command(time_s, truth, self.wind_ned)]
        return message


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vehicle", default="multirotor", help="file or name of the vehicle (default: multirotor)")
    run(partial(IdentificationFlight, parser.parse_args().vehicle))
