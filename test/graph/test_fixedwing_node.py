"""The fixed wing's node: ROSflight's parameter files, and surfaces that follow the flight controller's mixer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from numpy.typing import NDArray
from rosflight_msgs.msg import Command, PwmOutput

from rosflight_py_sim.firmware.canned_mixers import MixerChoice, canned_mixer
from rosflight_py_sim.firmware.unmixing import unmixer
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.parts.fixedwing_forces import FixedwingForces
from rosflight_py_sim.physics.fixedwing import direct_mixer
from rosflight_py_sim.physics.surface_mix import mixer_of_values
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import (
    COMMAND,
    FORCES_AND_MOMENTS,
    PWM_OUTPUT,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    StepTopic,
)

FixedwingForcesAndMoments = node_of(FixedwingForces)

VALUES = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "cpp_forces" / "vehicle_values.yaml").read_text(encoding="utf-8")
)

STICKS = {"aileron": 0.3, "elevator": 0.2, "rudder": -0.1}
# The anaconda's elevator is reversed (REV_ELEVATOR).
DEFLECTIONS = np.radians(40.0) * np.array([0.3, -0.2, -0.1])


def rosflight_file(vehicle: str, *, spelt: Callable[[str], str] = str) -> str:
    return spelt(yaml.safe_dump(VALUES[f"{vehicle}_dynamics"], default_flow_style=None))


def without_leading_zeros(text: str) -> str:
    """Numbers without the zero before the decimal point, as in ROSflight's files."""
    return re.sub(r"(?<= )(-?)0\.(\d+)", r"\1.\2", text)


@pytest.mark.parametrize("vehicle", ["anaconda", "aerosonde"])
@pytest.mark.parametrize("spelt", [str, without_leading_zeros])
def test_rosflight_parameter_file_is_accepted_unchanged(
    graph: Callable[..., Any], tmp_path: Path, vehicle: str, spelt: Callable[[str], str]
) -> None:
    file = tmp_path / f"{vehicle}_dynamics.yaml"
    file.write_text(rosflight_file(vehicle, spelt=spelt))
    assert (" -.99" in file.read_text()) == (spelt is without_leading_zeros)
    g = graph(vehicle_name=vehicle, files=[str(file)])
    values = g.node("forces_and_moments").values
    sections = VALUES[f"{vehicle}_dynamics"]
    for name, value in sections["/fixedwing_forces_and_moments"]["ros__parameters"].items():
        assert values[name] == pytest.approx(value), name
    for name, value in sections["/standalone_dynamics"]["ros__parameters"].items():
        assert g.node("dynamics").values[name] == value
    g.ready()


def tail_mixer() -> NDArray[np.float64]:
    tail = canned_mixer(MixerChoice.INVERTED_V_TAIL)
    return unmixer(tail.matrix, np.array(tail.types, dtype=np.float64))


@pytest.fixture
def anaconda(undisturbed_graph: Callable[..., Any]) -> Iterator[Any]:
    """The graph of an anaconda on the ground; the flight controller's parameters are restored after the test."""
    g = undisturbed_graph(vehicle_name="anaconda").ready()
    yield g
    assert g.call("reboot").success
    g.spin_until(lambda: np.array_equal(g.node("forces_and_moments").model.mixer, tail_mixer()), "the V-tail mixer")


def test_mixer_is_known_before_the_first_step(undisturbed_graph: Callable[..., Any]) -> None:
    g = undisturbed_graph(vehicle_name="anaconda")
    assert g.node("forces_and_moments").firmware_parameters["PRIMARY_MIXER"] >= 0.0
    assert g.time_ns == 0


def test_mixer_from_vehicle_firmware_is_bit_identical(anaconda: Any) -> None:
    # The mixer arrives at a random time, and a repeatable flight must not depend on it.
    g = anaconda
    node = g.node("forces_and_moments")
    g.spin_until(lambda: node.firmware_parameters, "the answer")
    assert np.array_equal(node.model.mixer, tail_mixer())


