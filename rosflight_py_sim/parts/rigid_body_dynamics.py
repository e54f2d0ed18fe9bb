"""Dynamics: rigid body, gravity, added mass, contact, steered wheels, and wind, or current and waves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import DOWNWASH, ROTATIONAL_GUSTS, SEED, WIND_STREAM
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.kernels.chain import Cells, ChainLink, StepTime, Taken
from rosflight_py_sim.parts.dynamics import Dynamics
from rosflight_py_sim.physics.collision import COLLISION_PARAMETERS, COLLISION_RADIUS, SPHERE, sphere_of
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, StateDivergedError, VehicleDynamics
from rosflight_py_sim.physics.ignored_wind import ignored_wind
from rosflight_py_sim.physics.immersion import reach_of
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.waves import WAVE_PARAMETERS, Waves
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind, with_model_parameters
from rosflight_py_sim.step.numbers import cell_of
from rosflight_py_sim.step.ports import output, synchronized
from rosflight_py_sim.step.topics import (
    COLLISION_FORCE,
    COLLISION_SPHERE,
    FORCES_AND_MOMENTS,
    INDUCED_AIR,
    PWM_OUTPUT,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    InducedAir,
    NamedNumbers,
    PulseWidths,
    PushingForce,
    WindRates,
    WindSample,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.world import world_of


class RigidBodyDynamics(Dynamics):
    """Simulates a rigid body in air or water, with ground, walls and objects, and the wind, or the current and waves.

    A vehicle with steered or braked wheels has sim/pwm_output as an input synchronized with the wrench. So is the force
    of other vehicles with the parameter `collision_radius`, and the air of their rotors with `downwash`, which adds to
    the wind; it has no effect under water.

    Attributes:
        body: the body, from the first `configure` on.
        wind: the wind, from the first `configure` on.
        waves: the waves, from the first `configure` on.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_dynamics",)
    PARAMETERS: ClassVar[ParameterTable] = (
        Dynamics.PARAMETERS
        + ParameterTable(SEED)
        + DYNAMICS_PARAMETERS
        + WIND_PARAMETERS
        + WAVE_PARAMETERS
        + COLLISION_PARAMETERS
        + ParameterTable(DOWNWASH)
    )

    REPLACED: ClassVar[tuple[str, ...]] = (
        *("answer", "run", "move", "apply_forces_and_torques", "send_forces", "send_state"),
        *("compute_truth", "compute_wind_truth", "compute_wind_rates"),
    )

    send_sphere = output(COLLISION_SPHERE, when="collides")

    body: VehicleDynamics
    wind: Wind
    waves: Waves
    _is_built = False

    def initialise(self) -> None:
        """Set the state before the first message."""
        super().initialise()
        # None without contact, and without air that rotors move.
        self._push_ned: NDArray[np.float64] | None = None
        self._induced: InducedAir | None = None

    @classmethod
    def table_for(cls, given: Mapping[str, Any]) -> ParameterTable:
        """Add the parameters of the chosen wind models."""
        return with_model_parameters(cls.PARAMETERS, given)

    def configure(self, values: dict[str, Value]) -> None:
        """Rebuild body and wind; they take over the state of the old ones."""
        body = VehicleDynamics(values)
        wind = Wind(values, np.random.default_rng([int(number(values, "seed")), WIND_STREAM]))
        if self._is_built:
            body.adopt(self.body)
            wind.adopt(self.wind)
        else:
            wind.step(body.truth, 0.0)
        self.body, self.wind, self.waves = body, wind, Waves(values, reach_of(values))
        self._air_ned = wind.wind_ned
        self._wind_rates = wind.rates_body if values[ROTATIONAL_GUSTS.name] else None
        self._in_water = world_of(values).water is not None
        self._is_built = True
        self._send_own_sphere(values)

    def begin(self) -> None:
        """Send the sphere of the vehicle, and the initial state."""
        self._send_own_sphere(self.values)
        super().begin()

    def _send_own_sphere(self, values: dict[str, Value]) -> None:
        if values[COLLISION_RADIUS.name]:
            self.send_sphere(NamedNumbers(self.time_ns, SPHERE, sphere_of(values)))

    def ignored_parameters(self) -> Iterable[str]:
        """Wind parameters that others switch off."""
        return ignored_wind(self.values, self.given)

    def apply_forces_and_torques(self, wrench: NDArray[np.float64], dt: float) -> None:
        """Advance body, wind and waves."""
        body, wind, waves = self.body, self.wind, self.waves
        body.step(wrench, dt, self._air_ned, waves.sea, self._push_ned)
        wind.step(body.truth, dt)
        self._air_ned = self.with_front(wind.wind_ned, dt) if self.has_failures else wind.wind_ned
        if waves.exist:
            waves.move_to(body.truth, self.end_ns(dt) / NANOSECONDS)
            self._air_ned = self._air_ned + waves.velocity_ned
        if self._induced is not None:
            self._air_ned = self._air_ned + self._induced.velocity_ned

    def compute_truth(self) -> NDArray[np.float64]:
        """Truth vector of the body."""
        return self.body.truth

    def compute_wind_truth(self) -> NDArray[np.float64]:
        """Wind at the vehicle, or current and orbital velocity of the waves."""
        return self._air_ned

    def compute_wind_rates(self) -> NDArray[np.float64] | None:
        """Rotation of the air at the vehicle, with the parameter `rotational_gusts`."""
        if self._induced is None or self._wind_rates is None:
            return self._wind_rates
        qw, qx, qy, qz = self.body.truth[3:7].tolist()
        rates: NDArray[np.float64] = self._wind_rates + rotate_to_body(qw, qx, qy, qz, *self._induced.rates_ned)
        return rates

    def has_wind_rates(self) -> bool:
        """Whether the parameter `rotational_gusts` is true."""
        return self._wind_rates is not None

    def set_sim_state(self, truth: NDArray[np.float64]) -> None:
        """Set the state of the body."""
        self.body.set_truth(truth)

    def start_from(self, truth: NDArray[np.float64]) -> None:
        """Place the vehicle at another start, with the wind at that place."""
        super().start_from(truth)
        self.wind.step(self.body.truth, 0.0)
        self._air_ned = self.wind.wind_ned

    @synchronized(PWM_OUTPUT, when="follows_outputs")
    def _on_pwm(self, pwm: PulseWidths) -> None:
        self.body.follow_outputs(pwm.pulse_us)

    @synchronized(COLLISION_FORCE, required=True, when="collides")
    def _on_collision_force(self, force: PushingForce) -> None:
        self._push_ned = np.array(force.force_ned) if any(force.force_ned) else None

    @synchronized(INDUCED_AIR, required=True, when="is_in_downwash")
    def _on_induced_air(self, air: InducedAir) -> None:
        is_submerged = self._in_water and self.body.truth[2] > 0.0
        self._induced = air if any(air.velocity_ned) and not is_submerged else None

    def collides(self) -> bool:
        """Whether the parameter `collision_radius` is greater than 0."""
        return bool(self.values[COLLISION_RADIUS.name])

    def is_in_downwash(self) -> bool:
        """Whether the parameter `downwash` is true."""
        return bool(self.values[DOWNWASH.name])

    def follows_outputs(self) -> bool:
        """Whether wheels are steered or braked by outputs of the flight controller."""
        return self.body.follows_outputs

    # Compiled answers.

    def cells(self) -> Cells:
        """Wind and true state, in the order of `send_state`."""
        truth, wind, rates = self.body.truth, self.wind.wind_ned, self._wind_rates
        cells = cell_of(TRUTH_WIND, wind, lambda time_ns: WindSample(time_ns, wind.tolist()))
        if rates is not None:
            cells |= cell_of(TRUTH_WIND_RATES, rates, lambda time_ns: WindRates(time_ns, rates.tolist()))
        return cells | cell_of(TRUTH_STATE, truth, lambda time_ns: VehicleState(time_ns, truth.copy()))

    def links(self, time: StepTime, cells: Cells, taken: Taken) -> Sequence[ChainLink] | None:
        """Advance body and wind in the chain; None with waves or other vehicles."""
        if self.has_diverged or self.waves.exist or self.collides() or self.is_in_downwash():
            return None
        dt = time.step_ns / NANOSECONDS
        moved = self.body.link(cells[FORCES_AND_MOMENTS.name].memory, dt)
        blown = self.wind.links(self.body.truth, dt)
        if moved is None or blown is None:
            return None

        def attend(time_ns: int, status: int) -> None:
            try:
                moved.attend(time_ns, status)
            except StateDivergedError as error:
                self.has_diverged = True
                self.on_divergence(error, time_ns)
                raise

        def leave(answered_ns: int) -> None:
            self.time_ns = answered_ns + time.step_ns

        wheels = self.body.wheel_links(cells[PWM_OUTPUT.name].memory)
        return (
            *wheels,
            *self.body.water_links(self.wind.wind_ned),
            moved._replace(attend=attend, leave=leave),
            *blown,
        )

    def start_over(self) -> None:
        """Return the body to its start; the wind continues."""
        self.body.start_over()
