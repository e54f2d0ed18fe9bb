"""Rotors of the multirotor against closed forms: momentum theory, and the papers that docs/physics.md names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rosflight_py_sim.commands.vehicle_models import given_values
from rosflight_py_sim.ground.parameters import Value, number
from rosflight_py_sim.ground.pulse_width import MOTOR, pulse_of
from rosflight_py_sim.physics.descent import descent_flow, flow_slope
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.rotations import rotate_to_inertial
from rosflight_py_sim.vehicles import vehicle

TITLE = "rotors"

HOVER = 0.5
"""Throttle near that of hovering flight."""
DT = 0.0025
CALM = np.zeros(3)
FREE_BODY: dict[str, Value] = {
    "mass": 3.5,
    "gravity": 0.0,
    "Jxx": 0.08,
    "Jyy": 0.08,
    "Jzz": 0.12,
    "ground_contact": False,
}
FAR = 1000.0


@cache
def file_values() -> dict[str, Value]:
    """Values of the multirotor's parameter file."""
    sources = [vehicle("multirotor").parameter_file]
    return given_values(MULTIROTOR_PARAMETERS, sources, "forces_and_moments", "", "none")


def multirotor(**given: Value) -> Multirotor:
    """The multirotor of the file, at constant density, with `given` values changed."""
    return Multirotor({**file_values(), "use_standard_atmosphere": False, "battery_capacity_mah": 0.0, **given})


def truth(height: float = FAR) -> NDArray[np.float64]:
    """A level vehicle at rest at `height` (m)."""
    state = np.zeros(19)
    state[2], state[3] = -height, 1.0
    return state


def ground_effect(height: float) -> tuple[float, float]:
    """Thrust over that far from the ground with the hubs at `height` (m): simulated, and Cheeseman and Bennett's."""
    body = truth(height)
    body[2] += number(file_values(), "rotor_height")
    rotors = multirotor()
    throttles = np.full(rotors.outputs, HOVER)
    thrusts = [-rotors.steady_wrench(state, CALM, throttles)[2] for state in (body, truth())]
    radius = 0.5 * number(file_values(), "D_prop")
    return thrusts[0] / thrusts[1], 1.0 / (1.0 - (radius / (4.0 * height)) ** 2)


def stiff_multirotor(**given: Value) -> Multirotor:
    """The multirotor with rotors that keep their speed under any load, without body drag."""
    stiff = {"R_motor": 1e-9, "I_0": 0.0, "motor_time_constant": 0.0, "esc_current_limit": 0.0}
    return multirotor(battery_internal_resistance=0.0, CD=0.0, **stiff, **given)


def steady(
    rotors: Multirotor,
    velocity: Sequence[float] = (0.0, 0.0, 0.0),
    rates: Sequence[float] = (0.0, 0.0, 0.0),
    throttles: Sequence[float] = (HOVER,) * 4,
) -> NDArray[np.float64]:
    """Wrench (6,) far from the ground."""
    state = truth()
    state[7:10], state[10:13] = velocity, rates
    pwm_us = np.full(14, 1000.0)
    pwm_us[: rotors.outputs] = pulse_of(np.array(throttles), MOTOR)
    return rotors.update(state, CALM, pwm_us, DT).copy()


def roll_damping() -> tuple[float, float]:
    """Rolling moment per roll rate (N m s): simulated, and from the slope of thrust over the advance ratio."""
    rotors = stiff_multirotor(CD_induced=0.0)
    simulated = (steady(rotors, rates=(0.01, 0.0, 0.0)) - steady(rotors, rates=(-0.01, 0.0, 0.0)))[3] / 0.02
    values = file_values()
    speed, diameter = rotors.rotor_speeds[0], number(values, "D_prop")
    slope = number(values, "CT_1") * number(values, "rho") * diameter**3 * speed / (2.0 * np.pi)
    arm = 0.25 * np.sqrt(0.5)
    return simulated, rotors.outputs * arm**2 * slope


