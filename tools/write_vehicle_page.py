"""Write docs/vehicles.md: performance of the shipped vehicles, derived from their files, beside published figures.

Run from the project's folder: `.venv/bin/python tools/write_vehicle_page.py`. A test checks that the page is up to
date. The head of the page, with the sources of the parameters, is tools/vehicle_page_head.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rosflight_py_sim.commands.vehicle_models import given_values, steady_vehicle
from rosflight_py_sim.ground.parameters import Values, number
from rosflight_py_sim.ground.pulse_width import MOTOR, OUTPUTS, pulse_of
from rosflight_py_sim.physics import performance
from rosflight_py_sim.physics.auv import AUV_PARAMETERS
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS, FixedWing
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.steady_model import SteadyModel
from rosflight_py_sim.physics.thrusters import settled_thrust, thruster_numbers
from rosflight_py_sim.physics.trim import FlightCondition, TrimError, trim
from rosflight_py_sim.vehicles import vehicle

PAGE = Path(__file__).parents[1] / "docs" / "vehicles.md"
HEAD = Path(__file__).with_name("vehicle_page_head.md")

FIXED_WINGS = {"anaconda": 18.0, "aerosonde": 22.0}
"""Design airspeeds, m/s."""
MULTIROTORS = ("multirotor", "hexarotor", "octorotor")
UNDERWATER = ("auv", "bluerov2")
OUT_OF_GROUND_EFFECT = 50.0
"""Height, m."""

_ROSFLIGHT = "the comments in ROSflight's `openvsp_anaconda_dynamics.yaml` and `xflr5_anaconda_dynamics.yaml`"
_ARDUPILOT = "ArduPilot's default frame, `libraries/SITL/SIM_Frame.h`, from flights of a 3 kg quadrotor"
_BLUE = "Blue Robotics' documentation of the BlueROV2 R1.1"
PUBLISHED: Mapping[tuple[str, str], str] = {
    ("aerosonde", "greatest lift-to-drag ratio"): "14.8 (the book's coefficients, in closed form)",
    ("anaconda", "airspeed of level flight with neutral elevator (m/s)"): f"15 and 16 ({_ROSFLIGHT})",
    ("multirotor", "lean at 15 m/s (deg)"): f"45 ({_ARDUPILOT})",
    ("multirotor", "share of full thrust in hover"): f"0.39 ({_ARDUPILOT})",
    ("bluerov2", "full speed forward (m/s)"): f"1 ({_BLUE})",
    ("bluerov2", "bollard thrust forward (N)"): f"141, 14.4 kgf ({_BLUE})",
    ("bluerov2", "bollard thrust down (N)"): f"100, 10.2 kgf ({_BLUE})",
}


def page() -> str:
    """Text of docs/vehicles.md."""
    head = HEAD.read_text(encoding="utf-8")
    parts = [
        _section("Fixed wings", {name: dict(_fixed_wing(name, speed)) for name, speed in FIXED_WINGS.items()}),
        _section("Multirotors", {name: dict(_multirotor(name)) for name in MULTIROTORS}),
        _section("Underwater vehicles", {name: dict(_underwater(name)) for name in UNDERWATER}),
    ]
    return head + "".join(f"\n{part}" for part in parts)


def _section(title: str, figures: Mapping[str, Mapping[str, str]]) -> str:
    names = list(figures)
    lines = [f"### {title}", "", f"| | {' | '.join(names)} | published |", "|---" * (len(names) + 2) + "|"]
    for quantity in figures[names[0]]:
        published = [f"{name}: {PUBLISHED[name, quantity]}" for name in names if (name, quantity) in PUBLISHED]
        cells = [figures[name][quantity] for name in names]
        lines.append(f"| {quantity} | {' | '.join(cells)} | {'; '.join(published)} |")
    return "\n".join(lines) + "\n"


def _sources(name: str) -> list[Path]:
    return [vehicle(name).parameter_file]


def _forces(name: str, table: Any) -> dict[str, Any]:
    chosen = vehicle(name)
    return given_values(table, _sources(name), "forces_and_moments", "", chosen.forces_and_moments)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60.0:.0f}"


def _fixed_wing(name: str, cruise: float) -> Iterator[tuple[str, str]]:
    model, values = steady_vehicle(vehicle(name), _sources(name)).model, _forces(name, FIXEDWING_PARAMETERS)
    lift, angle = performance.greatest_lift(model, cruise)
    slowest = performance.farthest(model, FlightCondition, 0.7 * cruise, 0.5 * cruise)
    fastest = performance.farthest(model, FlightCondition, 1.3 * cruise, 1.8 * cruise)
    yield "greatest lift-to-drag ratio", f"{_lift_to_drag(values):.1f}"
    speeds = np.arange(math.ceil(slowest + 0.5), cruise + 1.0)
    glides = list(_glides(model, speeds))
    best = max(glides, key=lambda glide: -1.0 / math.tan(glide.flight_path_angle))
    yield "best glide ratio, trimmed", f"{-1.0 / math.tan(best.flight_path_angle):.1f} at {best.airspeed:.0f} m/s"
    flattest = max(glides, key=_climb)
    yield "least sink rate without throttle (m/s)", f"{-_climb(flattest):.2f} at {flattest.airspeed:.0f} m/s"
    yield "stall speed at greatest lift (m/s)", f"{cruise * math.sqrt(model.mass * model.gravity / lift):.1f}"
    yield "angle of attack at greatest lift (deg)", f"{math.degrees(angle):.0f}"
    yield "slowest level flight (m/s)", f"{slowest:.0f}"
    yield "fastest level flight (m/s)", f"{fastest:.0f}"
    climb = performance.climb_rate(model, cruise, 1.0)
    yield "climb rate at full throttle, design airspeed (m/s)", f"{climb:.1f}"
    yield "airspeed of level flight with neutral elevator (m/s)", _neutral(model, cruise)
    trimmed = trim(model, FlightCondition(cruise))
    throttle = float(trimmed.inputs[3])
    yield "throttle in level flight at the design airspeed", f"{throttle:.2f}"
    capacity = number(values, "battery_capacity_mah") / 1000.0
    seconds = performance.endurance(FixedWing(values), trimmed, throttle, _plane_pulses, capacity)
    yield "endurance at the design airspeed (min)", _minutes(seconds)
    yield "design airspeed (m/s)", f"{cruise:g}"


def _glides(model: SteadyModel, speeds: Iterable[float]) -> Iterator[FlightCondition]:
    """Glides at the speeds (m/s) that the aircraft can hold without its slipstream on the elevator."""
    for speed in speeds:
        try:
            yield performance.steady_climb(model, float(speed), 0.0).condition
        except TrimError:
            continue


def _climb(condition: FlightCondition) -> float:
    """Climb rate, m/s."""
    return condition.airspeed * math.sin(condition.flight_path_angle)


def _lift_to_drag(values: Values) -> float:
    """Greatest ratio of the polar C_D_O + C_D_alpha alpha + C_L^2 / (pi e AR), without elevator."""
    n = partial(number, values)
    induced = n("wing_s") / (math.pi * n("wing_epsilon") * n("wing_b") ** 2)
    slope = n("C_D_alpha") / n("C_L_alpha")
    return 1.0 / (2.0 * math.sqrt((n("C_D_O") - slope * n("C_L_O")) * induced) + slope)


def _neutral(model: SteadyModel, cruise: float) -> str:
    """Airspeed (m/s) of level flight from 0.7 to 1.3 of the cruise at which the elevator is neutral."""
    speeds = cruise * np.arange(0.7, 1.35, 0.1)
    deflections = [float(trim(model, FlightCondition(float(speed))).inputs[1]) for speed in speeds]
    if deflections[0] * deflections[-1] > 0.0:
        return "none"
    return f"{np.interp(0.0, deflections, speeds):.0f}"


def _plane_pulses(throttle: float) -> np.ndarray:
    pulses = np.full(OUTPUTS, 1500.0)
    pulses[4] = pulse_of(throttle, MOTOR)
    return pulses


def _multirotor(name: str) -> Iterator[tuple[str, str]]:
    model, values = steady_vehicle(vehicle(name), _sources(name)).model, _forces(name, MULTIROTOR_PARAMETERS)
    hover = trim(model, FlightCondition(0.0, altitude=OUT_OF_GROUND_EFFECT))
    throttle, rotors = float(hover.inputs[0]), len(hover.inputs)
    full = -float(model.wrench(hover.truth, np.ones(rotors))[2])
    yield "throttle in hover", f"{throttle:.2f}"
    yield "share of full thrust in hover", f"{model.mass * model.gravity / full:.2f}"
    capacity = number(values, "battery_capacity_mah") / 1000.0

    def pulses(throttle: float) -> np.ndarray:
        given = np.full(OUTPUTS, 1000.0)
        given[:rotors] = pulse_of(throttle, MOTOR)
        return given

    vehicle_with_battery = Multirotor(values)
    seconds = performance.endurance(vehicle_with_battery, hover, throttle, pulses, capacity)
    yield "endurance in hover (min)", _minutes(seconds)
    power = _hover_power(Multirotor(values), hover.truth, pulses(throttle))
    yield "electrical power in hover, per kilogram (W/kg)", f"{power / model.mass:.0f}"
    for speed in (5.0, 10.0, 15.0):
        pitch = trim(model, FlightCondition(speed, altitude=OUT_OF_GROUND_EFFECT)).euler[1]
        yield f"lean at {speed:g} m/s (deg)", f"{abs(math.degrees(pitch)):.0f}"


def _hover_power(multirotor: Multirotor, truth: np.ndarray, pulses: np.ndarray) -> float:
    for _ in range(100):
        multirotor.update(truth, np.zeros(3), pulses, 0.05)
    return multirotor.battery_voltage * multirotor.current_a


def _underwater(name: str) -> Iterator[tuple[str, str]]:
    values = _forces(name, AUV_PARAMETERS)
    thrusters = thruster_numbers(values)
    count = len(thrusters)
    positions, directions = (
        np.array(values[f"thruster_{what}"], dtype=np.float64).reshape(-1, 3) for what in ("positions", "directions")
    )
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    levers = np.hstack([directions, np.cross(positions, directions)])
    forward, backward = (np.array([settled_thrust(one, pulse) for one in thrusters]) for pulse in (2000.0, 1000.0))
    linear, quadratic = (np.asarray(values[f"{kind}_damping"], dtype=np.float64) for kind in ("linear", "quadratic"))

    def most(axis: int) -> float:
        shares = levers[:, axis]
        return float(np.sum(np.where(shares > 0.0, forward * shares, backward * shares)))

    def speed(axis: int, load: float) -> float:
        a, b = quadratic[axis], linear[axis]
        return (-b + math.sqrt(b * b + 4.0 * a * load)) / (2.0 * a)

    buoyancy = number(values, "net_buoyancy")
    yield "bollard thrust forward (N)", f"{most(0):.1f}"
    yield "bollard thrust down (N)", f"{most(2):.1f}"
    yield "full speed forward (m/s)", f"{speed(0, most(0)):.2f}"
    yield "full speed down (m/s)", f"{speed(2, most(2) - buoyancy):.2f}"
    yield "time of a full turn (s)", f"{2.0 * math.pi / speed(5, most(5)):.1f}"
    yield "net buoyancy (N)", f"{buoyancy:.2f}"
    full_currents = np.broadcast_to(np.asarray(values["thruster_full_currents"], dtype=np.float64), (count,))
    # Current is proportional to thrust to the power of 3/2.
    shares = np.where(levers[:, 0] > 0.0, 1.0, np.abs(backward) / forward) * (np.abs(levers[:, 0]) > 1e-9)
    current = number(values, "electronics_current") + float(np.sum(full_currents * shares**1.5))
    yield "endurance at full speed forward (min)", _minutes(3.6 * number(values, "battery_capacity_mah") / current)
    idle = number(values, "electronics_current")
    yield "endurance at rest (h)", f"{number(values, 'battery_capacity_mah') / 1000.0 / idle:.1f}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