def test_surfaces_follow_commands_through_every_mixer_and_mixer_change(anaconda: Any) -> None:
    g = anaconda
    plane = g.node("forces_and_moments").model
    publisher = g.tester.create_publisher(Command, COMMAND.name, CHAIN)
    command = Command(mode=Command.MODE_PASS_THROUGH)
    command.u = [0.0, 0.0, 0.0, *STICKS.values(), 0.0, 0.0, 0.0, 0.0]
    g.tester.create_timer(0.01, lambda: publisher.publish(command))
    pwm = g.collect_messages(PWM_OUTPUT)

    def outputs(*numbers: int) -> list[int]:
        return [int(pwm[-1].values[i]) for i in numbers]

    def settled() -> bool:
        return bool(np.allclose(plane.deflections, DEFLECTIONS, rtol=0.0, atol=2e-3))

    # Pulse widths are whole microseconds: half a microsecond is 0.001 of the travel, 0.0007 rad.
    g.call("toggle_override")
    g.spin_until(settled, "deflections through the V-tail")
    tail = outputs(0, 1, 2)
    assert tail == pytest.approx([1650, 1525, 1425], abs=1)

    g.set_firmware(PRIMARY_MIXER=9)

    def follow_standard_mixer() -> bool:
        # New outputs may arrive before the node has read the new mixer, while the deflections are still the old ones.
        return outputs(0, 1, 2) != tail and np.allclose(plane.mixer, direct_mixer()) and settled()

    g.spin_until(follow_standard_mixer, "deflections through the standard mixer")
    assert outputs(0, 1, 2) == pytest.approx([1650, 1400, 1450], abs=1)
    assert plane.mixer == pytest.approx(direct_mixer(), abs=1e-12)

    # Ailerons on two servos with half the travel; the elevator on output 6, reversed.
    elements = {"3_0": 0.5, "3_3": -0.5, "4_1": 0.0, "4_6": -1.0, "5_2": 1.0, "0_4": 1.0}
    types = {0: 1, 1: 0, 2: 1, 3: 1, 4: 2, 6: 1}
    g.set_firmware(
        PRIMARY_MIXER=11,
        **{f"PRI_MIXER_{place}": value for place, value in elements.items()},
        **{f"PRI_MIXER_OUT_{output}": kind for output, kind in types.items()},
    )
    g.spin_until(lambda: outputs(6) == [1600] and plane.mixer[1, 6] != 0.0 and settled(), "the custom mixer")
    assert outputs(0, 3, 6, 2) == pytest.approx([1575, 1425, 1600, 1450], abs=1)
    g.call("toggle_override")


def test_mixer_without_throttle_is_reported_and_leaves_motor_stopped(anaconda: Any) -> None:
    g = anaconda
    plane = g.node("forces_and_moments").model
    g.set_firmware(PRIMARY_MIXER=2)
    g.spin_until(lambda: not np.any(plane.mixer[3]), "the quadcopter's mixer")
    g.spin_for(0.1)
    assert plane.current_a == 0.0


def test_aircraft_parameter_change_keeps_mixer_and_motion(anaconda: Any) -> None:
    g = anaconda
    node = g.node("forces_and_moments")
    g.set_firmware(PRIMARY_MIXER=9)
    g.spin_until(lambda: node.model.mixer[1, 1] == pytest.approx(1 / 500), "the standard mixer")
    before, lift = node.model, node.values["C_L_O"]
    g.set_parameter("forces_and_moments", "C_L_O", 0.4)
    assert node.model is not before
    assert np.array_equal(node.model.mixer, before.mixer)
    g.set_parameter("forces_and_moments", "C_L_O", lift)


def test_nose_wheel_steers_with_rudder(anaconda: Any) -> None:
    g = anaconda
    publisher = g.tester.create_publisher(Command, COMMAND.name, CHAIN)
    command = Command(mode=Command.MODE_PASS_THROUGH)
    command.u = [0.0, 0.0, 0.0, *STICKS.values(), 0.0, 0.0, 0.0, 0.0]
    g.tester.create_timer(0.01, lambda: publisher.publish(command))
    g.call("toggle_override")
    plane, steering = g.node("forces_and_moments").model, g.node("dynamics").body.steering
    g.spin_until(lambda: np.allclose(plane.deflections, DEFLECTIONS, rtol=0.0, atol=2e-3), "deflections")
    # A positive rudder yaws left.
    assert steering.command == pytest.approx(-STICKS["rudder"], abs=4e-3)
    g.call("toggle_override")


def test_surfaces_use_vehicle_mixer_until_flight_controller_reports_its_own(
    graph: Callable[..., Any],
) -> None:
    class WithoutFirmwareParameters(FixedwingForcesAndMoments):
        def get_firmware_parameters(self) -> None:
            """Request nothing."""

    g = graph(vehicle_name="anaconda", classes={"fixedwing_forces_and_moments": WithoutFirmwareParameters}).ready()
    assert np.array_equal(g.node("forces_and_moments").model.mixer, tail_mixer())


