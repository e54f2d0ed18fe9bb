"""One simulation on two machines, each a network namespace: the same flight, even if the cable is unplugged."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.divided_graph import divided
from benchmarks.separate_graph import node_processes
from benchmarks.two_machines import DOMAIN, Cable, Machine, NotAllowedError, two_machines
from proof.outside_subscriber import outside_subscriber
from proof.separate_processes import Comparison, hashes_in_one_process
from rosflight_py_sim.vehicles import vehicle
from test.processes.test_sockets import sockets

pytestmark = pytest.mark.timeout(240)

LIMIT_S = 100.0

# A disarmed multirotor that falls from a height through turbulent wind. Neither service calls, which take effect at
# another step in each run, nor the first stick frames and the mixer, for which no node waits, influence this flight.
COPTER = vehicle("multirotor")
IN_THE_AIR = ("-p", "starts_on_ground:=false", "-p", "initial_altitude:=300.0", "-p", "seed:=7")
FALL = (*IN_THE_AIR, "--params-file", str(COPTER.weather_file))

# Simulated time, s: of the flight, and before the cable is unplugged.
FALL_S, PLUGGED_S = 1.5, 0.3

# Slowly, because no node waits for the subscriber.
PACE = ("-p", "real_time_multiplier:=0.5")

Machines = tuple[Machine, Machine, Cable]


@pytest.fixture
def machines() -> Iterator[Machines]:
    try:
        with two_machines() as made:
            yield made
    except NotAllowedError as error:
        pytest.skip(f"this system does not allow two machines: {error}")


def test_divided_flight_equals_that_in_one_process_although_the_cable_is_unplugged(
    machines: Machines, tmp_path: Path
) -> None:
    one, two, cable = machines
    expected = hashes_in_one_process("multirotor", FALL_S, tmp_path / "one.mcap", FALL)
    with (
        outside_subscriber(FALL_S, two.start) as onlooker,
        outside_subscriber(PLUGGED_S, one.start) as beginning,
        node_processes(COPTER, *FALL, *PACE, start=divided(one, two)),
    ):
        beginning.wait(LIMIT_S)
        # A cable that is unplugged amid a step may separate a node from a state that the others have: see the docs.
        toggle_pause(one)
        cable.unplug()
        toggle_pause(one)
        report = reported_by_time_manager(one)
        cable.plug()
        onlooker.wait(LIMIT_S)
    assert report.startswith("stalled at ") and report.endswith("no sim/truth_state"), report
    comparison = Comparison(expected, onlooker, FALL_S)
    assert comparison.differences == []
    assert comparison.compared > 4000


TOGGLE = """
from rosflight_py_sim.ground.process_environment import stay_on_this_machine
stay_on_this_machine()
import rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("toggle")
client = node.create_client(Trigger, "time_manager/toggle_pause")
assert client.wait_for_service(60.0)
future = client.call_async(Trigger.Request())
rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
assert future.result().success
"""


def toggle_pause(machine: Machine) -> None:
    """Pause or resume the simulation from a machine."""
    assert machine.start([sys.executable, "-c", TOGGLE]).wait(LIMIT_S) == 0


def reported_by_time_manager(machine: Machine) -> str:
    """Message in the time manager's report, as `status` shows it on a machine."""
    words = [sys.executable, "-m", "rosflight_py_sim", "status", "--once", "--json"]
    with machine.start(words, stdout=subprocess.PIPE, text=True) as status:
        printed, _ = status.communicate(timeout=LIMIT_S)
    assert status.returncode == 1
    (manager,) = (one for one in json.loads(printed)["nodes"] if one["name"].strip("/") == "time_manager")
    return str(manager["message"])


# Address of the first machine in another network.
ELSEWHERE = "198.51.100.1"


def test_node_with_a_peer_receives_only_at_loopback_and_at_the_address_that_leads_to_the_peer(
    machines: Machines,
) -> None:
    one, _, _ = machines
    one.run("ip", "address", "add", f"{ELSEWHERE}/24", "dev", "lo")
    node = one.start([sys.executable, "-m", "rosflight_py_sim.executables", "rc", "--ros-args", "-p", "device:=none"])
    try:
        end_s = time.monotonic() + LIMIT_S
        # The last of the two ports of the first participant in the domain.
        port = 7411 + 250 * DOMAIN
        while not any(found.port == port for found in sockets(node.pid)):
            assert time.monotonic() < end_s and node.poll() is None
            time.sleep(0.1)
        of_ros = {found.address for found in sockets(node.pid) if 7400 <= found.port - 250 * DOMAIN < 7650}
    finally:
        node.terminate()
        node.wait()
    assert of_ros == {"127.0.0.1", one.address}


def test_program_that_starts_without_a_link_warns_that_it_stays_on_its_machine(machines: Machines) -> None:
    one, two, cable = machines
    cable.unplug()
    code = "from rosflight_py_sim.ground.process_environment import address_towards as a; print(a({!r}))"
    end_s = time.monotonic() + LIMIT_S
    printed = two.address
    # Linux notices the end of a link within a second.
    while printed.strip() != "127.0.0.1":
        assert time.monotonic() < end_s, printed
        words = [sys.executable, "-c", code.format(two.address)]
        with one.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            printed, warning = program.communicate(timeout=LIMIT_S)
    assert f"ROS_STATIC_PEERS: no network leads to '{two.address}' now" in warning


def test_peers_in_several_networks_are_refused_with_both_addresses(machines: Machines) -> None:
    one, two, _ = machines
    one.run("ip", "address", "add", f"{ELSEWHERE}/24", "dev", "lo")
    peers = f"{two.address};{ELSEWHERE}"
    code = f"from rosflight_py_sim.ground.process_environment import address_towards as a; a({peers!r})"
    with one.start([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as program:
        _, printed = program.communicate(timeout=LIMIT_S)
    error = printed.splitlines()[-1]
    assert f"ROS_STATIC_PEERS: '{peers}' given" in error
    assert f"'{two.address}' from {one.address}, '{ELSEWHERE}' from {ELSEWHERE}" in error
    assert "ROSFLIGHT_PY_SIM_ADDRESS" in error
