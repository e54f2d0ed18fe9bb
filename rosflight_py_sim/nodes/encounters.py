"""Encounters of the vehicles of a simulation: collisions, and air that rotors move."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from sensor_msgs.msg import JointState

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value
from rosflight_py_sim.ground.shared_parameters import TIME_MODE
from rosflight_py_sim.ground.stamps import NANOSECONDS, seconds_text, set_time
from rosflight_py_sim.ground.topic_names import absolute_name
from rosflight_py_sim.interfaces.part_node import PartNode
from rosflight_py_sim.interfaces.time_manager_interface import vehicle_namespaces
from rosflight_py_sim.physics.collision import (
    APPROACH,
    FIRST,
    FORCE,
    MASS,
    OVERLAP,
    RADIUS,
    SECOND,
    SHORTEST_DURATION,
    STIFFNESS,
    collide,
    duration_of,
)
from rosflight_py_sim.physics.downwash import blow
from rosflight_py_sim.step.diagnosis import Diagnosis
from rosflight_py_sim.step.ports import Input, Kind, each, output, synchronized, trigger
from rosflight_py_sim.step.qos import LATCHED
from rosflight_py_sim.step.schedule import LONGEST_STEP_NS
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    CLOCK,
    COLLISION_FORCE,
    COLLISION_SPHERE,
    CONTACTS,
    INDUCED_AIR,
    ROTOR_JET,
    TRUTH_STATE,
    TRUTH_WIND,
    InducedAir,
    NamedNumbers,
    PushingForce,
    new_message,
)

# Speed of approach from which the beginning of a contact is logged, m/s: vehicles that press on each other touch often.
_LOGGED_SPEED = 0.1

_LISTS = ParameterTable(
    Parameter(
        "colliding",
        [],
        "Vehicles with a collision_radius: namespaces, relative to the node's",
        element=str,
        read_only=True,
    ),
    Parameter(
        "downwash_sources",
        [],
        "Vehicles, out of downwash_receivers, whose rotors move the air at others, likewise",
        element=str,
        read_only=True,
    ),
    Parameter(
        "downwash_receivers",
        [],
        "Vehicles at which the rotors of others move the air, likewise",
        element=str,
        read_only=True,
    ),
)


class Encounters(PartNode):
    """Answers each time with the force of other vehicles, and the air that their rotors move, at each vehicle.

    In lockstep the answer uses the states at that time and the wrenches from that time on; dynamics takes it into
    account in the step that begins then. The order in which messages arrive, or vehicles are listed, has no effect. The
    models are those of `physics/collision.py` and `physics/downwash.py`.

    Attributes:
        met: full namespaces of the vehicles, in alphabetical order.
        colliding: those of the vehicles that collide; `blowing` (with a jet) and `receivers` likewise.
    """

    DEFAULT_NAME: ClassVar[str] = "encounters"
    PARAMETERS: ClassVar[ParameterTable] = (
        ParameterTable(TIME_MODE)
        + _LISTS
        + ParameterTable(
            Parameter(
                "encounters_frequency",
                400.0,
                "Rate of the answers outside of lockstep",
                "Hz",
                minimum=0.1,
                maximum=1e4,
                read_only=True,
            ),
        )
    )

    clock = trigger(CLOCK, rate="encounters_frequency")
    # Latched also outside of lockstep: dynamics takes no step, and sends no further state, before the first answer.
    states = each("met", lambda one: synchronized(TRUTH_STATE, required=True, renews=True, at=one, qos=LATCHED))
    jets = each("blowing", lambda one: synchronized(ROTOR_JET, required=True, at=one))
    winds = each("blowing", lambda one: synchronized(TRUTH_WIND, required=True, at=one, qos=LATCHED))
    send_force = each("colliding", lambda one: output(COLLISION_FORCE, at=one))
    send_air = each("receivers", lambda one: output(INDUCED_AIR, at=one))
    send_contacts = output(CONTACTS)

    _is_built = False

    def configure(self, values: dict[str, Value]) -> None:
        """Order the vehicles, which cannot change."""
        if self._is_built:
            return
        around = self.get_namespace()
        self.colliding, self.blowing, self.receivers = (
            sorted(absolute_name(around, name) for name in vehicle_namespaces(values[one.name], one.name))
            for one in _LISTS
        )
        if others := sorted({*self.blowing} - {*self.receivers}):
            raise ParameterError(
                f"parameter 'downwash_sources': {others[0]} given; allowed: vehicles of the parameter "
                f"'downwash_receivers' ({', '.join(self.receivers) or 'none'}), because others do not wait"
            )
        self.met = sorted({*self.colliding, *self.receivers})
        count = len(self.met)
        self._truths, self._spheres, self._jets = np.zeros((count, 19)), np.zeros((count, 4)), np.zeros((count, 3))
        self._winds_ned, self._air_ned, self._forces = np.zeros((count, 3)), np.zeros((count, 6)), np.zeros((count, 3))
        self._contacts = np.zeros((count * (count - 1) // 2, 5))
        self._rows = {name: row for row, name in enumerate(self.met)}
        self._touching: frozenset[tuple[int, int]] = frozenset()
        self._collisions, self._answer_ns = 0, -1
        self._shortest_s = math.inf
        self._is_built = True

    @each("colliding", lambda one: Input(COLLISION_SPHERE, Kind.NEWEST, required=True, needed=True, at=one))
    def _on_sphere(self, name: str, sphere: NamedNumbers) -> None:
        self._spheres[self._rows[name]] = sphere.numbers
        self._shortest_s = min(duration_of(one[MASS], one[STIFFNESS]) for one in self._spheres if one[RADIUS] > 0.0)

    def answer(self, time_ns: int, content: object) -> None:
        """Send the effects on each vehicle, and the contacts."""
        for row, name in enumerate(self.met):
            self._truths[row] = self.states[name].truth
        if self.colliding:
            self._collide(time_ns)
        if self.receivers:
            self._blow()
        self._answer_ns = time_ns
        self._send(time_ns)

    def answer_again(self, time_ns: int) -> None:
        """Send the last effects."""
        self._send(time_ns)

    def _send(self, time_ns: int) -> None:
        forces, air = self._forces.tolist(), self._air_ned.tolist()
        for name, send in self.send_force.items():
            send(new_message(PushingForce, (time_ns, forces[self._rows[name]])))
        for name, send in self.send_air.items():
            row = air[self._rows[name]]
            send(new_message(InducedAir, (time_ns, row[:3], row[3:])))

    def _collide(self, time_ns: int) -> None:
        # The length of the step that begins is that of the last one, unless a vehicle requests another.
        step_ns = time_ns - self._answer_ns
        step_s = step_ns / NANOSECONDS if self._answer_ns >= 0 and 0 < step_ns <= LONGEST_STEP_NS else 0.0
        self._check_step(step_s)
        found = collide(self._truths, self._spheres, self._forces, self._contacts, step_s)
        contacts = self._contacts[:found]
        touching = frozenset((int(one[FIRST]), int(one[SECOND])) for one in contacts)
        for one in contacts:
            pair = int(one[FIRST]), int(one[SECOND])
            if pair not in self._touching:
                self._collisions += 1
                if one[APPROACH] >= _LOGGED_SPEED:
                    self.log.info(f"{self._names(pair)} collide at {seconds_text(time_ns)}, at {one[APPROACH]:.2g} m/s")
        self._touching = touching
        if found:
            message = JointState(name=[self._names((int(one[FIRST]), int(one[SECOND]))) for one in contacts])
            set_time(message.header.stamp, time_ns)
            message.position, message.velocity, message.effort = (
                contacts[:, column].tolist() for column in (OVERLAP, APPROACH, FORCE)
            )
            self.send_contacts(message)

    def _blow(self) -> None:
        for name in self.blowing:
            row = self._rows[name]
            self._jets[row], self._winds_ned[row] = self.jets[name].numbers, self.winds[name].velocity_ned
        blow(self._truths, self._jets, self._winds_ned, self._air_ned)

    def _names(self, pair: tuple[int, int]) -> str:
        """Names of two vehicles, relative to the node's namespace."""
        around = absolute_name(self.get_namespace()).rstrip("/")
        return " and ".join(self.met[one].removeprefix(f"{around}/") for one in pair)

    def _check_step(self, step_s: float) -> None:
        """Warn, once, of a collision that takes less than SHORTEST_DURATION steps."""
        least_s = SHORTEST_DURATION * step_s
        if self.lockstep and self._shortest_s < least_s * (1.0 - 1e-9):
            self.log.warning(
                f"parameter 'collision_duration' of a vehicle: {self._shortest_s:.3g} s given, with steps of "
                f"{step_s:g} s; allowed: at least {SHORTEST_DURATION:g} steps, {least_s:g} s: collisions are inaccurate"
            )
            self._shortest_s = math.inf

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Contacts at present and so far."""
        values = {"contacts": len(self._touching), "contacts so far": self._collisions}
        yield Diagnosis("", "running", values=values)
