"""Dynamics node: rigid body, gravity, added mass, contact, steered wheels, and wind, or current and waves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.interfaces.dynamics_interface import DynamicsInterface
from rosflight_py_sim.nodes.running import run
from rosflight_py_sim.parameters import ParameterTable, Value, number
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.ignored_wind import ignored_wind
from rosflight_py_sim.physics.immersion import reach_of
from rosflight_py_sim.physics.waves import WAVE_PARAMETERS, Waves
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind, with_model_parameters
from rosflight_py_sim.shared_parameters import ROTATIONAL_GUSTS, SEED, WIND_STREAM
from rosflight_py_sim.stamps import NANOSECONDS
from rosflight_py_sim.step.join import JoinRule
from rosflight_py_sim.step.topics import PWM_OUTPUT, PulseWidths


class StandaloneDynamics(DynamicsInterface):
    """Simulates a rigid body in air or water, with ground, walls and objects, and the wind, or the current and waves.

    A vehicle with steered or braked wheels has sim/pwm_output as an input synchronized with the wrench.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_dynamics",)
    PARAMETERS: ClassVar[ParameterTable] = (
        DynamicsInterface.PARAMETERS + ParameterTable(SEED) + DYNAMICS_PARAMETERS + WIND_PARAMETERS + WAVE_PARAMETERS
    )

    def __init__(self, **arguments: Any) -> None:
        """Put the vehicle on the ground."""
        self._body: VehicleDynamics | None = None
        self._wind: Wind | None = None
        self._waves: Waves | None = None
        super().__init__(**arguments)
        if self.body.follows_outputs:
            self._pwm_arrived = self._join.input(PWM_OUTPUT.name)
            self.subscribe(PWM_OUTPUT, self._on_pwm, needed=True)

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """Add the parameters of the chosen wind models."""
        return with_model_parameters(cls.PARAMETERS, given)

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild body and wind; they take over the state of the old ones."""
        body = VehicleDynamics(values)
        wind = Wind(values, np.random.default_rng([int(number(values, "seed")), WIND_STREAM]))
        if self._body is not None and self._wind is not None:
            body.adopt(self._body)
            wind.adopt(self._wind)
        else:
            wind.step(body.truth, 0.0)
        self._body, self._wind, self._air_ned = body, wind, wind.wind_ned
        self._wind_rates = wind.rates_body if values[ROTATIONAL_GUSTS.name] else None
        self._waves = Waves(values, reach_of(values))

    def ignored_parameters(self) -> Iterable[str]:
        """Wind parameters that others switch off."""
        return ignored_wind(self.values, self.given)

    @property
    def body(self) -> VehicleDynamics:
        """The body; available after the first `configure`."""
        assert self._body is not None
        return self._body

    @property
    def wind(self) -> Wind:
        """The wind; available after the first `configure`."""
        assert self._wind is not None
        return self._wind

    @property
    def waves(self) -> Waves:
        """The waves; available after the first `configure`."""
        assert self._waves is not None
        return self._waves

    def apply_forces_and_torques(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Advance body, wind and waves."""
        waves = self.waves
        self.body.step(wrench, dt, self._air_ned, waves.sea)
        self.wind.step(self.body.truth, dt)
        self._air_ned = self.with_front(self.wind.wind_ned, dt) if self.has_failures else self.wind.wind_ned
        if waves.exist:
            waves.move_to(self.body.truth, self.end_ns(dt) / NANOSECONDS)
            self._air_ned = self._air_ned + waves.velocity_ned

    def compute_truth(self) -> NDArray[np.float64]:
        """Truth vector of the body."""
        return self.body.truth

    def compute_wind_truth(self) -> NDArray[np.float64]:
        """Wind at the vehicle, or current and orbital velocity of the waves."""
        return self._air_ned

    def compute_wind_rates(self) -> NDArray[np.float64] | None:
        """Rotation of the air at the vehicle, with the parameter `rotational_gusts`."""
        return self._wind_rates

    def set_sim_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state of the body."""
        self.body.set_truth(truth)

    @property
    def join_rule(self) -> JoinRule:
        """Inputs of a step."""
        return super().join_rule._replace(synchronized=(PWM_OUTPUT.name,) if self.body.follows_outputs else ())

    def _on_pwm(self, pwm: PulseWidths) -> None:
        self.body.follow_outputs(pwm.pulse_us)
        self._pwm_arrived(pwm.time_ns)

    def start_over(self) -> None:
        """Return the body to its start; the wind continues."""
        self.body.start_over()


def main() -> None:
    """Run the node."""
    run(StandaloneDynamics)


if __name__ == "__main__":
    main()
