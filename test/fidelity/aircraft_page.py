"""Fidelity of a fixed wing: its modes, trim, stall, glide, turn and energy, as a subject of the fidelity page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import book_equations as book
import numpy as np
import yaml
from aircraft import ALTITUDE, AS_THE_BOOK, CRUISE, Aircraft, without_propeller
from comparison import Comparison
from matplotlib.figure import Figure
from mode_identification import CHANNELS, FINE, GRAPH, SeenMode, seen_modes
from steady_flights import energy_balance, glide, stall, turn

from rosflight_py_sim.physics.linearisation import linearise
from rosflight_py_sim.physics.trim import FlightCondition, TrimError, trim
from rosflight_py_sim.viewer.picture_page import AMBER, BLUE, GREEN, GREY, ORANGE, PURPLE

TURN_RADIUS = 150.0
CHANNEL_OF = {"short period": "q", "phugoid": "u", "dutch roll": "r", "roll": "p", "spiral": "phi"}
UNITS = {"u": "m/s", "v": "m/s", "w": "m/s", "phi": "deg", "theta": "deg", "p": "deg/s", "q": "deg/s", "r": "deg/s"}


class AircraftPage:
    """The page of a fixed wing of the package, by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.TITLE = name
        self._rows: list[Comparison] = []

    def comparisons(self) -> Iterator[Comparison]:
        """The figures of the picture."""
        if not self._rows:
            self.draw(Figure())
        return iter(self._rows)

    def draw(self, figure: Figure) -> None:
        """Twelve panels."""
        self._rows = _draw(figure, self.name)


def _draw(figure: Figure, name: str) -> list[Comparison]:
    table: list[Comparison] = []
    words = f"at {CRUISE[name]:g} m/s: dots are the simulation, lines the linear model or the book's equations"
    figure.text(0.045, 0.935, words, fontsize=11, color="#444444")
    grid = figure.add_gridspec(3, 4, left=0.045, right=0.985, top=0.885, bottom=0.06, hspace=0.42, wspace=0.27)
    axes = [figure.add_subplot(cell) for cell in grid]
    condition = FlightCondition(CRUISE[name], altitude=ALTITUDE)
    aircraft = Aircraft(name)
    fine, coarse = (seen_modes(aircraft, condition, step) for step in (FINE, GRAPH))
    by_name = {one.mode.name: one for one in fine}
    for place, which in zip(axes, ("short period", "phugoid", "dutch roll", "roll"), strict=False):
        _draw_mode(place, by_name[which])
    _draw_mode(axes[4], by_name["spiral"])
    _draw_errors(axes[5], fine, coarse)
    for one in fine:
        table.append(
            Comparison(one.mode.name, _value(one.seen), _value(one.mode.eigenvalue), f"{100.0 * one.error:.2f} %")
        )
    for one in coarse:
        table.append(
            Comparison(
                f"{one.mode.name}, 400 Hz", _value(one.seen), _value(one.mode.eigenvalue), f"{100.0 * one.error:.2f} %"
            )
        )
    _draw_trim(axes[6], axes[7], name, table)
    _draw_stall(axes[8], name, table)
    _draw_glide(axes[9], name, table)
    _draw_turn(axes[10], name, table)
    _draw_energy(axes[11], name, table)
    table.extend(_published(name))
    return table


