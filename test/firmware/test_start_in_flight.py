"""A start in flight: armed from the first pass on, and following the companion computer without arming."""

from __future__ import annotations

import pytest

from rosflight_py_sim.firmware import Board, Firmware, FirmwareParameters
from rosflight_py_sim.firmware.state_machine import Event
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.parameter_sources import parameter_sources
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pipeline import Pipeline
from rosflight_py_sim.step.topics import COMMAND, TRUTH_STATE, ControlCommand
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.sweep.pipeline_flight import parts_of
from rosflight_py_sim.vehicles import vehicle

HEIGHT_M = 5.0
STEP_NS = 2_500_000


def parts_in_flight(name: str, **more: float) -> list[Part]:
    member = Member(vehicle(name), executables=("autopilot",))
    calibrated = {"gyro_bias_range": 0.0, "acc_bias_range": 0.0}
    settings = {"starts_in_flight": True, "starts_on_ground": False, "initial_altitude": HEIGHT_M, **calibrated}
    sources = parameter_sources([member], weakest={"device": "none"}, settings=settings | more)
    return [part(sources.values_of(node_class(one), member)) for one, part in parts_of(member).items()]


def test_firmware_is_armed_without_an_error() -> None:
    parameters = FirmwareParameters()
    parameters.restore({"PRIMARY_MIXER": 2, "FAILSAFE_THR": 0.3})
    firmware = Firmware(parameters, in_flight=True)
    assert firmware.status.armed
    assert not firmware.status.error_code


def test_reboot_starts_disarmed() -> None:
    board = Board(None, None, lambda severity, text: None, in_flight=True)
    board.firmware.state_machine.handle(Event.REQUEST_DISARM)
    board.reboot()
    assert not board.firmware.status.armed


@pytest.mark.parametrize("name", ["multirotor", "hexarotor", "octorotor"])
def test_vehicle_stays_at_its_height_under_the_command_of_hover(name: str) -> None:
    states: list[VehicleState] = []
    parts = parts_in_flight(name)
    autopilot = next(part for part in parts if part.DEFAULT_NAME == "autopilot")
    values = autopilot.values
    throttle = float(str(values["mass"])) * float(str(values["gravity"])) / float(str(values["max_thrust"]))
    pipeline = Pipeline(
        [part for part in parts if part is not autopilot], STEP_NS, receivers=[(TRUTH_STATE, states.append)]
    )
    while pipeline.time_ns < NANOSECONDS // 20:
        u = (0.0, 0.0, throttle, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        pipeline.give(COMMAND, ControlCommand(pipeline.time_ns, 2, 0, u))
        pipeline.step()
    # Until the command arrives after 6 ms, the motors idle. With rotors at rest at first, the vehicle falls by 12 mm.
    assert abs(states[-1].truth[2] + HEIGHT_M) < 0.008
    assert abs(states[-1].truth[9]) < 0.15


def test_weight_beyond_full_thrust_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"'starts_in_flight': true given for a weight of 392\.4 N; allowed: false"
    ):
        parts_in_flight("multirotor", mass=40.0, max_thrust=500.0)
