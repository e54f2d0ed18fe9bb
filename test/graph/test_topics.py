"""Names, types, rates and QoS match those of ROSflight's nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from geometry_msgs.msg import Vector3Stamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosflight_msgs.msg import (
    GNSS,
    Airspeed,
    Attitude,
    Barometer,
    BatteryStatus,
    OutputRaw,
    PwmOutput,
    RCRaw,
    SimState,
    Status,
)
from sensor_msgs.msg import Imu, MagneticField, Range, Temperature

from rosflight_py_sim.ground.stamps import NANOSECONDS, time_ns_of
from rosflight_py_sim.step.topics import GNSS_FIX

# Topic: type, publishing nodes, subscribing nodes.
STEP = {
    "sim/RC": ("rosflight_msgs/msg/RCRaw", ["rc"], ["sil_board"]),
    "sim/pwm_output": ("rosflight_msgs/msg/PwmOutput", ["sil_board"], ["forces_and_moments"]),
    "sim/forces_and_moments": ("geometry_msgs/msg/WrenchStamped", ["forces_and_moments"], ["dynamics"]),
    "sim/truth_state": ("rosflight_msgs/msg/SimState", ["dynamics"], ["forces_and_moments", "sensors"]),
    "sim/truth_wind": ("geometry_msgs/msg/Vector3Stamped", ["dynamics"], ["forces_and_moments", "sensors"]),
    "sim/sensors/imu/data": ("sensor_msgs/msg/Imu", ["sensors"], ["sil_board"]),
    "sim/sensors/imu/temperature": ("sensor_msgs/msg/Temperature", ["sensors"], ["sil_board"]),
    "sim/sensors/mag": ("sensor_msgs/msg/MagneticField", ["sensors"], ["sil_board"]),
    "sim/sensors/baro": ("rosflight_msgs/msg/Barometer", ["sensors"], ["sil_board"]),
    "sim/sensors/gnss": ("rosflight_msgs/msg/GNSS", ["sensors"], ["sil_board"]),
    "sim/sensors/diff_pressure": ("rosflight_msgs/msg/Airspeed", ["sensors"], ["sil_board"]),
    "sim/sensors/range": ("sensor_msgs/msg/Range", ["sensors"], ["sil_board"]),
    "sim/sensors/battery": ("rosflight_msgs/msg/BatteryStatus", ["sensors"], ["sil_board"]),
    "sim/truth_errors": ("sensor_msgs/msg/JointState", ["sensors"], []),
    "sim/truth_imu_bias": ("sensor_msgs/msg/Imu", ["sensors"], []),
}
FLIGHT_CONTROLLER = {
    "command": ("rosflight_msgs/msg/Command", [], ["sil_board"]),
    "aux_command": ("rosflight_msgs/msg/AuxCommand", [], ["sil_board"]),
    "external_attitude": ("rosflight_msgs/msg/Attitude", [], ["sil_board"]),
    "status": ("rosflight_msgs/msg/Status", ["sil_board"], []),
    "status/params_changed": ("std_msgs/msg/Bool", ["sil_board"], []),
    "status/unsaved_params": ("std_msgs/msg/Bool", ["sil_board"], []),
    "status/rosflight_errors": ("rosflight_msgs/msg/Error", ["sil_board"], []),
    "attitude": ("rosflight_msgs/msg/Attitude", ["sil_board"], []),
    "attitude/euler": ("geometry_msgs/msg/Vector3Stamped", ["sil_board"], []),
    "imu/data": ("sensor_msgs/msg/Imu", ["sil_board"], []),
    "imu/temperature": ("sensor_msgs/msg/Temperature", ["sil_board"], []),
    "output_raw": ("rosflight_msgs/msg/OutputRaw", ["sil_board"], []),
    "rc_raw": ("rosflight_msgs/msg/RCRaw", ["sil_board"], []),
    "airspeed": ("rosflight_msgs/msg/Airspeed", ["sil_board"], []),
    "baro": ("rosflight_msgs/msg/Barometer", ["sil_board"], []),
    "magnetometer": ("sensor_msgs/msg/MagneticField", ["sil_board"], []),
    "range": ("sensor_msgs/msg/Range", ["sil_board"], []),
    "battery": ("rosflight_msgs/msg/BatteryStatus", ["sil_board"], []),
    "gnss": ("rosflight_msgs/msg/GNSS", ["sil_board"], []),
    "version": ("std_msgs/msg/String", ["sil_board"], []),
}
TOPICS = {**STEP, **FLIGHT_CONTROLLER}
LATCHED = {"status/unsaved_params", "status/rosflight_errors", "version", "sim/truth_state", "sim/truth_wind"}
LATCHED |= {"sim/sensors/imu/data"}

TRIGGERS = [
    "time_manager/toggle_pause",
    "time_manager/step",
    "toggle_arm",
    "toggle_override",
    "sil_board/run",
    "rosflight_sil/take_sim_step",
    "param_write",
    "all_params_received",
    "calibrate_imu",
]
SERVICES = {
    **dict.fromkeys(TRIGGERS, "std_srvs/srv/Trigger"),
    "dynamics/set_sim_state": "rosflight_msgs/srv/SetSimState",
    "param_get": "rosflight_msgs/srv/ParamGet",
    "param_set": "rosflight_msgs/srv/ParamSet",
    "param_save_to_file": "rosflight_msgs/srv/ParamFile",
    "param_load_from_file": "rosflight_msgs/srv/ParamFile",
}

RATES: dict[str, tuple[Any, int]] = {
    "sim/truth_state": (SimState, 400),
    "sim/truth_wind": (Vector3Stamped, 400),
    "sim/forces_and_moments": (WrenchStamped, 400),
    "sim/pwm_output": (PwmOutput, 400),
    "sim/sensors/imu/data": (Imu, 400),
    "attitude": (Attitude, 400),
    "attitude/euler": (Vector3Stamped, 400),
    "imu/data": (Imu, 400),
    "sim/sensors/battery": (BatteryStatus, 200),
    "sim/sensors/baro": (Barometer, 100),
    "sim/sensors/diff_pressure": (Airspeed, 100),
    "sim/sensors/mag": (MagneticField, 50),
    "sim/sensors/imu/temperature": (Temperature, 50),
    "sim/RC": (RCRaw, 50),
    "rc_raw": (RCRaw, 50),
    "output_raw": (OutputRaw, 50),
    "sim/sensors/range": (Range, 20),
    "sim/sensors/gnss": (GNSS, 10),
    "status": (Status, 10),
}


def nodes(ends: list[Any]) -> set[str]:
    return {end.node_name for end in ends}


@pytest.mark.parametrize("namespace", ["uav1", ""])
def test_all_topics_and_services_exist_with_their_types(undisturbed_graph: Callable[..., Any], namespace: str) -> None:
    g = undisturbed_graph(namespace=namespace).ready()
    tester = g.tester
    place = f"/{namespace}/" if namespace else "/"
    g.spin_until(lambda: tester.count_publishers("version") == 1 and tester.count_publishers("/clock") == 1)
    for topic, (kind, publishers, listeners) in TOPICS.items():
        published = tester.get_publishers_info_by_topic(topic)
        received = [end for end in tester.get_subscriptions_info_by_topic(topic) if end.node_name != "tester"]
        assert nodes(published) == set(publishers), topic
        assert nodes(received) >= set(listeners), topic
        for end in (*published, *received):
            assert end.topic_type == kind, topic
            assert end.node_namespace == place.rstrip("/") or end.node_namespace == place
            assert end.qos_profile.reliability == ReliabilityPolicy.RELIABLE, topic
        for end in published:
            latched = end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            assert latched is (topic in LATCHED), topic
    services = dict(tester.get_service_names_and_types())
    for service, kind in SERVICES.items():
        assert services.get(place + service) == [kind], service
    assert dict(tester.get_topic_names_and_types())["/clock"] == ["rosgraph_msgs/msg/Clock"]


def test_subscribers_of_any_qos_receive_messages(undisturbed_graph: Callable[..., Any]) -> None:
    g = undisturbed_graph(namespace="").ready()
    careless = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    received = [g.collect_messages(topic, kind, careless) for topic, (kind, _) in RATES.items()]
    g.spin_until(lambda: all(received))


def test_topics_can_be_renamed(graph: Callable[..., Any]) -> None:
    g = graph("-r", "sim/truth_wind:=sim/wind_truth", "-r", "sim/RC:=rc").ready()
    g.spin_for(0.1)
    assert nodes(g.tester.get_publishers_info_by_topic("/sim/wind_truth")) == {"dynamics"}
    assert nodes(g.tester.get_subscriptions_info_by_topic("/rc")) == {"sil_board"}
    # A query for the old name would itself be remapped.
    assert not {"/sim/RC", "/sim/truth_wind"} & set(dict(g.tester.get_topic_names_and_types()))


def test_each_topic_has_its_rate_in_simulated_time(graph: Callable[..., Any]) -> None:
    g = graph().ready()
    # The first fix of the GNSS receiver arrives after its latency.
    g.spin_for(0.2)
    g.pause()
    received = {topic: g.collect_messages(topic, kind, QoSProfile(depth=50)) for topic, (kind, _) in RATES.items()}
    for topic in RATES:
        g.spin_until(lambda topic=topic: g.tester.count_publishers(topic) == 1)
    g.idle(0.3)
    for messages in received.values():
        messages.clear()
    start = g.time_ns
    g.set_parameter("time_manager", "step_count", 400)
    assert g.call("time_manager/step").success
    g.spin_until(lambda: g.time_ns == start + 10**9)
    g.idle(0.1)
    assert {topic: len(messages) for topic, messages in received.items()} == {
        topic: n for topic, (_, n) in RATES.items()
    }


def test_time_of_a_fix_is_start_date_plus_simulated_time(graph: Callable[..., Any]) -> None:
    g = graph("-p", "start_date:=2026-07-01T14:00:00+02:00")
    fixes = g.collect_messages(GNSS_FIX)
    g.ready()
    g.spin_until(lambda: len(fixes) >= 3)
    for fix in fixes:
        unix_ns = fix.gnss_unix_seconds * NANOSECONDS + fix.gnss_unix_nanos
        assert unix_ns == 1_782_907_200 * NANOSECONDS + time_ns_of(fix.header.stamp)
