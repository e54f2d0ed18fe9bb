"""A vehicle that flies logged outputs: the package's own forces and rigid body, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rosflight_py_sim.ground.parameters import ParameterError, Value, Values, number
from rosflight_py_sim.ground.pulse_width import OUTPUTS
from rosflight_py_sim.identification.flight_log import Array
from rosflight_py_sim.identification.replayed_outputs import (
    Row,
    keep_state,
    next_row,
    pass_wind,
    take_outputs,
    turn_as_logged,
)
from rosflight_py_sim.kernels.jit import bound, chained
from rosflight_py_sim.parts.modelled_forces import CompiledModel
from rosflight_py_sim.physics.dynamics import StateDivergedError, VehicleDynamics
from rosflight_py_sim.physics.inertia import inertia_matrix

STATES = 19
"""Numbers of a truth state."""

# So short that a state does not change.
_NO_TIME_S = 1e-9

_ALOFT: dict[str, Value] = {"starts_on_ground": False, "ground_contact": False, "use_world_start": False, "world": ""}


class VehicleModel:
    """A vehicle in the air, for a set of parameters, that flies given outputs from given states.

    The order of a step is that of the simulation: the outputs of a time act on the actuators from that time on, the
    wrench is that of the state, and the rigid body moves to the next time.
    """

    def __init__(self, forces: Any, forces_values: Values, dynamics_values: Values, mixer: Mapping[str, float]) -> None:
        """Build the vehicle.

        Args:
            forces: part that gives the forces, a class derived from `ModelledForces`.
            forces_values: its parameters.
            dynamics_values: DYNAMICS_PARAMETERS.
            mixer: parameters of the firmware, from which the outputs' assignment to surfaces follows.

        Raises:
            ParameterError: a value is not allowed.
        """
        model: CompiledModel = forces.build(dict(forces_values))
        warning = forces.match_mixer(model, forces_values, mixer)
        if warning:
            raise ParameterError(f"parameters of the firmware given: {warning}; allowed: those of a mixer")
        self._model = model
        self._full_voltage = number(forces_values, "V_max")
        self._dynamics = VehicleDynamics({**dynamics_values, **_ALOFT})
        self._inertia = inertia_matrix(dynamics_values)
        self._wind_ned, self._change_ned, self._wind_rates = np.zeros(3), np.zeros(3), np.zeros(3)
        self._pwm_us = np.zeros(OUTPUTS)

    def fly(
        self,
        pulses_us: Array,
        starts: Array,
        warm_up: int,
        steps: int,
        step_s: float,
        winds_ned: Array,
        changes_ned: Array,
        voltages: Array,
        rates: Array | None = None,
    ) -> Array:
        """States (k * (warm_up + steps), 19) of k flights from `starts` (k, 19).

        Args:
            pulses_us: outputs of all flights one after the other (k * (warm_up + steps), 14), us. During the first
                `warm_up` steps of each, the state is held, and the actuators take on the speeds that follow from the
                outputs; the rows of these steps are zero.
            starts: state after the warm-up of each flight; the accelerations are not used.
            warm_up: number of steps before each start.
            steps: number of steps of each flight; row i of it is the state at the time of its output i.
            step_s: length of a step.
            winds_ned: wind at the start of each flight (k, 3), m/s.
            changes_ned: its change from each step to the next (k, 3), m/s.
            voltages: open-circuit voltage of the battery in each flight (k,); NaN for that of the parameters.
            rates: prescribed angular rates (k * (warm_up + steps), 3), body axes, rad/s; None if the moments determine
                the rates.

        Raises:
            StateDivergedError: a state is beyond all bounds.
        """
        model, dynamics, row = self._model, self._dynamics, Row(index=0, end=0)
        truth, states = dynamics.truth, np.zeros((len(pulses_us), STATES))
        link = dynamics.link(model.wrench, step_s)
        assert link is not None
        take = bound(take_outputs, row, pulses_us, self._pwm_us)
        forces = model.bound_update(truth, self._wind_ned, self._pwm_us, step_s, self._wind_rates)
        advance = bound(next_row, row)
        settle: Callable[[int], tuple[int, int]] = chained([take, forces, advance])
        keep = bound(keep_state, row, truth, states)
        turn = bound(pass_wind, self._change_ned, self._wind_ned)
        guide = []
        if rates is not None:
            guide = [bound(turn_as_logged, row, rates, self._inertia, step_s, model.wrench)]
        fly: Callable[[int], tuple[int, int]] = chained([keep, take, forces, *guide, link.run, turn, advance])
        place_of_body = 3 + len(guide)
        for flight, start in enumerate(starts):
            self._wind_ned[:], self._change_ned[:] = winds_ned[flight], changes_ned[flight]
            voltage = voltages[flight]
            model.lose_cells(0, self._full_voltage if np.isnan(voltage) else float(voltage))
            dynamics.set_truth(start)
            row.index = flight * (warm_up + steps)
            row.end = row.index + warm_up
            if warm_up:
                settle(0)
            # The accelerations of the first state are those under the wrench of the settled actuators.
            dynamics.step(model.wrench, _NO_TIME_S)
            row.end = row.index + steps
            ended, status = fly(0)
            if ended == place_of_body:
                link.attend(0, status)
                raise StateDivergedError("state", float(status))
        return states
