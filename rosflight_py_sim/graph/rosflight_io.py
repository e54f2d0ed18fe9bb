"""Which program has the topics and services of rosflight_io."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of
from rosflight_py_sim.ground.parameters import ParameterError

INSIDE, OURS, NONE = "inside", "ours", "none"
PROGRAMS = (INSIDE, OURS, NONE)
"""Choices: sil_board itself, this package's node, or a program that the user starts."""

_BOARD_PORT, _PROGRAM_PORT = 14525, 14520
"""UDP ports of the flight controller and of rosflight_io in ROSflight's simulator."""

_PORTS_APART = 10
"""Difference between the ports of successive vehicles."""


def leaves_interface(member: Member) -> bool:
    """Whether a program outside of the simulation has the topics and services of rosflight_io of a vehicle."""
    return member.settings.get("offers_rosflight_io") is False and "rosflight_io" not in member.executables


def with_rosflight_io(members: Sequence[Member], program: str) -> list[Member]:
    """The vehicles, whose flight controllers leave rosflight_io's interface to `program`, one of PROGRAMS.

    Raises:
        ParameterError: the flight controller of a vehicle has no MAVLink link.
    """
    if program == INSIDE:
        return list(members)
    linked = []
    for index, member in enumerate(members):
        controller = flight_controller_of(member)
        if "sil_board" not in controller.executables:
            raise ParameterError(
                f"rosflight_io '{program}' given for vehicle '{member.vehicle.name}' with flight controller "
                f"'{controller.name}', which has no MAVLink link; allowed: {INSIDE}"
            )
        board_port, program_port = _BOARD_PORT + _PORTS_APART * index, _PROGRAM_PORT + _PORTS_APART * index
        settings = {
            **member.settings,
            "offers_rosflight_io": False,
            "mavlink.port": board_port,
            "mavlink.peer_port": program_port,
            "bind_port": program_port,
            "remote_port": board_port,
        }
        further = ("rosflight_io",) if program == OURS else ()
        linked.append(replace(member, settings=settings, executables=(*member.executables, *further)))
    return linked
