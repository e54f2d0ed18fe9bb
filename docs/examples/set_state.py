"""Puts the simulated vehicle 20 m above the origin, level and at rest, and prints the next second of its fall.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`.venv/bin/python docs/examples/set_state.py`. Fields that are not given are zero, except for the quaternion's w.
"""

from rosflight_msgs.msg import SimState
from rosflight_msgs.srv import SetSimState

from simulation_client import SimulationClient, run

HEIGHT_M = 20.0


class SetState(SimulationClient):
    """Calls the service of the dynamics node."""

    def __init__(self) -> None:
        """Create the node."""
        super().__init__("set_state")

    def act(self) -> None:
        """Set the state, and watch for a second."""
        self.look()
        print(f"before: {self.place}", flush=True)
        state = SimState()
        state.pose.position.z = -HEIGHT_M
        self.press(SetSimState, "dynamics/set_sim_state", state=state)
        self.look()
        print(f"set:    {self.place}", flush=True)
        end_s = self.time_s + 1.0
        while self.time_s < end_s:
            self.look()
        print(f"after:  {self.place}", flush=True)


if __name__ == "__main__":
    run(SetState)
