"""Forces and moments of a fixed-wing aircraft: airframe, servos, one propeller, battery.

The airframe is that of `aerodynamics.py`. Each control surface follows its command with a first-order lag, solved
exactly for any step. The propeller (Beard and McLain, Small Unmanned Aircraft, section 4.3) turns on the x axis: thrust
along x, torque about -x, gyroscopic moments and the reaction to its acceleration as in `multirotor.py`; its slipstream
acts on tail and wing. Not modelled: pitching moment and control effects of separated flow, wings that stall one after
the other, unsteady flow, ground effect, compressibility.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Values, number
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, SERVO
from rosflight_py_sim.ground.shared_parameters import MASS
from rosflight_py_sim.kernels.jit import bound, kernel
from rosflight_py_sim.kernels.record import assign, kernel_record
from rosflight_py_sim.physics.aerodynamics import (
    AERODYNAMIC_PARAMETERS,
    Airframe,
    aerodynamic_wrench,
    airframe_of,
    derivative_numbers,
    slipstream_speed,
)
from rosflight_py_sim.physics.battery import BATTERY_PARAMETERS, Battery, BatteryPowered, full_battery
from rosflight_py_sim.physics.powertrain import (
    AIR_PARAMETERS,
    POWERTRAIN_PARAMETERS,
    Powertrain,
    air_density,
    load_battery,
    powertrain_of,
    propeller_load,
    set_inflow,
    turn_rotors,
)
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.physics.wind_model import NO_ROTATION

SURFACES = ("aileron", "elevator", "rudder")

AILERON, ELEVATOR, RUDDER, THROTTLE = range(4)
"""Inputs of the forces, and of the steady model."""

FIXEDWING_PARAMETERS = (
    AERODYNAMIC_PARAMETERS
    + ParameterTable(
        *(
            Parameter(
                f"max_{surface}_deflection_angle",
                40.0,
                f"Deflection of the {surface} at full command",
                "deg",
                minimum=0.0,
                maximum=90.0,
            )
            for surface in SURFACES
        ),
        Parameter(
            "servo_tau", 0.01, "Time constant of the control surface lag; 0 for no lag", "s", minimum=0.0, maximum=100.0
        ),
        Parameter(
            "propeller_inflow",
            "axial",
            "Propeller inflow: axial (airspeed component along the axis, at least 0) or airspeed (its full magnitude, "
            "as in ROSflight)",
            choices=("axial", "airspeed"),
        ),
        Parameter(
            "propeller_brakes",
            False,
            "Let a windmilling propeller brake by extrapolating its quadratic coefficients, as in ROSflight; if "
            "false, the coefficients stay above 0",
        ),
        Parameter(
            "KV",
            560.0,
            "Motor speed constant in rpm/V; unused, accepted from ROSflight's files (KQ is used instead)",
            "rpm/V",
            minimum=0.0,
            maximum=1e6,
        ),
        Parameter(
            "servo_refresh_rate",
            0.003,
            "Servo lag step in ROSflight; unused, accepted from ROSflight's files",
            "s",
            minimum=0.0,
            maximum=10.0,
        ),
        MASS.overridden("unused here, accepted from ROSflight's files (the value of dynamics is used)", required=False),
    )
    + POWERTRAIN_PARAMETERS
    + BATTERY_PARAMETERS
    + AIR_PARAMETERS
)


@kernel_record
class Fittings:
    """Servos and propeller inflow of a fixed wing.

    Attributes:
        servo_lag: time constant of the control surfaces (s); 0 for no lag.
        axial_inflow: whether the propeller's inflow is the airspeed along its axis; if false, the whole airspeed.
        limited: whether the propeller's coefficients stay above 0.
    """

    servo_lag: float
    axial_inflow: bool
    limited: bool


@kernel
def deflect(servo_lag: float, dt: float, targets: NDArray[np.float64], deflections: NDArray[np.float64]) -> None:
    """Let the surfaces (3,) follow their targets, rad, for dt (s): at once without a lag."""
    follow = 1.0 - math.exp(-dt / servo_lag) if servo_lag > 0.0 else 1.0
    for k in range(3):
        deflections[k] += follow * (targets[k] - deflections[k])


@kernel
def fixedwing_wrench(
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    wind_rates: NDArray[np.float64],
    dt: float,
    airframe: Airframe,
    derivatives: NDArray[np.float64],
    fittings: Fittings,
    powertrain: Powertrain,
    deflections: NDArray[np.float64],
    commanded: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    accelerations: NDArray[np.float64],
    inflows: NDArray[np.float64],
    halfway: NDArray[np.float64],
    battery: Battery,
    causes: NDArray[np.float64],
    wrench: NDArray[np.float64],
) -> None:
    """Advance propeller and battery by dt (s; infinite: to the end) and write the wrench (6,) with the deflections.

    `derivatives` as in `aerodynamics.py`; `deflections` (3,) in rad; `commanded` (1,): throttle from now on; `causes`
    (9,): scratch space.
    """
    wx, wy, wz = rotate_to_body(truth[3], truth[4], truth[5], truth[6], wind_ned[0], wind_ned[1], wind_ned[2])
    u, v, w = truth[7] - wx, truth[8] - wy, truth[9] - wz
    airspeed = math.sqrt(u * u + v * v + w * w)
    air = air_density(powertrain, truth)
    set_inflow(powertrain, dt, max(0.0, u) if fittings.axial_inflow else airspeed, inflows[0])
    turn_rotors(powertrain, battery, commanded, throttles, inflows, air, dt, speeds, accelerations, halfway)
    thrust, torque = propeller_load(powertrain, speeds[0], inflows[0, 0], air, fittings.limited)
    slipstream = slipstream_speed(thrust, max(0.0, u), air, powertrain.diameter)
    p, q, r = truth[10] - wind_rates[0], truth[11] - wind_rates[1], truth[12] - wind_rates[2]
    aerodynamic_wrench(airspeed, u, v, w, p, q, r, air, slipstream, deflections, airframe, derivatives, causes, wrench)
    wrench[0] += thrust
    inertia = powertrain.rotor_inertia
    wrench[3] -= torque + inertia * accelerations[0]
    wrench[4] -= inertia * speeds[0] * truth[12]
    wrench[5] += inertia * speeds[0] * truth[11]


@kernel
def unmix(
    mixer: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
    limits: NDArray[np.float64],
    targets: NDArray[np.float64],
    throttles: NDArray[np.float64],
) -> None:
    """Write the commanded deflections (rad, within `limits` (3,)) and throttle (0 to 1); `mixer` as in `set_mixer`."""
    for k in range(4):
        command = mixer[k, OUTPUTS]
        for j in range(OUTPUTS):
            command += mixer[k, j] * pwm_us[j]
        if k == THROTTLE:
            throttles[0] = min(1.0, max(0.0, command))
        else:
            targets[k] = limits[k] * min(1.0, max(-1.0, command))


@kernel
def driven_wrench(
    mixer: NDArray[np.float64],
    limits: NDArray[np.float64],
    airframe: Airframe,
    derivatives: NDArray[np.float64],
    fittings: Fittings,
    powertrain: Powertrain,
    targets: NDArray[np.float64],
    deflections: NDArray[np.float64],
    throttles: NDArray[np.float64],
    speeds: NDArray[np.float64],
    accelerations: NDArray[np.float64],
    inflows: NDArray[np.float64],
    halfway: NDArray[np.float64],
    battery: Battery,
    causes: NDArray[np.float64],
    commanded: NDArray[np.float64],
    wrench: NDArray[np.float64],
    truth: NDArray[np.float64],
    wind_ned: NDArray[np.float64],
    wind_rates: NDArray[np.float64],
    pwm_us: NDArray[np.float64],
    dt: float,
) -> None:
    """Advance all actuators by dt (s) to the state, write the wrench (6,), and put the outputs in force.

    `targets` (3,): deflections (rad) that the previous outputs command. `commanded` (1,): scratch space. The rest as
    in `fixedwing_wrench` and `unmix`.
    """
    deflect(fittings.servo_lag, dt, targets, deflections)
    unmix(mixer, pwm_us, limits, targets, commanded)
    deflect(fittings.servo_lag, 0.0, targets, deflections)
    fixedwing_wrench(
        truth,
        wind_ned,
        wind_rates,
        dt,
        airframe,
        derivatives,
        fittings,
        powertrain,
        deflections,
        commanded,
        throttles,
        speeds,
        accelerations,
        inflows,
        halfway,
        battery,
        causes,
        wrench,
    )


def direct_mixer(aileron: int = 0, elevator: int = 1, rudder: int = 2, throttle: int = 4) -> NDArray[np.float64]:
    """Mixer (4, 15) of a vehicle with one output for each surface, in ROSflight's standard order."""
    mixer = np.zeros((4, OUTPUTS + 1))
    for row, output in ((AILERON, aileron), (ELEVATOR, elevator), (RUDDER, rudder)):
        mixer[row, output], mixer[row, OUTPUTS] = 1.0 / SERVO.reach_us, -SERVO.zero_us / SERVO.reach_us
    mixer[THROTTLE, throttle], mixer[THROTTLE, OUTPUTS] = 1.0 / MOTOR.reach_us, -MOTOR.zero_us / MOTOR.reach_us
    return mixer