def _published(name: str) -> Iterator[Comparison]:
    """The shipped parameters against trim and modes that the authors of the vehicle's source publish, if they do."""
    file = Path(__file__).with_name(f"mavsim_{name}.yaml")
    if not file.exists():
        return
    recorded = yaml.safe_load(file.read_text(encoding="utf-8"))
    condition = FlightCondition(CRUISE[name], altitude=ALTITUDE)
    shipped, undragged = Aircraft(name, **AS_THE_BOOK), Aircraft(name, **AS_THE_BOOK, **recorded["drag"])
    modes = {mode.name: mode.eigenvalue for mode in linearise(shipped.model, trim(shipped.model, condition)).modes}
    theirs = np.linalg.eigvals(np.array(recorded["lateral"]))
    for mode, published in (("dutch roll", theirs[np.argmax(theirs.imag)]), ("roll", theirs[np.argmin(theirs.real)])):
        error = abs(modes[mode] - published) / abs(published)
        yield Comparison(
            f"{mode}, as the authors", _value(modes[mode]), f"{_value(published)} (authors)", f"{100.0 * error:.2f} %"
        )
    found = trim(undragged.model, condition)
    for quantity, index in (("elevator", 1), ("throttle", 3)):
        yield Comparison(
            f"{quantity}, with the authors' drag",
            f"{found.inputs[index]:.5f}",
            f"{recorded[quantity]:.5f} (authors)",
            f"{found.inputs[index] - recorded[quantity]:.1e}",
        )


def _value(eigenvalue: complex) -> str:
    return f"{eigenvalue.real:.4f}" + (f" ± {eigenvalue.imag:.4f}i" if eigenvalue.imag else "")


def _draw_mode(axes: Any, one: SeenMode) -> None:
    channel = CHANNEL_OF[one.mode.name]
    index = CHANNELS.index(channel)
    factor = 1.0 if UNITS[channel] == "m/s" else math.degrees(1.0)
    seen = factor * one.response[:, index]
    # The linear model's own curve: from the mode's shape, as large as the response is at the start.
    shape = one.mode.shape
    initial = one.response[0] @ shape.real / (shape.real @ shape.real)
    predicted = factor * initial * (shape[index] * np.exp(one.mode.eigenvalue * one.time)).real
    axes.plot(one.time, predicted, color=BLUE, label="linear model")
    axes.plot(
        one.time[::2], seen[::2], "o", color=ORANGE, markersize=3.5, label=f"simulation, {100 * one.error:.2f} % off"
    )
    axes.set_title(f"{one.mode.name.capitalize()}, {_short(one.mode.eigenvalue)} 1/s")
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"{channel} ({UNITS[channel]})")
    axes.legend()


def _short(eigenvalue: complex) -> str:
    return f"{eigenvalue.real:.3g}" + (f" ± {eigenvalue.imag:.3g}i" if eigenvalue.imag else "")


def _draw_errors(axes: Any, fine: list[SeenMode], coarse: list[SeenMode]) -> None:
    places = np.arange(len(fine))
    axes.bar(places - 0.2, [100.0 * one.error for one in fine], 0.4, color=BLUE, label="2000 Hz")
    axes.bar(places + 0.2, [100.0 * one.error for one in coarse], 0.4, color=AMBER, label="400 Hz, as the graph")
    axes.axhline(2.0, color=GREY, linestyle="--", linewidth=1.0)
    axes.set_xticks(places, [one.mode.name.replace(" ", "\n") for one in fine])
    axes.set_ylabel("difference (%)")
    axes.set_title("Eigenvalues, seen to predicted")
    axes.grid(visible=False, axis="x")
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    axes.legend(loc="upper right")


def _draw_trim(angles: Any, throttle: Any, name: str, table: list[Comparison]) -> None:
    aircraft = Aircraft(name, **AS_THE_BOOK)
    speeds, found, expected = [], [], []
    for airspeed in np.arange(12.5, 40.0, 2.5):
        try:
            trimmed = trim(aircraft.model, FlightCondition(float(airspeed), altitude=ALTITUDE))
        except TrimError:
            continue
        own = book.trim(aircraft.parameters, float(airspeed), 0.0, math.inf)
        speeds.append(airspeed)
        found.append([trimmed.alpha, trimmed.inputs[1], trimmed.inputs[3]])
        expected.append([own.alpha, own.elevator, own.throttle])
    ours, books = np.array(found), np.array(expected)
    for column, colour, label in ((0, BLUE, "angle of attack"), (1, PURPLE, "elevator")):
        angles.plot(speeds, np.degrees(books[:, column]), color=colour, label=label)
        angles.plot(speeds, np.degrees(ours[:, column]), "o", color=colour, markersize=3.5)
    throttle.plot(speeds, books[:, 2], color=GREEN)
    throttle.plot(speeds, ours[:, 2], "o", color=GREEN, markersize=3.5)
    angles.set_ylabel("angle (deg)")
    angles.set_title("Trim in level flight: angles")
    angles.legend()
    throttle.set_ylabel("throttle")
    throttle.set_title("Trim in level flight: throttle")
    throttle.set_ylim(0.0, 1.05)
    for axes in (angles, throttle):
        axes.set_xlabel("airspeed (m/s)")
    at = speeds.index(CRUISE[name])
    for column, label, factor in (
        (0, "angle of attack (deg)", 57.29578),
        (1, "elevator (deg)", 57.29578),
        (2, "throttle", 1),
    ):
        ours_at, book_at = factor * ours[at, column], factor * books[at, column]
        table.append(
            Comparison(
                label,
                f"{ours_at:.5f}",
                f"{book_at:.5f}",
                "below 1e-7" if abs(ours_at - book_at) < 1e-7 else f"{ours_at - book_at:.1e}",
            )
        )