def gyroscopic_moment() -> tuple[float, float]:
    """Pitching moment (N m) of one turning rotor, number 1, at a roll rate of 1 rad/s: simulated, and -omega x h."""
    moments = []
    for inertia in (number(file_values(), "rotor_inertia"), 0.0):
        rotors = stiff_multirotor(rotor_inertia=inertia)
        for _ in range(2):
            moment = steady(rotors, rates=(1.0, 0.0, 0.0), throttles=(0.0, HOVER, 0.0, 0.0))[4]
        moments.append(moment)
    return moments[0] - moments[1], number(file_values(), "rotor_inertia") * rotors.rotor_speeds[1]


def drift_of_angular_momentum(dt: float) -> float:
    """Change of the angular momentum of body and rotors while these spin up in a vacuum, over that of one rotor."""
    inertia = number(file_values(), "rotor_inertia")
    rotors = multirotor(rho=0.0, CD=0.0)
    body = VehicleDynamics(DYNAMICS_PARAMETERS.checked(FREE_BODY))
    start = truth()
    start[10:13] = 0.3, -0.2, 0.4
    body.set_truth(start)
    moments = np.array([float(FREE_BODY[name]) for name in ("Jxx", "Jyy", "Jzz")])
    directions = np.array(file_values()["rotor_rotation_directions"])
    pwm_us = np.full(14, 1000.0)
    # Rotors of different speeds, so that their momenta do not cancel.
    pwm_us[: rotors.outputs] = pulse_of(np.linspace(0.1, 0.7, rotors.outputs), MOTOR)
    for _ in range(round(2.0 / dt)):
        body.step(rotors.update(body.truth, CALM, pwm_us, dt), dt)
    total = moments * body.truth[10:13]
    total[2] += inertia * directions @ rotors.rotor_speeds
    inertial = rotate_to_inertial(*body.truth[3:7].tolist(), *total.tolist())
    return float(np.linalg.norm(inertial - moments * start[10:13]) / (inertia * rotors.rotor_speeds.max()))


def drag_arm() -> float:
    """Height (m) at which the drag of the rotors acts."""
    found = steady(stiff_multirotor(), velocity=(5.0, 0.0, 0.0))
    return float(found[4] / -found[0])


