"""A multirotor whose topics of rosflight_io are inside sil_board, or in a node on the MAVLink link with free ports."""

from __future__ import annotations

from dataclasses import replace

from free_ports import free_ports

from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.rosflight_io import OURS, with_rosflight_io
from rosflight_py_sim.vehicles import vehicle


def linked_multirotor(rosflight_io: str) -> Member:
    """The vehicle; `rosflight_io` is INSIDE or OURS."""
    (member,) = with_rosflight_io([Member(vehicle("multirotor"))], rosflight_io)
    if rosflight_io != OURS:
        return member
    board_port, program_port = free_ports(2)
    ports = {
        "mavlink.port": board_port,
        "mavlink.peer_port": program_port,
        "bind_port": program_port,
        "remote_port": board_port,
    }
    return replace(member, settings={**member.settings, **ports})