def _draw_stall(axes: Any, name: str, table: list[Comparison]) -> None:
    polar = stall(name)
    degrees = np.degrees(polar.alpha)
    every = slice(None, None, 8)
    axes.plot(degrees, polar.book_lift, color=BLUE, label="lift, book")
    axes.plot(degrees, polar.plate_lift, color=GREY, linestyle=":", label="lift of a flat plate")
    axes.plot(degrees[every], polar.lift[every], "o", color=BLUE, markersize=3.5)
    axes.plot(degrees, polar.drag, color=ORANGE, label="drag")
    attached = polar.book_drag < 1.15 * np.max(polar.drag)
    axes.plot(degrees[attached], polar.book_drag[attached], color=ORANGE, linestyle=":", label="drag, book's parabola")
    stall_angle = math.degrees(Aircraft(name).parameters["wing_alpha0"])
    axes.axvline(stall_angle, color=GREY, linewidth=1.0)
    axes.text(stall_angle + 1.0, axes.get_ylim()[0] * 0.9, "wing_alpha0", fontsize=8, color=GREY)
    axes.set_xlabel("angle of attack (deg)")
    axes.set_ylabel("coefficient")
    axes.set_title("Stall")
    axes.set_ylim(top=1.55 * axes.get_ylim()[1])
    axes.legend(loc="upper center", ncols=2, fontsize=7)
    table.append(
        Comparison("greatest lift-to-drag ratio", f"{np.max(polar.lift / polar.drag):.3f}", *_best_ratio(name))
    )
    fifteen = math.radians(15.0)
    table.append(
        Comparison(
            "drag coefficient at 15 deg",
            f"{np.interp(fifteen, polar.alpha, polar.drag):.4f}",
            f"{book.drag_coefficient(Aircraft(name).parameters, fifteen):.4f}",
            "",
        )
    )
    peak = int(np.argmax(polar.lift))
    table.append(Comparison("greatest lift coefficient", f"{polar.lift[peak]:.4f}", f"{polar.book_lift[peak]:.4f}", ""))
    table.append(
        Comparison("angle of greatest lift (deg)", f"{degrees[peak]:.2f}", f"{stall_angle:.2f} (wing_alpha0)", "")
    )


def _best_ratio(name: str) -> tuple[str, str]:
    """Greatest lift to drag of the polar in closed form, and an empty difference."""
    p = Aircraft(name).parameters
    induced = 1.0 / (math.pi * p["wing_epsilon"] * p["wing_b"] ** 2 / p["wing_s"])
    slope = p["C_D_alpha"] / p["C_L_alpha"]
    best = 1.0 / (2.0 * math.sqrt((p["C_D_O"] - slope * p["C_L_O"]) * induced) + slope)
    return f"{best:.3f} (the parabola's tangent)", ""


