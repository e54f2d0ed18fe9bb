"""Changes of the simulation by the standard services, of which only one runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.process_control import ProcessControl, Simulation
from rosflight_py_sim.nodes.refusals import Code, RefusedError
from rosflight_py_sim.nodes.scripts import Script, Until


class SimulationChanges:
    """Changes of one simulation."""

    def __init__(self, control: ProcessControl) -> None:
        """Prepare changes of the simulation of a process."""
        self._control = control
        self._under_way = ""

    @property
    def can_spawn(self) -> bool:
        """Whether vehicles can be added and removed: the whole simulation runs in this process, and is not recorded."""
        return self._control.simulation is not None

    @property
    def can_restart(self) -> bool:
        """Whether time can also be set back."""
        simulation = self._control.simulation
        return simulation is not None and simulation.can_restart

    @contextmanager
    def alone(self, what: str) -> Generator[None, None, None]:
        """Context of a change, during which no other change can begin.

        Raises:
            RefusedError: another change is under way.
        """
        if self._under_way:
            raise RefusedError(
                Code.INCORRECT_STATE,
                f"{what} requested during {self._under_way}; allowed: one at a time",
            )
        self._under_way = what
        try:
            yield
        finally:
            self._under_way = ""

    def carry_out(self, act: Callable[[Simulation], None]) -> Generator[Until, bool, ParameterError | None]:
        """Wait until the process has carried out a change; return the error if the change was refused."""
        control, simulation = self._control, self._control.simulation
        assert simulation is not None
        control.request(lambda: act(simulation))
        yield Until(lambda: not control.has_request, None)
        return control.error

    def restart(self, *, paused: bool, entirely: bool) -> Script:
        """Start the simulation again at time 0; `entirely` as in `Simulation.restart`.

        Raises:
            RefusedError: a node refuses its parameters.
        """
        error = yield from self.carry_out(lambda simulation: simulation.restart(paused=paused, entirely=entirely))
        if error is not None:
            raise RefusedError(Code.OPERATION_FAILED, str(error)) from error
