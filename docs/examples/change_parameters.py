"""Changes mass and wind of a running simulation, and shows that a value that is not allowed is refused.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`.venv/bin/python docs/examples/change_parameters.py`. The new values stay in force until the simulation ends.
"""

from geometry_msgs.msg import Vector3Stamped

from simulation_client import SimulationClient, StoppedError, run

WIND_NED = [0.0, 4.0, 0.0]


class ChangeParameters(SimulationClient):
    """Sets parameters of the dynamics node."""

    def __init__(self) -> None:
        """Subscribe to the wind."""
        super().__init__("change_parameters")
        self.wind: list[float] = []
        self.create_subscription(Vector3Stamped, "sim/truth_wind", self.on_wind, 1)

    def on_wind(self, message: Vector3Stamped) -> None:
        """Keep the newest wind, m/s north, east, down."""
        self.wind = [message.vector.x, message.vector.y, message.vector.z]

    def act(self) -> None:
        """Change the mass, try a wrong value, change the wind, and wait for it."""
        before = self.parameter("dynamics", "mass")
        self.change(mass=before + 0.3)
        print(f"mass: {before:g} kg before, {self.parameter('dynamics', 'mass'):g} kg now", flush=True)
        refusal = self.set_parameters("dynamics", mass=-1.0)
        if not refusal:
            raise StoppedError("a mass of -1 kg was not refused")
        print(f"refused: {refusal}", flush=True)
        self.change(use_random_wind=False, steady_state_wind=WIND_NED, sim_has_wind=True)
        self.until(lambda: self.wind == WIND_NED, f"wind of {WIND_NED} m/s")
        print(f"wind: north {self.wind[0]:g}, east {self.wind[1]:g}, down {self.wind[2]:g} m/s", flush=True)

    def change(self, **values: object) -> None:
        """Set parameters of the dynamics node."""
        reason = self.set_parameters("dynamics", **values)
        if reason:
            raise StoppedError(reason)


if __name__ == "__main__":
    run(ChangeParameters)
