"""Pauses a running simulation, advances it by one second in steps, and lets it go on.

Start the graph first: `.venv/bin/rosflight_py_sim sim`; then, in another terminal,
`.venv/bin/python docs/examples/pause_and_step.py`. A simulation that was paused before is paused in the end, too.
"""

import rclpy
from std_srvs.srv import Trigger

from simulation_client import SimulationClient, StoppedError, run

STEPS = 400


class PauseAndStep(SimulationClient):
    """Calls the services of the time manager."""

    def __init__(self) -> None:
        """Create the node."""
        super().__init__("pause_and_step")

    def act(self) -> None:
        """Pause, step, resume."""
        was_running = self.press(Trigger, "time_manager/toggle_pause").startswith("paused")
        if not was_running:
            self.press(Trigger, "time_manager/toggle_pause")
        count = self.parameter("time_manager", "step_count")
        paused_s = self.time_s
        try:
            self.set_step_count(STEPS)
            self.press(Trigger, "time_manager/step")
            self.until(lambda: self.time_s > paused_s, "truth state after the steps")
            print(f"now: {self.place}", flush=True)
        finally:
            if rclpy.ok():
                self.set_step_count(count)
                if was_running:
                    self.press(Trigger, "time_manager/toggle_pause")

    def set_step_count(self, count: int) -> None:
        """Set the number of steps of one call of `step`."""
        reason = self.set_parameters("time_manager", step_count=count)
        if reason:
            raise StoppedError(reason)


if __name__ == "__main__":
    run(PauseAndStep)
