"""What physics models offer: control loops of several packages, and a steady model only if one is implemented."""

from __future__ import annotations

import pytest

from rosflight_py_sim.autopilot.fixedwing_target_controller import FixedwingTargetController
from rosflight_py_sim.autopilot.multirotor_target_controller import MultirotorTargetController
from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.parts.auv_forces import AuvForces
from rosflight_py_sim.parts.multirotor_forces import MultirotorForces
from rosflight_py_sim.vehicles import physics_model
from rosflight_py_sim.vehicles.physics_model import PhysicsModel, control_loops, physics_models


class Copied(MultirotorTargetController):
    """Loops without a name of their own."""


class Contradicting(MultirotorTargetController):
    NAME = "contradicting"
    PARAMETERS = ParameterTable(Parameter("max_speed", "fast", "Speed in words"))


class Further(MultirotorTargetController):
    NAME = "further"


def test_control_loops_that_contradict_earlier_ones_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    own = list(physics_models())
    others = [
        (one.__name__, type("Model", (PhysicsModel,), {"CONTROL_LOOPS": one}))
        for one in (Copied, Contradicting, Further)
    ]
    monkeypatch.setattr(physics_model, "physics_models", lambda: iter([*own, *others]))
    assert control_loops() == {
        "multirotor": MultirotorTargetController,
        "fixedwing": FixedwingTargetController,
        "further": Further,
    }


def test_model_is_steady_if_it_or_its_base_class_implements_it() -> None:
    class Derived(MultirotorForces):
        pass

    assert Derived.is_steady() and not AuvForces.is_steady() and not PhysicsModel.is_steady()