class FixedWing(BatteryPowered):
    """Forces and moments of a fixed wing from its truth state, the wind and the outputs of the flight controller.

    `values` contains FIXEDWING_PARAMETERS.
    """

    def __init__(self, values: Values) -> None:
        self._airframe = airframe_of(values)
        self._derivatives = derivative_numbers(values)
        self._fittings = Fittings(
            servo_lag=number(values, "servo_tau"),
            axial_inflow=values["propeller_inflow"] == "axial",
            limited=not values["propeller_brakes"],
        )
        self._limits = np.radians([number(values, f"max_{surface}_deflection_angle") for surface in SURFACES])
        self._powertrain = self._supply = powertrain_of(values)
        self._mixer = direct_mixer()
        self._targets = np.zeros(3)
        self._deflections = np.zeros(3)
        self._throttles = np.zeros(1)
        self._speeds = np.zeros(1)
        self._accelerations, self._inflows, self._halfway = np.zeros(1), np.zeros((1, 2)), np.zeros(1)
        self._battery = full_battery(self._powertrain.full_voltage)
        self._causes, self._commanded = np.zeros(9), np.zeros(1)
        self.wrench = np.zeros(6)
        self._models = (
            self._mixer,
            self._limits,
            self._airframe,
            self._derivatives,
            self._fittings,
            self._powertrain,
            self._targets,
            self._deflections,
            self._throttles,
            self._speeds,
            self._accelerations,
            self._inflows,
            self._halfway,
            self._battery,
            self._causes,
            self._commanded,
            self.wrench,
        )
        self._advance = bound(driven_wrench, *self._models)

    def bound_update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64],
    ) -> Callable[[], None]:
        """`update` for steps of `dt` as one kernel, which works on the arrays by their memory."""
        return bound(driven_wrench, *self._models, truth, wind_ned, wind_rates, pwm_us, dt)

    def set_mixer(self, mixer: NDArray[np.float64]) -> None:
        """Set the mapping from outputs to surfaces and throttle.

        `mixer` (4, 15): aileron, elevator, rudder (-1 to 1) and throttle (0 to 1) are each a sum of the 14 pulse widths
        (us) times the row's first elements, plus its last. See `direct_mixer` and `firmware.unmixing`.
        """
        if mixer.shape != (4, OUTPUTS + 1) or not np.all(np.isfinite(mixer)):
            raise ValueError(f"a mixer is 4 by {OUTPUTS + 1} finite numbers, {mixer!r} given")
        self._mixer[:] = mixer

    def update(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        pwm_us: NDArray[np.float64],
        dt: float,
        wind_rates: NDArray[np.float64] = NO_ROTATION,
    ) -> NDArray[np.float64]:
        """Wrench (6,), N and N m in body axes, without gravity and contact, dt (s) after the previous pulse widths.

        `truth` (19,), `wind_ned` (3,) m/s, `pwm_us` (14,) pulse widths in us, `wind_rates` (3,) angular velocity of the
        air in body axes, rad/s. The pulse widths take effect from this instant on: surfaces and a propeller with a lag
        show it from the next call on. The next call overwrites the returned array.
        """
        self._advance(truth, wind_ned, wind_rates, pwm_us, dt)
        return self.wrench

    def steady_wrench(
        self,
        truth: NDArray[np.float64],
        wind_ned: NDArray[np.float64],
        aileron_rad: float,
        elevator_rad: float,
        rudder_rad: float,
        throttle: float,
    ) -> NDArray[np.float64]:
        """Wrench (6,) once surfaces, propeller and battery have settled; the vehicle's state is left unchanged.

        Deflections may exceed their limits; `throttle` is from 0 to 1. The array is new.
        """
        deflections = np.array([aileron_rad, elevator_rad, rudder_rad])
        throttles, speeds, battery = np.array([throttle]), self._speeds.copy(), copy(self._battery)
        accelerations, inflows, wrench = np.zeros(1), np.zeros((1, 2)), np.zeros(6)
        # Speed and voltage are coupled; each iteration reduces the error by more than half in practice.
        for _ in range(200):
            before = speeds[0]
            battery.charge_drawn = self._battery.charge_drawn
            load_battery(self._powertrain, battery, throttles, speeds)
            fixedwing_wrench(
                truth,
                wind_ned,
                NO_ROTATION,
                math.inf,
                self._airframe,
                self._derivatives,
                self._fittings,
                self._powertrain,
                deflections,
                throttles,
                throttles,
                speeds,
                accelerations,
                inflows,
                self._halfway,
                battery,
                self._causes,
                wrench,
            )
            if abs(speeds[0] - before) <= 1e-13 * abs(before):
                break
        return wrench

    @property
    def mixer(self) -> NDArray[np.float64]:
        """Mapping (4, 15) from outputs to surfaces and throttle, see `set_mixer`."""
        return self._mixer

    @property
    def outputs(self) -> int:
        """Number of outputs that the mixer may use: all."""
        return OUTPUTS

    @property
    def deflections(self) -> NDArray[np.float64]:
        """Deflections of aileron, elevator and rudder (3,), rad; each update overwrites the array."""
        return self._deflections

    @property
    def rotor_speeds(self) -> NDArray[np.float64]:
        """Speed of the propeller (1,), rad/s; each update overwrites the array."""
        return self._speeds

    @property
    def propeller_speed(self) -> float:
        """Speed of the propeller (rad/s)."""
        return float(self._speeds[0])

    def adopt(self, other: FixedWing) -> None:
        """Copy the surfaces, the propeller, the battery and the mixer of another fixed wing."""
        self._mixer[:] = other._mixer
        self._targets[:] = other._targets
        self._deflections[:] = other._deflections
        self._throttles[:] = other._throttles
        self._speeds[:] = other._speeds
        self._accelerations[:] = other._accelerations
        self._inflows[:] = other._inflows
        assign(self._battery, other._battery)
