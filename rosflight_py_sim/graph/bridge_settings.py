"""Parameters of the bridge that follow from the vehicles of a simulation."""

from __future__ import annotations

from collections.abc import Sequence

from rosflight_py_sim.bridge.front_end_interface import OBSERVED_ONLY
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import flight_controller_of, front_end_class
from rosflight_py_sim.ground.parameters import ParameterError, Value
from rosflight_py_sim.ground.registry import registered, registered_node
from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.vehicles.physics_model import physics_node


def bridge_settings(members: Sequence[Member], observers: Sequence[str]) -> dict[str, list[str]]:
    """The front-ends of one bridge for all vehicles, and the commander of each; empty if there is no bridge.

    Args:
        members: the vehicles.
        observers: front-ends that command no vehicle.

    Raises:
        ParameterError: an observer does not exist, is listed twice, or commands a vehicle, or cannot be used.
    """
    controllers = [flight_controller_of(member) for member in members]
    commanding = dict.fromkeys(one.front_end for one in controllers if one.front_end)
    allowed = [name for name in registered("front_ends") if name not in commanding]
    if not set(observers) <= set(allowed) or len(set(observers)) < len(observers):
        names = "' and '".join(dict.fromkeys(one.name for one in controllers))
        raise ParameterError(
            f"observers: '{','.join(observers)}' given; allowed with flight controller '{names}': "
            f"{', '.join(allowed)}, each once"
        )
    for name in observers:
        front_end_class(name)
    if not commanding and not observers:
        return {}
    return {
        "front_ends": [*commanding, *observers],
        "commanders": [one.front_end or OBSERVED_ONLY for one in controllers],
    }


def settings_of_front_ends(member: Member, front_ends: Sequence[str]) -> dict[str, Value]:
    """Parameters of the front-ends for a vehicle: its control loops, and for those that observe it, its pairing files.

    A pairing file also adapts the vehicle to being flown; of these files, only the front-ends' own parameters apply.
    """
    commander = flight_controller_of(member).front_end
    settings: dict[str, Value] = {}
    loops = registered_node(physics_node(member.vehicle)).CONTROL_LOOPS if front_ends else None
    if loops is not None:
        selectors = [front_end_class(name).CONTROLLER for name in front_ends]
        settings = {selector: loops.NAME for selector in selectors if selector}
    for name in front_ends:
        if name != commander and name in member.vehicle.pairings:
            values = merged_values([member.vehicle.pairings[name].file], ("bridge",))
            settings |= {key: value for key, value in values.items() if key.startswith(f"{name}.")}
    return settings