def _draw_glide(axes: Any, name: str, table: list[Comparison]) -> None:
    own = {"use_standard_atmosphere": False, "rho": AS_THE_BOOK["rho"]}
    cases = (
        ("no propeller", without_propeller(name), BLUE),
        ("propeller idling", Aircraft(name, **own), GREEN),
        ("propeller braking", Aircraft(name, **own, propeller_brakes=True), ORANGE),
    )
    for label, aircraft, colour in cases:
        try:
            flown = glide(aircraft, CRUISE[name])
        except (ArithmeticError, TrimError):
            table.append(Comparison(f"glide ratio, {label}", "none: it dives", "", ""))
            continue
        way, height = np.hypot(*flown.flight.truth[:, :2].T), -flown.flight.truth[:, 2]
        # The curves with an idling and without a propeller coincide: a smaller dot shows both.
        size = 2.5 if label == "propeller idling" else 5.0
        axes.plot(way[::50], height[::50] - height[0], "o", color=colour, markersize=size, label=label)
        reference = ""
        if label == "no propeller":
            axes.plot(way, -way / flown.lift_to_drag, color=colour, label="lift / drag")
            reference = f"{flown.lift_to_drag:.5f} (L/D)"
        table.append(Comparison(f"glide ratio, {label}", f"{flown.flown_ratio:.5f}", reference, ""))
    axes.set_xlabel("way (m)")
    axes.set_ylabel("height (m)")
    axes.set_title("Glide, power off, 10 s")
    axes.legend()


def _draw_turn(axes: Any, name: str, table: list[Comparison]) -> None:
    condition = FlightCondition(CRUISE[name], 0.0, TURN_RADIUS, ALTITUDE)
    flown = turn(Aircraft(name), condition, duration=40.0)
    angle = np.linspace(0.0, 2.0 * math.pi, 200)
    axes.plot(
        TURN_RADIUS + TURN_RADIUS * np.cos(angle), TURN_RADIUS * np.sin(angle), color=BLUE, label="circle asked for"
    )
    path = flown.flight.truth
    axes.plot(path[::10, 1], path[::10, 0], "o", color=ORANGE, markersize=3.5, label="flown, 40 s")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("east (m)")
    axes.set_ylabel("north (m)")
    axes.set_title(f"Steady turn, bank {math.degrees(flown.bank):.1f} deg")
    axes.legend(loc="center")
    level = math.hypot(1.0, CRUISE[name] ** 2 / TURN_RADIUS / 9.81)
    by_bank = 9.81 * math.tan(flown.bank) / CRUISE[name]
    table.append(Comparison("turn radius (m)", f"{flown.radius:.6f}", f"{TURN_RADIUS:.6f}", ""))
    off = f"{100.0 * abs(flown.rate / by_bank - 1.0):.2f} %"
    table.append(Comparison("turn rate (rad/s)", f"{flown.rate:.6f}", f"{by_bank:.6f} (g tan(phi) / V)", off))
    table.append(Comparison("load factor", f"{flown.load_factor:.6f}", f"{level:.6f}", ""))


def _draw_energy(axes: Any, name: str, table: list[Comparison]) -> None:
    balance = energy_balance(name, CRUISE[name])
    time = balance.flight.time
    height = balance.flight.truth[:, 2] - balance.flight.truth[0, 2]
    mass = Aircraft(name).model.mass
    potential = -mass * 9.81 * height
    axes.plot(time, balance.work_of_drag / 1e3, color=BLUE, label="work of drag (book)")
    axes.plot(time[::200], balance.energy[::200] / 1e3, "o", color=ORANGE, markersize=3.5, label="energy")
    axes.plot(time, potential / 1e3, color=GREY, linestyle=":", label="potential alone")
    axes.plot(time, (balance.energy - potential) / 1e3, color=GREY, linestyle="--", label="kinetic alone")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("change (kJ)")
    axes.set_title("Energy in a swinging glide")
    axes.legend(loc="lower left")
    worst = np.max(np.abs(balance.energy - balance.work)) / abs(balance.energy[-1])
    table.append(
        Comparison("energy lost in 20 s (J)", f"{-balance.energy[-1]:.2f}", f"{-balance.work[-1]:.2f}", f"{worst:.1e}")
    )