def test_custom_surface_weights_override_flight_controller_mixer(graph: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "elevons.yaml"
    weights = {"aileron_mix": [-0.5, 0.5], "elevator_mix": [-0.5, -0.5], "throttle_mix": [0.0, 0.0, 1.0]}
    file.write_text(yaml.safe_dump({"/**/forces_and_moments": {"ros__parameters": weights}}))
    g = graph(vehicle_name="anaconda", files=[str(file)]).ready()
    node = g.node("forces_and_moments")
    g.spin_until(lambda: node.firmware_parameters, "the flight controller's answer")
    expected = mixer_of_values({"rudder_mix": [], **weights})
    assert np.array_equal(node.model.mixer, expected)
    g.set_parameter("forces_and_moments", "C_L_O", 0.4)
    assert np.array_equal(node.model.mixer, expected)


def test_armed_aircraft_rolls_and_takes_off_with_throttle_and_elevator(graph: Callable[..., Any]) -> None:
    g = graph(vehicle_name="anaconda")
    g.arm(calibrate=False)
    publisher = g.tester.create_publisher(Command, COMMAND.name, CHAIN)
    command = Command(mode=Command.MODE_PASS_THROUGH)
    # Full throttle; a pitch command of a tenth pulls the nose up.
    command.u = [1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]
    g.tester.create_timer(0.01, lambda: publisher.publish(command))
    g.call("toggle_override")
    ground = g.truth.pose.position.z
    g.spin_until(lambda: g.truth.twist.linear.x > 12.0, "take-off speed")
    assert g.truth.pose.position.z == pytest.approx(ground, abs=0.05)
    assert abs(g.truth.pose.position.y) < 0.5
    g.spin_until(lambda: g.truth.pose.position.z < ground - 2.0, "the climb")
    assert g.truth.pose.position.x < 100.0
    assert g.truth.pose.orientation.y > 0.0


def test_step_with_steered_wheels_waits_for_outputs_with_same_stamp(graph: Callable[..., Any]) -> None:
    g = graph(vehicle_name="anaconda").ready()
    dynamics = g.node("dynamics")
    forces = g.node("forces_and_moments")
    g.spin_until(lambda: not forces.awaited_services(), "the flight controller's mixer")
    g.remove(g.node("sil_board"))
    g.idle(0.2)
    g.remove(forces)
    wrenches = g.tester.create_publisher(WrenchStamped, FORCES_AND_MOMENTS.name, CHAIN)
    outputs = g.tester.create_publisher(PwmOutput, PWM_OUTPUT.name, CHAIN)
    wrench, pwm = WrenchStamped(), PwmOutput(values=[1500.0, 1400.0, 1400.0, *[1500.0] * 11])
    waiting_ns = g.time_ns
    wrench.header.stamp = pwm.header.stamp = g.truth.header.stamp
    wrenches.publish(wrench)
    g.idle(0.2)
    assert g.time_ns == waiting_ns
    outputs.publish(pwm)
    g.spin_until(lambda: g.time_ns > waiting_ns, "the step")
    assert dynamics.body.steering.command == pytest.approx(0.4)

    # A repeated wrench means that the outputs were lost: the node takes the step without them.
    waiting_ns = g.time_ns
    wrench.header.stamp = g.truth.header.stamp
    wrenches.publish(wrench)
    g.idle(0.2)
    assert g.time_ns == waiting_ns
    wrenches.publish(wrench)
    g.spin_until(lambda: g.time_ns > waiting_ns, "the step")


def test_forces_with_rotational_gusts_wait_for_the_rotation_with_same_stamp(graph: Callable[..., Any]) -> None:
    g = graph("-p", "rotational_gusts:=true", vehicle_name="anaconda").ready()
    forces = g.node("forces_and_moments")
    g.spin_until(lambda: not forces.awaited_services(), "the flight controller's mixer")
    for name in ("dynamics", "sil_board"):
        g.remove(g.node(name))
    g.idle(0.2)
    received = g.collect_messages(FORCES_AND_MOMENTS)
    state, pwm = g.truth, PwmOutput(values=[1500.0] * 14)
    wind, rates = Vector3Stamped(), Vector3Stamped()
    state.header.stamp.nanosec += 2_500_000
    for message in (pwm, wind, rates):
        message.header.stamp = state.header.stamp
    rates.vector.x = 0.3

    def send(topic: StepTopic[Any], message: Any) -> None:
        publisher = g.tester.create_publisher(topic.message_type, topic.name, topic.qos)
        g.idle(0.2)
        publisher.publish(message)
        g.idle(0.2)

    send(TRUTH_STATE, state)
    send(TRUTH_WIND, wind)
    send(PWM_OUTPUT, pwm)
    assert not received
    send(TRUTH_WIND_RATES, rates)
    assert [message.header.stamp for message in received] == [state.header.stamp]
    assert forces.wind_rates.tolist() == [0.3, 0.0, 0.0]


def test_rotation_of_the_air_is_published_with_each_truth_state(graph: Callable[..., Any]) -> None:
    settings = ("rotational_gusts:=true", "sim_has_wind:=true", "turbulence_model:=dryden_8785c", "seed:=3")
    g = graph(*(word for one in settings for word in ("-p", one)), vehicle_name="anaconda")
    states, rotations = g.collect_messages(TRUTH_STATE), g.collect_messages(TRUTH_WIND_RATES)
    g.ready().spin_for(0.5)
    # Both subscriptions may miss the first messages, and the last messages may be in transit.
    stamps = [[(m.header.stamp.sec, m.header.stamp.nanosec) for m in messages] for messages in (states, rotations)]
    first, last = max(one[0] for one in stamps), min(one[-1] for one in stamps)
    kept = [[stamp for stamp in one if first <= stamp <= last] for one in stamps]
    assert kept[0] == kept[1]
    assert len(kept[0]) > 100
    assert {m.header.frame_id for m in rotations} == {"body"}
    vector = g.node("forces_and_moments").wind_rates
    assert 0.0 < np.abs(vector).max() < 1.0
