"""NASA's check-cases 1 to 10, flown through the node graph, and the band spanned by NASA's simulators.

The cases and trajectories are those of test/data/check_cases. One vehicle of a fleet flies each case: the package's
nodes in lockstep at 400 Hz, with a forces node of constant coefficients in place of the multirotor's, an idle flight
controller, and the state at the start set through dynamics/set_sim_state.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import pymap3d
from comparison import Comparison
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rosflight_msgs.srv import SetSimState
from transforms3d.euler import euler2quat, mat2euler
from transforms3d.quaternions import quat2mat

from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable, Value, number
from rosflight_py_sim.ground.pulse_width import LOW_US, OUTPUTS
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.forces_and_moments_interface import ForcesAndMomentsInterface
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.physics.atmosphere import density
from rosflight_py_sim.physics.earth import (
    ALTITUDE_PARAMETERS,
    FLATTENING,
    ROTATION,
    SEMI_MAJOR,
    SPHERE_RADIUS,
    altitude_at,
    site_of,
)
from rosflight_py_sim.physics.rotations import rotate_to_body
from rosflight_py_sim.step.topics import IMU, PWM_OUTPUT, TRUTH_STATE, PulseWidths
from rosflight_py_sim.step.vehicle_state import VehicleState, message_of_truth
from rosflight_py_sim.vehicles import vehicle
from rosflight_py_sim.viewer.picture_page import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE

TITLE = "NASA's check-cases"

FOOT = 0.3048
SLUG = 14.59390294
"""kg; the pound-force times s^2 over the foot."""

DATA = Path(__file__).parents[1] / "data" / "check_cases"

QUANTITIES = {
    "altitude": ("altitudeMsl_ft", "ft"),
    "longitude": ("longitude_deg", "deg"),
    "latitude": ("latitude_deg", "deg"),
    "velocity north": ("feVelocity_ft_s_X", "ft/s"),
    "velocity east": ("feVelocity_ft_s_Y", "ft/s"),
    "velocity down": ("feVelocity_ft_s_Z", "ft/s"),
    "yaw": ("eulerAngle_deg_Yaw", "deg"),
    "pitch": ("eulerAngle_deg_Pitch", "deg"),
    "roll": ("eulerAngle_deg_Roll", "deg"),
    "roll rate": ("bodyAngularRateWrtEi_deg_s_Roll", "deg/s"),
    "pitch rate": ("bodyAngularRateWrtEi_deg_s_Pitch", "deg/s"),
    "yaw rate": ("bodyAngularRateWrtEi_deg_s_Yaw", "deg/s"),
}
"""Column of the data and unit of each quantity."""

KINDS = {
    "altitude": ("altitude",),
    "position": ("longitude", "latitude"),
    "velocity": ("velocity north", "velocity east", "velocity down"),
    "attitude": ("yaw", "pitch", "roll"),
    "body rates": ("roll rate", "pitch rate", "yaw rate"),
}
"""Quantities by kind."""

STEP_S = 0.0025
"""Duration of a step, s."""

DIGITS = 10
"""Significant digits that NASA's simulators publish at most."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A check-case, in SI units except angles.

    Attributes:
        title: a few words.

        settings: parameters of its nodes.
        height: of the start above the launch point, m.
        velocity_ned: at the start, relative to the earth, m/s.
        heading: at the start, deg.
        rates: inertial body rates at the start, deg/s; None: at rest relative to the earth.
    """

    title: str
    settings: dict[str, Value]
    height: float = 30000.0 * FOOT
    velocity_ned: Sequence[float] = (0.0, 0.0, 0.0)
    heading: float = 0.0
    rates: Sequence[float] | None = (0.0, 0.0, 0.0)


def _sphere(**settings: Value) -> dict[str, Value]:
    inertia = 3.6 * SLUG * FOOT**2
    return {"mass": SLUG, "Jxx": inertia, "Jyy": inertia, "Jzz": inertia, "earth": "wgs84", **settings}


def _brick(**settings: Value) -> dict[str, Value]:
    unit = SLUG * FOOT**2
    inertia = {"Jxx": 0.001894220 * unit, "Jyy": 0.006211019 * unit, "Jzz": 0.007194665 * unit}
    return {"mass": 0.155404754 * SLUG, **inertia, "earth": "wgs84", **settings}


_DRAG: dict[str, Value] = {"reference_area": 0.1963495 * FOOT**2, "drag_coefficient": 0.1}
_DAMPING: dict[str, Value] = {
    "reference_area": 0.22222 * FOOT**2,
    "reference_span": FOOT / 3.0,
    "reference_chord": 2.0 * FOOT / 3.0,
    "damping_coefficient": 1.0,
}
_LINEAR_WIND: dict[str, Value] = {
    "wind_models": ["profile"],
    "profile_heights": [0.0, 30000.0 * FOOT],
    "profile_velocities": [0.0, -20.0 * FOOT, 0.0, 0.0, 70.0 * FOOT, 0.0],
}
_SHOT = 1000.0 * FOOT
_TUMBLING = (10.0, 20.0, 30.0)

CASES = {
    1: Case("dropped sphere, no drag", _sphere()),
    2: Case("tumbling brick", _brick(), rates=_TUMBLING),
    3: Case("tumbling brick, damped", _brick(**_DAMPING), rates=_TUMBLING),
    4: Case("sphere over a round earth", _sphere(**_DRAG, earth="sphere"), rates=_TUMBLING),
    5: Case("sphere, rotating earth", _sphere(**_DRAG, earth="rotating_sphere"), rates=_TUMBLING),
    6: Case("sphere, ellipsoid", _sphere(**_DRAG)),
    7: Case("steady wind", _sphere(**_DRAG, sim_has_wind=True, steady_state_wind=[0.0, 20.0 * FOOT, 0.0])),
    8: Case("wind shear", _sphere(**_DRAG, sim_has_wind=True, **_LINEAR_WIND)),
    9: Case("shot eastward", _sphere(**_DRAG), 0.0, (0.0, _SHOT, -_SHOT), 90.0, None),
    10: Case("shot northward", _sphere(**_DRAG), 0.0, (_SHOT, 0.0, -_SHOT), 0.0, None),
}


class ConstantCoefficients(ForcesAndMomentsInterface):
    """Drag and damping of a body with constant coefficients."""

    PARAMETERS: ClassVar[ParameterTable] = (
        ForcesAndMomentsInterface.PARAMETERS
        + ALTITUDE_PARAMETERS
        + ParameterTable(
            Parameter("reference_area", 0.0, "Reference area", "m^2", minimum=0.0),
            Parameter("reference_span", 0.0, "Reference length of roll and yaw", "m", minimum=0.0),
            Parameter("reference_chord", 0.0, "Reference length of pitch", "m", minimum=0.0),
            Parameter("drag_coefficient", 0.0, "Drag coefficient", minimum=0.0),
            Parameter("damping_coefficient", 0.0, "-C_l_p, -C_m_q and -C_n_r", minimum=0.0),
        )
    )

    def configure(self, values: dict[str, Value]) -> None:
        """Read the coefficients."""
        self._site = site_of(values)
        area, self._span, self._chord = (number(values, f"reference_{name}") for name in ("area", "span", "chord"))
        self._drag = area * number(values, "drag_coefficient")
        self._damping = area * number(values, "damping_coefficient")
        self._computed = np.zeros(6)

    def update_forces_and_torques(self, state: VehicleState, wind_ned: Array, pwm_us: Array, dt: float) -> Array:
        """Wrench on the body."""
        north, east, down, w, x, y, z, u, v, aft, p, q, r = state.truth[:13].tolist()
        wx, wy, wz = rotate_to_body(w, x, y, z, *wind_ned.tolist())
        u, v, aft = u - wx, v - wy, aft - wz
        half = 0.5 * density(altitude_at(self._site, north, east, down)) * math.sqrt(u * u + v * v + aft * aft)
        roll, pitch = half * self._damping * self._span**2 / 2.0, half * self._damping * self._chord**2 / 2.0
        drag = half * self._drag
        self._computed[:] = -drag * u, -drag * v, -drag * aft, -roll * p, -pitch * q, -roll * r
        return self._computed

    def get_firmware_parameters(self) -> None:
        """Read nothing."""


class IdleFlightController(SimulationNode):
    """Outputs that never change, in place of the firmware, which these bodies do not use."""

    DEFAULT_NAME = "sil_board"

    def __init__(self, **arguments: Any) -> None:
        """Subscribe to the IMU."""
        super().__init__(**arguments)
        send = self.publisher(PWM_OUTPUT)
        pulse_us = [LOW_US] * OUTPUTS
        self.subscribe(IMU, lambda imu: send(PulseWidths(imu.time_ns, pulse_us)), needed=True)


class Seconds(SimulationNode):
    """Truth states at whole seconds.

    Attributes:
        rows: truth states (19,) from time 0.
    """

    DEFAULT_NAME = "seconds"

    def __init__(self, **arguments: Any) -> None:
        """Subscribe."""
        self.rows: list[Array] = []
        super().__init__(**arguments)
        self.subscribe(TRUTH_STATE, self._on_truth)

    def _on_truth(self, state: VehicleState) -> None:
        second, rest = divmod(state.time_ns, NANOSECONDS)
        if not rest:
            # The state that is set at the start replaces the vehicle's own of time 0.
            self.rows[second:] = [state.truth]


def earth_rate(settings: dict[str, Value]) -> Array:
    """Angular velocity of the earth in NED of the launch point at the equator, rad/s (3,)."""
    return np.array([0.0 if settings["earth"] == "sphere" else ROTATION, 0.0, 0.0])


def start_of(case: Case) -> Array:
    """Truth state (19,) at the start."""
    attitude = euler2quat(0.0, 0.0, math.radians(case.heading))
    axes = quat2mat(attitude)
    rates = np.zeros(3) if case.rates is None else np.radians(case.rates) - axes.T @ earth_rate(case.settings)
    velocity = axes.T @ np.array(case.velocity_ned)
    return np.concatenate([[0.0, 0.0, -case.height], attitude, velocity, rates, np.zeros(6)])


@cache
def flights() -> dict[int, Array]:
    """Truth states (n, 19) of every case at the whole seconds of its data."""
    body = replace(vehicle("multirotor"), parameter_file=DATA / "bodies.yaml")
    members = [Member(body, f"case_{n}", case.settings) for n, case in CASES.items()]
    own = {"multirotor_forces_and_moments": ConstantCoefficients, "sil_board": IdleFlightController}
    with patch("rosflight_py_sim.graph.composition.node_class", lambda name: own.get(name) or node_class(name)):
        graph = ComposedGraph(members, settings={"real_time_multiplier": 0.0, "step_size": STEP_S})
        try:
            # Hold time 0 until the states are set.
            graph.spin(lambda: False)
            nodes = {case: graph.join(Seconds, namespace=f"case_{case}") for case in CASES}
            _set_states(graph, nodes)
            ends = {case: len(published(case)["altitude"]) for case in CASES}
            graph.spin(lambda: any(len(nodes[case].rows) < end for case, end in ends.items()))
        finally:
            graph.close()
    return {case: np.array(nodes[case].rows[: ends[case]]) for case in CASES}


def _set_states(graph: ComposedGraph, nodes: Mapping[int, Seconds]) -> None:
    # Clients of nodes of the graph: with a node of rclpy alone, the executor would run after each message.
    clients = {case: node.create_client(SetSimState, "dynamics/set_sim_state") for case, node in nodes.items()}
    end = time.monotonic() + 30.0
    while not all(client.service_is_ready() for client in clients.values()):
        assert time.monotonic() < end, "dynamics/set_sim_state is not ready"
        graph.executor.spin_once(timeout_sec=0.01)
    calls = [
        clients[n].call_async(SetSimState.Request(state=message_of_truth(start_of(case)))) for n, case in CASES.items()
    ]
    while not all(call.done() for call in calls):
        assert time.monotonic() < end, "dynamics/set_sim_state does not answer"
        graph.executor.spin_once(timeout_sec=0.01)
    for call in calls:
        assert call.result().success, call.result().message


@dataclass(frozen=True)
class Band:
    """Range of a quantity in NASA's simulators.

    Attributes:
        lowest: (n,) at each second.
        highest: (n,).
        rounding: half a unit of the last published digit.
    """

    lowest: Array
    highest: Array
    rounding: float

    @property
    def half_width(self) -> Array:
        """Half of the width (n,), at least the rounding."""
        return np.maximum(0.5 * (self.highest - self.lowest), self.rounding)

    @property
    def tolerance(self) -> Array:
        """Allowed distance (n,) outside the band: a tenth of its width, or the rounding."""
        return np.maximum(0.1 * (self.highest - self.lowest), self.rounding)

    def off_middle(self, values: Array) -> Array:
        """Distance (n,) of values from the middle of the band."""
        return np.abs(values - 0.5 * (self.lowest + self.highest))

    def outside(self, values: Array) -> Array:
        """Distance (n,) of values outside the band; 0 inside."""
        return np.maximum(0.0, np.maximum(self.lowest - values, values - self.highest))


@cache
def published(case: int) -> dict[str, list[list[float]]]:
    """Values of each quantity, for each second those of all simulators."""
    with (DATA / f"case_{case:02d}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    seconds = sorted({int(row["time_s"]) for row in rows})
    of_second = [[row for row in rows if int(row["time_s"]) == second] for second in seconds]
    return {
        name: [[float(row[column]) for row in same if row[column]] for same in of_second]
        for name, (column, _) in QUANTITIES.items()
    }


@cache
def rounding_of(kind: str) -> float:
    """Half a unit of the last digit of the largest published number of a kind."""
    values = [published(case)[name] for case in CASES for name in KINDS[kind]]
    largest = max(abs(value) for of_name in values for of_second in of_name for value in of_second)
    return 0.5 * float(10.0 ** (math.floor(math.log10(largest)) + 1 - DIGITS))


@cache
def bands(case: int) -> dict[str, Band]:
    """Band of every quantity of a case."""
    return {
        name: Band(
            np.array([min(values) for values in published(case)[name]]),
            np.array([max(values) for values in published(case)[name]]),
            rounding_of(kind),
        )
        for kind, names in KINDS.items()
        for name in names
    }


def quantities(case: int, rows: Array) -> dict[str, Array]:
    """Quantities (n,) of a case, from its truth states (n, 19)."""
    settings = CASES[case].settings
    axis, flattening = (SEMI_MAJOR, FLATTENING) if settings["earth"] == "wgs84" else (SPHERE_RADIUS, 0.0)
    ellipsoid = pymap3d.Ellipsoid(axis, axis * (1.0 - flattening))
    found = []
    for truth in rows:
        # Of the launch point at latitude and longitude 0: north is z, east is y, down is -x.
        north, east, down = truth[:3]
        place = pymap3d.ecef2geodetic(axis - down, east, north, ell=ellipsoid)
        latitude, longitude, altitude = (float(one) for one in place)
        phi, lam = math.radians(latitude), math.radians(longitude)
        in_earth = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
        local = np.array(
            [
                [-math.sin(phi) * math.cos(lam), -math.sin(phi) * math.sin(lam), math.cos(phi)],
                [-math.sin(lam), math.cos(lam), 0.0],
                [-math.cos(phi) * math.cos(lam), -math.cos(phi) * math.sin(lam), -math.sin(phi)],
            ]
        )
        axes = quat2mat(truth[3:7])
        attitude = local @ in_earth @ axes
        roll, pitch, yaw = mat2euler(attitude)
        rates = truth[10:13] + axes.T @ earth_rate(settings)
        velocity = attitude @ truth[7:10]
        found.append(
            [
                altitude / FOOT,
                longitude,
                latitude,
                *velocity / FOOT,
                *np.degrees([yaw, pitch, roll]),
                *np.degrees(rates),
            ]
        )
    return dict(zip(QUANTITIES, np.array(found).T, strict=True))


@cache
def flown(case: int) -> dict[str, Array]:
    """Quantities (n,) of a case, as flown."""
    return quantities(case, flights()[case])


def comparisons() -> Iterator[Comparison]:
    """One row for each case and kind of quantity: its largest distance from the middle of the band."""
    for case in CASES:
        for kind, names in KINDS.items():
            pairs = [(bands(case)[name], flown(case)[name]) for name in names]
            unit = QUANTITIES[names[0]][1]
            share = max(float(np.max(band.off_middle(values) / band.half_width)) for band, values in pairs)
            width = max(float(np.max(band.highest - band.lowest)) for band, _ in pairs)
            outside = max(float(np.max(band.outside(values))) for band, values in pairs)
            if round(share, 2) <= 1.0:
                place = "inside"
            elif all(np.all(band.outside(values) <= band.tolerance) for band, values in pairs):
                place = "inside the widened band"
            else:
                place = f"{outside:.1e} {unit} outside"
            of_half = f"{share:.2f} of half the width"
            yield Comparison(f"case {case}, {kind}", of_half, f"a band up to {width:.1e} {unit} wide", place)


def draw(figure: Figure) -> None:
    """A panel for each case: the place of each kind of quantity in the band."""
    words = (
        "each whole second: distance from the middle of the band that NASA's simulators span (1 is its edge), of the "
    )
    figure.text(0.045, 0.935, words + "worst component", fontsize=11, color="#444444")
    grid = figure.add_gridspec(2, 5, left=0.045, right=0.985, top=0.885, bottom=0.06, hspace=0.25, wspace=0.22)
    colours = dict(zip(KINDS, (BLACK, BLUE, GREEN, PURPLE, ORANGE), strict=True))
    for place, case in enumerate(CASES):
        axes = figure.add_subplot(grid[place // 5, place % 5])
        axes.axhspan(0.0, 1.0, color=GREY, alpha=0.3, linewidth=0.0)
        for kind, names in KINDS.items():
            shares = [bands(case)[n].off_middle(flown(case)[n]) / bands(case)[n].half_width for n in names]
            axes.plot(
                np.minimum(np.max(shares, axis=0), 2.0), color=colours[kind], marker=".", markersize=4, label=kind
            )
        axes.set_title(f"Case {case}: {CASES[case].title}")
        axes.set_xlabel("time (s)")
        axes.set_ylim(0.0, 2.0)
        if case in (1, 6):
            axes.set_ylabel("distance from the middle over half of the width")
        if case == 1:
            axes.legend(loc="upper right")