def induced(climbs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Induced velocity at the climb speeds `climbs`, both over sqrt(T / 2 rho A): (climbs, velocities) as simulated."""
    beta = flow_slope(number(file_values(), "CT_0"), number(file_values(), "CT_1"))
    flows = np.array([descent_flow(float(climb), beta) for climb in climbs])
    shares = np.sqrt(1.0 + beta * (1.0 - flows))
    return climbs / shares, (flows - climbs) / shares


def induced_at(climb: float) -> float:
    """Induced velocity at one climb speed, interpolated between those simulated."""
    climbs, velocities = induced(np.linspace(0.0, -10.0, 4001))
    return float(np.interp(-climb, -climbs, velocities))


def leishman(climb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leishman's fit (Principles of Helicopter Aerodynamics, 2nd ed., section 2.13) for climb speeds from -2 to 0."""
    return 1.0 - 1.125 * climb - 1.372 * climb**2 - 1.718 * climb**3 - 0.655 * climb**4


def momentum(climb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Induced velocity of momentum theory, in climb and slow descent or in the windmill brake state."""
    half = 0.5 * climb
    return np.where(climb > -2.0, -half + np.sqrt(half**2 + 1.0), -half - np.sqrt(np.maximum(0.0, half**2 - 1.0)))


def spool_up(**given: Value) -> NDArray[np.float64]:
    """Total battery current (A) of each step after the throttles jump from 5 % to 90 %."""
    rotors = multirotor(**given)
    currents = []
    for k in range(260):
        throttle = 0.05 if k < 100 else 0.9
        pwm_us = np.full(14, 1000.0)
        pwm_us[: rotors.outputs] = pulse_of(np.full(rotors.outputs, throttle), MOTOR)
        rotors.update(truth(), CALM, pwm_us, DT)
        currents.append(rotors.current_a)
    return np.array(currents[100:])


def comparisons() -> Iterator[Comparison]:
    """Rows of the table."""
    for share in (1.0, 2.0):
        simulated, expected = ground_effect(share * 0.5 * number(file_values(), "D_prop"))
        yield Comparison(
            f"thrust at a height of {share:g} rotor radius over thrust far from the ground",
            f"{simulated:.4f}",
            f"{expected:.4f} (Cheeseman and Bennett 1955)",
            f"{100.0 * abs(simulated / expected - 1.0):.3f} %",
        )
    simulated, expected = roll_damping()
    yield Comparison(
        "rolling moment per roll rate, from inflow",
        f"{simulated:.4f} N m s",
        f"{expected:.4f} N m s (slope of thrust over inflow)",
        f"{100.0 * abs(simulated / expected - 1.0):.2f} %",
    )
    height = number(file_values(), "rotor_height")
    yield Comparison(
        "height at which rotor drag acts",
        f"{drag_arm():.4f} m",
        f"{height:.4f} m (hubs)",
        f"{abs(drag_arm() - height):.4f} m",
    )
    simulated, expected = gyroscopic_moment()
    yield Comparison(
        "gyroscopic pitching moment of one rotor at 1 rad/s of roll",
        f"{simulated:.4f} N m",
        f"{expected:.4f} N m (angular momentum times rate)",
        f"{100.0 * abs(simulated / expected - 1.0):.2f} %",
    )
    for dt in (DT, 0.1 * DT):
        yield Comparison(
            f"angular momentum of body and rotors after spinning up in a vacuum, steps of {1000.0 * dt:g} ms",
            f"{drift_of_angular_momentum(dt):.2g} of a rotor's",
            "0 (conserved)",
            f"{100.0 * drift_of_angular_momentum(dt):.2g} %",
        )
    for climb in (-0.5, -1.0, -1.5, -3.0):
        simulated = induced_at(climb)
        source = "Leishman's fit" if climb > -2.0 else "momentum theory"
        expected = float((leishman if climb > -2.0 else momentum)(np.array(climb)))
        yield Comparison(
            f"induced velocity over that in hover, sinking with {-climb:g} times that",
            f"{simulated:.3f}",
            f"{expected:.3f} ({source})",
            f"{100.0 * abs(simulated / expected - 1.0):.1f} %",
        )
    limit = number(file_values(), "esc_current_limit")
    largest, free = spool_up().max(), spool_up(esc_current_limit=0.0).max()
    rotors = multirotor().outputs
    yield Comparison(
        "largest battery current after a throttle step from 5 % to 90 %",
        f"{largest:.0f} A; {free:.0f} A without a limit",
        f"at most {rotors} x {limit:g} A (the controllers' data)",
        "within" if largest <= rotors * limit else "exceeded",
    )


def draw(figure: Figure) -> None:
    """Ground effect, currents, induced velocity and thrust in descent."""
    (left, right), (flow, thrust) = figure.subplots(2, 2)
    radius = 0.5 * number(file_values(), "D_prop")
    heights = np.linspace(0.5, 4.0, 60) * radius
    simulated, expected = np.array([ground_effect(float(height)) for height in heights]).T
    left.plot(heights / radius, expected, label="Cheeseman and Bennett 1955")
    left.plot(heights / radius, simulated, ".", label="simulation")
    left.set(title="Ground effect in hover", xlabel="height of the hub / radius", ylabel="thrust / thrust far away")
    left.legend()
    times = DT * np.arange(160)
    right.plot(times, spool_up(esc_current_limit=0.0), label="without limit")
    right.plot(times, spool_up(), label="with the limit")
    right.set(title="Battery current after a throttle step from 5 % to 90 %", xlabel="s", ylabel="A")
    right.legend()
    climbs, velocities = induced(np.linspace(0.0, -8.0, 800))
    flow.plot(climbs, momentum(climbs), label="momentum theory")
    fitted = climbs[climbs > -2.0]
    flow.plot(fitted, leishman(fitted), label="Leishman's fit")
    flow.plot(climbs, velocities, label="simulation")
    flow.set(
        title="Induced velocity in descent", xlabel="climb speed / v_h", ylabel="induced velocity / v_h", xlim=(-4, 0)
    )
    flow.legend()
    sinks = np.linspace(-5.0, 20.0, 100)
    rotors = stiff_multirotor()
    lifts = np.array([-steady(rotors, velocity=(0.0, 0.0, float(sink)))[2] for sink in sinks])
    thrust.plot(-sinks, lifts / -steady(rotors)[2])
    thrust.set(title="Thrust at constant rotor speed", xlabel="climb speed (m/s)", ylabel="thrust / thrust in hover")
    figure.tight_layout(rect=(0.02, 0.0, 1.0, 0.95))
