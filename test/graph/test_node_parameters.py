"""Parameters of the nodes: described, refused with a reason, and changed while the simulation runs."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rosflight_msgs.msg import SimState

from rosflight_py_sim.ground.node_kinds import NODE_CLASSES
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.given_values import sources_of_arguments
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.nodes.running import SharedNames, node_class
from rosflight_py_sim.physics.fixedwing import FIXEDWING_PARAMETERS
from rosflight_py_sim.step.topics import IMU
from rosflight_py_sim.vehicles import vehicle

VEHICLE_FILE = str(vehicle("multirotor").parameter_file)

DYNAMICS = {"mass": 3.5, "Jxx": 0.08, "Jyy": 0.08, "Jzz": 0.12}
KARMAN = {"sim_has_wind": True, "wind_models": ["karman"]}
ROTORS = {
    "num_rotors": 2,
    "rotor_dists": [0.2, 0.2],
    "rotor_radial_angles": [90.0, 270.0],
    "rotor_rotation_directions": [1, -1],
    "V_max": 25.0,
    "CT_0": 0.09,
    "CT_1": -0.1,
    "CT_2": -0.1,
    "CQ_0": 0.004,
    "CQ_1": 0.001,
    "CQ_2": -0.01,
    "D_prop": 0.38,
    "R_motor": 0.04,
    "I_0": 1.5,
    "KQ": 0.03,
    "CD": 2.0,
    "A_c": 0.04,
    "CD_induced": 0.05,
}
THRUSTERS = {
    "num_thrusters": 3,
    "thruster_positions": [0.0, -0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0],
    "thruster_directions": [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    "thruster_forward_thrusts": [10.0],
    "linear_damping": [10.0] * 6,
    "quadratic_damping": [10.0] * 6,
}
WATER = {**THRUSTERS, "mass": 3.5, "V_max": 12.0}
POLICY = "rosflight_py_sim.parts.policy:neutral"
NEEDED: dict[str, dict[str, Any]] = {
    "policy_autopilot": {"policy": POLICY},
    "policy_controller": {"policy": POLICY, "output_kinds": ["motor", "servo"]},
    "standalone_dynamics": DYNAMICS,
    "multirotor_forces_and_moments": ROTORS,
    "auv_forces_and_moments": WATER,
    "auv_controller": {"mass": 3.5, "Jzz": 0.12, **THRUSTERS},
    "underwater_autopilot": {"mass": 3.5, "Jzz": 0.12, **THRUSTERS},
    "fixedwing_forces_and_moments": {p.name: p.default for p in FIXEDWING_PARAMETERS if p.required},
    "follower_autopilot": {"leader": "leader"},
    "fixedwing_autopilot": {"waypoint_file": "anaconda_waypoints.yaml"},
}

Start = Callable[..., SimulationNode]


@pytest.fixture
def start(ros_domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """A function that starts one node: executable, parameter files, ROS arguments, and values given in code."""
    # The recorder writes to the current folder.
    monkeypatch.chdir(tmp_path)
    nodes: list[SimulationNode] = []

    def construct(executable: str, *files: str, arguments: tuple[str, ...] = (), **values: Any) -> SimulationNode:
        given = ["--ros-args", *(part for file in files for part in ("--params-file", file)), *arguments]
        rclpy.init(args=["test", *given], signal_handler_options=SignalHandlerOptions.NO)
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        nodes.append(
            node_class(executable)(
                sources=sources_of_arguments(given),
                shared_names=SharedNames(),
                parameter_overrides=overrides,
            )
        )
        return nodes[-1]

    yield construct
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


class Hand(SimulationNode):
    """A node that declares a ROS parameter itself, beside those of its table."""

    DEFAULT_NAME = "hand"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.grip = self.declare_parameter("grip", 1.0).value
        self.fingers = self.declare_parameter("fingers", 5).value


def test_sources_of_a_graph_also_give_parameters_that_a_node_declares_itself(ros_domain: int, tmp_path: Path) -> None:
    file = tmp_path / "hand.yaml"
    file.write_text("/**: {ros__parameters: {grip: 2.0}}\n/foot: {ros__parameters: {fingers: 0}}\n")
    rclpy.init(args=["test"], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Hand(sources=[{"grip": 3.0}, file, {"foot:fingers": 1, "hand:fingers": 4, "fingers": 3}])
        assert (node.grip, node.fingers) == (2.0, 4)
        node.destroy_node()
        with pytest.raises(ParameterError, match=re.escape("'grip': [1, 'a'] given; allowed: a value of one ROS type")):
            Hand(sources=[{"grip": [1, "a"]}])
    finally:
        rclpy.shutdown()


@pytest.mark.parametrize("executable", NODE_CLASSES)
def test_every_parameter_descriptor_has_text_unit_and_range(start: Start, executable: str) -> None:
    node = start(executable, **NEEDED.get(executable, {}))
    assert len(node.PARAMETERS) > 0
    for parameter in node.PARAMETERS:
        descriptor = node.describe_parameter(parameter.name)
        assert parameter.text
        assert parameter.text in descriptor.description
        assert f"[{parameter.unit}]" in descriptor.description or not parameter.unit
        assert parameter.type_name in descriptor.additional_constraints
        assert parameter.allowed in descriptor.additional_constraints
        assert descriptor.read_only is parameter.read_only
        for allowed in (*descriptor.floating_point_range, *descriptor.integer_range):
            assert parameter.minimum in (allowed.from_value, float("-inf"))
            assert parameter.maximum in (allowed.to_value, float("inf"))


LISTS = {
    name: [p for p in node_class(name).PARAMETERS if isinstance(p.default, list)]
    for name in NODE_CLASSES
    if any(isinstance(p.default, list) for p in node_class(name).PARAMETERS)
}
LIST_TYPES = {
    bool: Parameter.Type.BOOL_ARRAY,
    int: Parameter.Type.INTEGER_ARRAY,
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}
# An element that the list does not accept, in the type used by the service.
WRONG: dict[type, Any] = {int: array("d", [0.5]), float: array("d", [float("nan")]), str: array("q", [1])}


@pytest.mark.parametrize("executable", LISTS)
def test_every_list_keeps_its_type_when_empty_and_when_set(start: Start, executable: str) -> None:
    node = start(executable, **NEEDED.get(executable, {}))
    for parameter in LISTS[executable]:
        expected = LIST_TYPES[parameter.scalar_type]
        declared = node.get_parameter(parameter.name)
        assert (parameter.name, declared.type_) == (parameter.name, expected)
        assert node.describe_parameter(parameter.name).type == expected.value
        value = list(declared.value)
        assert declared.get_parameter_value() == Parameter(parameter.name, expected, value).get_parameter_value()
        whole = [int(element) if element == int(element) else element for element in value] if expected == 8 else value
        given = [Parameter(parameter.name, value=whole)] if len({type(e) for e in whole}) < 2 else []
        for change in [*given, Parameter(parameter.name, expected, value)]:
            result = node.set_parameters([change])[0]
            assert result.successful or parameter.read_only, result.reason
            assert node.get_parameter(parameter.name).type_ == expected
            assert node.get_parameter(parameter.name).value == value


@pytest.mark.parametrize("executable", LISTS)
def test_every_list_descriptor_gives_element_count_and_limits(start: Start, executable: str) -> None:
    node = start(executable, **NEEDED.get(executable, {}))
    for parameter in LISTS[executable]:
        descriptor = node.describe_parameter(parameter.name)
        count = f"list of {parameter.length} " if parameter.length else "list of "
        assert descriptor.additional_constraints.startswith(count)
        if parameter.allowed:
            assert descriptor.additional_constraints.endswith(f"s, each {parameter.allowed}")
        ranges = [*descriptor.integer_range, *descriptor.floating_point_range]
        if not parameter.above_minimum and parameter.scalar_type in (int, float) and parameter.allowed:
            assert (ranges[0].from_value, ranges[0].to_value) == (parameter.minimum, parameter.maximum)


@pytest.mark.parametrize("executable", LISTS)
def test_rejected_list_is_quoted_as_written(start: Start, executable: str) -> None:
    node = start(executable, **NEEDED.get(executable, {}))
    for parameter in LISTS[executable]:
        wrong = WRONG[parameter.scalar_type]
        result = node.set_parameters([Parameter(parameter.name, value=wrong)])[0]
        assert not result.successful
        assert f"'{parameter.name}': {wrong.tolist()} given" in result.reason
        assert f"allowed: {parameter.type_name}" in result.reason
    text = node.set_parameters([Parameter(LISTS[executable][0].name, value="[0, 4.5]")])[0].reason
    assert "write all elements with the same type, as in [0.0, 4.5]" in text


@pytest.mark.parametrize("executable", NODE_CLASSES)
def test_each_node_takes_or_refuses_the_ends_of_each_range(start: Start, executable: str) -> None:
    node = start(executable, **NEEDED.get(executable, {}))
    for parameter in node.table:
        if parameter.read_only or parameter.scalar_type not in (int, float):
            continue
        old = node.values[parameter.name]
        for end in (parameter.minimum, parameter.maximum, 5e-324, 1e200):
            if parameter.scalar_type is int and end != int(min(end, 1e18)):
                continue
            number = parameter.scalar_type(end)
            value = [number] * (len(old) or parameter.length or 3) if isinstance(old, list) else number
            before = dict(node.values)
            result = node.set_parameters([Parameter(parameter.name, value=value)])[0]
            assert result.successful or "cannot be used" not in result.reason, result.reason
            assert result.successful or node.values == before
            assert (
                not result.successful or parameter.minimum <= end <= parameter.maximum or end in parameter.also_allowed
            )
        if old != []:
            node.set_parameters([Parameter(parameter.name, value=old)])


def without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


DYN, ROT, SEN = "standalone_dynamics", "multirotor_forces_and_moments", "standalone_sensors"
AUV = "auv_forces_and_moments"
BAD = {
    "missing": (DYN, without(DYNAMICS, "mass"), ["'mass' is missing", "required", "from 1e-06 to 1e+06 kg"]),
    "missing_rotors": (ROT, without(ROTORS, "D_prop"), ["'D_prop' is missing", "from 0.005 to 50 m"]),
    "thrusters": (AUV, {**WATER, "thruster_positions": [1.0]}, ["'thruster_positions'", "1 numbers", "allowed: 9"]),
    "buoyancy": (AUV, {**WATER, "net_buoyancy": -2e4}, ["'net_buoyancy'", "-20000.0 given", "from -10000 to 10000 N"]),
    "start": (
        DYN,
        {**DYNAMICS, "world": "pool", "initial_position": [30.0, 0.0]},
        ["'initial_position'", "north wall"],
    ),
    "world": (DYN, {**DYNAMICS, "world": "lake"}, ["'world'", "lake", "pool"]),
    "mass_0": (DYN, {**DYNAMICS, "mass": 0.0}, ["'mass'", "0.0 given", "from 1e-06 to 1e+06 kg"]),
    "mass_negative": (DYN, {**DYNAMICS, "mass": -1.0}, ["'mass'", "-1.0 given", "from 1e-06 to 1e+06 kg"]),
    "mass_nan": (DYN, {**DYNAMICS, "mass": float("nan")}, ["'mass'", "nan given"]),
    "mass_text": (DYN, {**DYNAMICS, "mass": "heavy"}, ["'mass'", "'heavy' given", "number"]),
    "inertia": (DYN, {**DYNAMICS, "Jxy": 0.2}, ["Jxy 0.2", "positive definite"]),
    "tiny_inertia": (DYN, {**DYNAMICS, "Jxx": 1e-6}, ["Jxx 1e-06 kg m^2", "contact_frequency 20 Hz", "at least 0.000"]),
    "undamped": (DYN, {**DYNAMICS, "contact_damping_ratio": 0.0}, ["contact_damping_ratio 0", "60 s"]),
    "vector_too_short": (DYN, {**DYNAMICS, "steady_state_wind": [1.0, 2.0]}, ["'steady_state_wind'", "2 elements"]),
    "contact_points": (DYN, {**DYNAMICS, "contact_points": [0.0, 0.1]}, ["'contact_points'", "2 numbers"]),
    "choice": (DYN, {**DYNAMICS, "turbulence_model": "karman"}, ["'turbulence_model'", "'karman'", "dryden_8785c"]),
    "wind_model": (DYN, {**DYNAMICS, **KARMAN}, ["'karman'", "wind_models given", "constant, shear, profile"]),
    "time_mode": (DYN, {**DYNAMICS, "time_mode": "fast"}, ["'time_mode'", "'fast'", "wall, paced, gated, lockstep"]),
    "rotor_lists": (ROT, {**ROTORS, "rotor_dists": [0.2]}, ["'rotor_dists'", "1 numbers given", "allowed: 2"]),
    "rotor_directions": (ROT, {**ROTORS, "rotor_rotation_directions": [1, 2]}, ["'rotor_rotation_directions'", "2"]),
    "rotor_count": (ROT, {**ROTORS, "num_rotors": 3}, ["rotor", "3"]),
    "whole_number": (ROT, {**ROTORS, "num_rotors": 2.5}, ["'num_rotors'", "2.5 given", "integer"]),
    "rate": (SEN, {"imu_update_frequency": 0.0}, ["'imu_update_frequency'", "0.0 given", "Hz"]),
    "stdev": (SEN, {"gyro_stdev": -1.0}, ["'gyro_stdev'", "-1.0 given", "from 0 to 100 rad/s"]),
    "boolean": ("sil_board", {"use_timer": "yes"}, ["'use_timer'", "'yes' given", "boolean"]),
    "no_file": ("sil_board", {"firmware_param_file": "/no/such"}, ["/no/such"]),
    "firmware_name": (
        "sil_board",
        {"firmware_parameters": ["PID_TAU 0.06", "PID_ROL_RATE_P 0.02"]},
        ["'firmware_parameters'", "no firmware parameter 'PID_ROL_RATE_P'", "did you mean PID_ROLL_RATE_P"],
    ),
    "firmware_value": (
        "sil_board",
        {"firmware_parameters": ["FAILSAFE_THR -0.5"]},
        ["'firmware_parameters'", "'FAILSAFE_THR'", "'-0.5' given; allowed: a number from 0 to 1, or -1"],
    ),
    "firmware_words": (
        "sil_board",
        {"firmware_parameters": ["PID_TAU: 0.06 s"]},
        ["'firmware_parameters'", "'PID_TAU: 0.06 s' given; allowed: a name and a value"],
    ),
    "vimfly": ("rc", {"use_vimfly": True, "device": "joystick"}, ["'device'", "'joystick' given", "keyboard"]),
    "mapping_file": ("rc", {"mapping_file": "/no/such"}, ["'mapping_file'", "/no/such", "No such file"]),
    "joystick_index": ("rc", {"joystick_index": -2}, ["'joystick_index'", "-2 given", "from -1 to 99"]),
    "multiplier": (
        "standalone_time_manager",
        {"real_time_multiplier": 0.0},
        ["'real_time_multiplier'", "from 0.001 to 1e+06"],
    ),
    "step_size": ("lockstep_time_manager", {"step_size": 1.0}, ["'step_size'", "1.0 given", "0.02 s"]),
    "misspelt": ("rc", {"rc_freqency": 50.0}, ["no parameter 'rc_freqency'", "'rc_frequency'"]),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_value_at_start_is_rejected_with_name_value_and_allowed_values(start: Start, case: str) -> None:
    executable, values, words = BAD[case]
    with pytest.raises(ParameterError) as refusal:
        start(executable, **values)
    for word in words:
        assert word in str(refusal.value)


def parameter_file(folder: Path, section: str, text: str) -> str:
    path = folder / "parameters.yaml"
    path.write_text(f"{section}:\n  ros__parameters:\n    {text}\n")
    return str(path)


@pytest.mark.parametrize("section", ["dynamics", "/dynamics", "/**/dynamics", "/standalone_dynamics"])
def test_misspelt_name_in_node_section_is_rejected(start: Start, tmp_path: Path, section: str) -> None:
    with pytest.raises(ParameterError, match=r"no parameter 'masss'; did you mean 'mass'"):
        start(DYN, VEHICLE_FILE, parameter_file(tmp_path, section, "masss: 2.0"))


def test_unknown_name_in_node_section_is_rejected(start: Start, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no parameter 'wingspan'"):
        start(DYN, VEHICLE_FILE, parameter_file(tmp_path, "/**/dynamics", "wingspan: 2.0"))


def test_near_miss_in_wildcard_section_is_rejected(start: Start, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no parameter 'gravty'; did you mean 'gravity'"):
        start(DYN, VEHICLE_FILE, parameter_file(tmp_path, "/**", "gravty: 9.0"))


def test_wildcard_section_may_hold_parameters_of_other_nodes(start: Start, tmp_path: Path) -> None:
    assert start(DYN, VEHICLE_FILE, parameter_file(tmp_path, "/**", "gyro_stdev: 0.1")).values["mass"] == 3.5


def test_rosflight_section_names_and_integers_are_accepted(start: Start, tmp_path: Path) -> None:
    node = start(DYN, VEHICLE_FILE, parameter_file(tmp_path, "/standalone_dynamics", "Jxx: 2"))
    assert node.values["Jxx"] == 2.0
    assert isinstance(node.get_parameter("Jxx").value, float)


def test_node_section_takes_precedence_over_rosflight_section(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(
        "/standalone_dynamics:\n  ros__parameters: {Jxx: 0.2, Jyy: 0.3}\ndynamics:\n  ros__parameters: {Jxx: 0.4}\n"
    )
    node = start(DYN, str(path), arguments=("-p", "mass:=1", "-p", "Jzz:=0.3"))
    assert [node.values[name] for name in ("mass", "Jxx", "Jyy", "Jzz")] == [1.0, 0.4, 0.3, 0.3]


def test_later_file_takes_precedence_under_either_name(start: Start, tmp_path: Path) -> None:
    rosflights, ours = tmp_path / "rosflights.yaml", tmp_path / "ours.yaml"
    rosflights.write_text("/standalone_dynamics:\n  ros__parameters: {mass: 1.5, Jxx: 0.2, Jyy: 0.3}\n")
    ours.write_text("/**/dynamics:\n  ros__parameters: {Jxx: 0.4}\n")
    node = start(DYN, VEHICLE_FILE, str(rosflights), str(ours), arguments=("-p", "Jyy:=0.5"))
    assert [node.values[name] for name in ("mass", "Jxx", "Jyy", "Jzz")] == [1.5, 0.4, 0.5, 0.12]


def sent(**values: Any) -> list[Any]:
    return [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]


REFUSED = {
    "mass_0": ("dynamics", {"mass": 0.0}, ["'mass'", "0.0 given", "from 1e-06 to 1e+06 kg"]),
    "mass_text": ("dynamics", {"mass": "heavy"}, ["'mass'", "'heavy' given", "number"]),
    "inertia": ("dynamics", {"Jxy": 0.5}, ["Jxy 0.5", "positive definite"]),
    "tiny_inertia": ("dynamics", {"Jxx": 1e-6}, ["Jxx 1e-06 kg m^2", "contact_frequency 20 Hz", "Jxx at least 0.000"]),
    "huge_mass": ("dynamics", {"mass": 1e6}, ["mass 1e+06 kg", "mass at most"]),
    "undamped": ("dynamics", {"contact_damping_ratio": 0.0}, ["contact_damping_ratio 0", "come to rest", "60 s"]),
    "lists": ("forces_and_moments", {"rotor_dists": [0.2]}, ["'rotor_dists'", "1 numbers given", "allowed: 4"]),
    "read_only": ("dynamics", {"seed": 4}, ["seed", "read-only"]),
    "range": ("sensors", {"gyro_stdev": -1.0}, ["'gyro_stdev'", "-1.0 given", "from 0 to 100 rad/s"]),
    "list": (
        "dynamics",
        {"steady_state_wind": [4.0, 0.0]},
        ["[4.0, 0.0] given (2 elements given)", "list of 3 numbers"],
    ),
    "step": ("time_manager", {"step_size": 5.0}, ["'step_size'", "5.0 given", "0.02 s"]),
    "unknown": ("dynamics", {"masss": 5.0}, ["no parameter 'masss'", "'mass'"]),
}


def test_rejected_change_gives_reason_and_changes_nothing(undisturbed_graph: Callable[..., Any]) -> None:
    g = undisturbed_graph().ready()
    for name, values, words in REFUSED.values():
        before = dict(g.node(name).values)
        current = g.call(f"{name}/get_parameters", GetParameters, names=list(values)).values
        for service, service_type in (
            ("set_parameters", SetParameters),
            ("set_parameters_atomically", SetParametersAtomically),
        ):
            answer = g.call(f"{name}/{service}", service_type, parameters=sent(**values))
            result = answer.result if service.endswith("atomically") else answer.results[0]
            assert not result.successful
            for word in words:
                assert word in result.reason, f"{result.reason!r} lacks {word!r}"
        assert g.node(name).values == before
        assert g.call(f"{name}/get_parameters", GetParameters, names=list(values)).values == current


def test_describe_parameters_service_returns_descriptors(undisturbed_graph: Callable[..., Any]) -> None:
    answer = undisturbed_graph().call("dynamics/describe_parameters", DescribeParameters, names=["mass", "Jxy"])
    assert answer.descriptors[0].additional_constraints == "number, from 1e-06 to 1e+06 kg"
    assert answer.descriptors[1].description.endswith("[kg m^2]")


def test_simultaneous_changes_apply_all_or_nothing(graph: Callable[..., Any]) -> None:
    g = graph()
    parameters = sent(mass=4.0, gravity=-1.0)
    answer = g.call("dynamics/set_parameters_atomically", SetParametersAtomically, parameters=parameters)
    assert not answer.result.successful
    assert "'gravity'" in answer.result.reason
    assert g.node("dynamics").values["mass"] == g.node("dynamics").get_parameter("mass").value == 3.5
    one_by_one = g.call("dynamics/set_parameters", SetParameters, parameters=parameters).results
    assert [result.successful for result in one_by_one] == [True, False]
    assert g.node("dynamics").values["mass"] == g.node("dynamics").get_parameter("mass").value == 4.0


def falling() -> SimState:
    """A level vehicle at altitude, falling at 20 m/s."""
    state = SimState()
    state.pose.position.z, state.pose.orientation.w, state.twist.linear.z = -1000.0, 1.0, 20.0
    return state


def test_mass_change_takes_effect_and_state_is_preserved(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    g.pause()
    g.set_state(falling())
    g.step()
    light, time_s = g.truth, g.time_s
    assert g.call("dynamics/set_parameters", SetParameters, parameters=sent(mass=7)).results[0].successful
    assert g.node("dynamics").values["mass"] == 7.0
    g.step()
    heavy = g.truth
    assert g.time_s == pytest.approx(time_s + 0.0025, abs=1e-9)
    assert heavy.twist.linear.z == pytest.approx(light.twist.linear.z, abs=0.03)
    # The drag changes by 5 % in a step, as the rotors begin to windmill, and acts on twice the mass.
    drag = [9.81 - truth.acceleration.linear.z for truth in (light, heavy)]
    assert drag[0] > 1.0
    assert drag[1] == pytest.approx(drag[0] / 2, rel=0.1)


def test_sensor_noise_change_takes_effect_and_bias_is_preserved(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    g.pause()
    errors = g.node("sensors").true_errors()
    bias = [errors["acc_bias_x"], errors["acc_bias_y"], errors["acc_bias_z"]]
    answer = g.call("sensors/set_parameters", SetParameters, parameters=sent(acc_noise_density=0.0, acc_resolution=0.0))
    assert all(result.successful for result in answer.results)
    assert g.node("sensors").true_errors() == errors
    imu = g.collect_messages(IMU)
    g.call("time_manager/toggle_pause")
    g.spin_until(lambda: len(imu) > 20)
    gravity = g.node("sensors").models["imu"].accel_response @ [0.0, 0.0, -9.81]
    for axis, expected in zip("xyz", bias + gravity, strict=True):
        readings = [getattr(message.linear_acceleration, axis) for message in imu[-10:]]
        # At rest; the bias walks 1e-5 m/s^2 and drifts 1e-4 m/s^2 with the temperature in a tenth of a second.
        assert readings == pytest.approx([expected] * 10, abs=3e-4)


@pytest.mark.parametrize("name", NODE_CLASSES)
def test_parameter_service_selects_no_file_but_waypoints(name: str) -> None:
    table = node_class(name).PARAMETERS
    free = [one.name for one in table if one.scalar_type is str and not one.choices and not one.read_only]
    assert set(free) <= {"waypoint_file", "wind_models", "failures"}
