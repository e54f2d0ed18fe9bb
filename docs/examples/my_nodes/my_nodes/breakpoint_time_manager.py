"""Time manager with a breakpoint, in the place of `lockstep_time_manager`."""

from typing import Any, ClassVar

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, number
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.running import run


class BreakpointTimeManager(LockstepTimeManager):
    """Lockstep that pauses at a time; time_manager/toggle_pause resumes."""

    PARAMETERS: ClassVar[ParameterTable] = LockstepTimeManager.PARAMETERS + ParameterTable(
        Parameter("breakpoint", 0.0, "Simulated time at which to pause; 0: never", "s", minimum=0.0),
    )

    def configure(self, values: dict[str, Any]) -> None:
        """Set the breakpoint again."""
        super().configure(values)
        self._breakpoint_ns = round(1e9 * number(values, "breakpoint"))

    def publish_time(self) -> None:
        """Publish the time, and pause if it is the breakpoint's."""
        super().publish_time()
        if 0 < self._breakpoint_ns <= self.time_ns:
            self._breakpoint_ns = 0
            self.paused = True
            self.get_logger().info(f"breakpoint: paused at {self.time_text}")


def main() -> None:
    """Run the node."""
    run(BreakpointTimeManager)


if __name__ == "__main__":
    main()
