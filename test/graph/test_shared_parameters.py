"""A parameter shared by several nodes has the same meaning in all of them; an exception states its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.nodes.running import node_class

OVERRIDDEN = {
    ("real_time_multiplier", "gated_time_manager"),
    ("real_time_multiplier", "lockstep_time_manager"),
    ("time_mode", "bridge"),
    ("time_mode", "gated_time_manager"),
    ("time_mode", "lockstep_time_manager"),
    ("time_mode", "standalone_time_manager"),
    ("initial_position", "standalone_dynamics"),
    ("gravity", "autopilot"),
    ("gravity", "bridge"),
    ("gravity", "follower_autopilot"),
    ("gravity", "policy_autopilot"),
    ("command_frequency", "policy_autopilot"),
    ("command_frequency", "policy_controller"),
    ("mass", "fixedwing_forces_and_moments"),
    ("mass", "autopilot"),
    ("mass", "bridge"),
    ("mass", "follower_autopilot"),
    ("mass", "policy_autopilot"),
    ("mass", "multirotor_forces_and_moments"),
    ("spool_up_time", "fixedwing_autopilot"),
    ("spool_up_time", "bridge"),
    ("max_speed", "bridge"),
    ("max_yaw_rate", "auv_controller"),
    # Under water, distances and speeds are smaller.
    ("square_side", "underwater_autopilot"),
    ("square_speed", "underwater_autopilot"),
    ("square_acceleration", "underwater_autopilot"),
    ("arrival_radius", "underwater_autopilot"),
    ("vehicles", "camera"),
    ("earth", "jsbsim_dynamics"),
}
"""Parameter and executable whose default, range or text differs from the declaration."""


def tables() -> list[tuple[str, Parameter]]:
    return [(executable, one) for executable in NODE_CLASSES for one in node_class(executable).PARAMETERS]


def test_parameter_has_one_declaration_across_nodes() -> None:
    declarations: dict[str, Parameter] = {}
    for executable, one in tables():
        first = declarations.setdefault(one.name, one.declared)
        assert one.declared == first, f"{one.name} of {executable}"
        assert (one.type_name, one.unit) == (first.type_name, first.unit), f"{one.name} of {executable}"


def test_only_listed_nodes_override_shared_declarations_with_a_reason() -> None:
    differing = {(one.name, executable) for executable, one in tables() if one != one.declared}
    assert differing == OVERRIDDEN
    for executable, one in tables():
        if one != one.declared:
            assert one.text.startswith(f"{one.declared.text}; "), f"{one.name} of {executable}"


MASS = Parameter("mass", 3.5, "mass of the vehicle", "kg", minimum=0.0)


@pytest.mark.parametrize("change", [{"default": 4.0}, {"text": "weight"}, {"maximum": 9.0}, {"unit": "g"}])
def test_tables_with_conflicting_declarations_cannot_be_combined(change: dict[str, object]) -> None:
    other = replace(MASS, **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="parameter 'mass' is declared twice, with differences") as refusal:
        ParameterTable(MASS) + ParameterTable(other)
    assert repr(MASS) in str(refusal.value) and repr(other) in str(refusal.value)


def test_override_wins_on_either_side_of_the_declaration() -> None:
    heavier = MASS.overridden("the other vehicle's", default=4.0)
    for together in (ParameterTable(MASS) + ParameterTable(heavier), ParameterTable(heavier) + ParameterTable(MASS)):
        assert list(together) == [heavier]
    assert (heavier.default, heavier.minimum) == (4.0, 0.0)
    assert heavier.text == "mass of the vehicle; the other vehicle's"


def test_conflicting_overrides_cannot_be_combined() -> None:
    heavier = MASS.overridden("the other vehicle's", default=4.0)
    assert list(ParameterTable(heavier) + ParameterTable(heavier)) == [heavier]
    with pytest.raises(ValueError, match="declared twice"):
        ParameterTable(heavier) + ParameterTable(MASS.overridden("the third one's", default=5.0))
