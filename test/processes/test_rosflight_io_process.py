"""rosflight_io in a process of its own, beside a simulation that leaves its interface to it."""

from __future__ import annotations

from typing import Any

import pytest
from free_ports import free_ports
from rosflight_msgs.srv import ParamGet
from std_srvs.srv import Trigger

from test.processes.conftest import few_steps

pytestmark = pytest.mark.timeout(240)


def test_node_connects_and_goes_on_after_a_restart(processes: Any) -> None:
    board_port, program_port = free_ports(2)
    ports = [f"{name}:={port}" for name, port in (("bind_port", program_port), ("remote_port", board_port))]
    io = [word for one in (*ports, "use_sim_time:=true") for word in ("-p", one)]
    first = processes.node("rosflight_io", *io)
    link = (f"mavlink.port:={board_port}", f"mavlink.peer_port:={program_port}")
    arguments = [word for one in (*link, "device:=none") for word in ("-p", one)]
    processes.command("sim", "--rosflight-io", "none", "--ros-args", *few_steps("lockstep"), *arguments)
    observer = processes.observer()

    def has_all() -> bool:
        return bool(observer.call(Trigger, "all_params_received", Trigger.Request()).success)

    observer.wait_for(has_all, "all parameters")
    assert "calibrating" in observer.trigger("calibrate_imu")
    first.signal(2)
    assert first.wait() == 0, first.stderr
    processes.node("rosflight_io", *io)
    observer.wait_for(has_all, "all parameters again")
    answer = observer.call(ParamGet, "param_get", ParamGet.Request(name="RC_NUM_CHN"))
    assert (answer.exists, answer.value) == (True, 8.0)


def test_second_program_on_the_port_is_refused_in_one_line(processes: Any) -> None:
    (port,) = free_ports(1)
    processes.node("rosflight_io", "-p", f"bind_port:={port}")
    observer = processes.observer(truth="none")
    observer.wait_for(lambda: observer.has_node("rosflight_io"), "the node")
    second = processes.node("rosflight_io", "-p", f"bind_port:={port}")
    assert second.wait() != 0
    assert f"127.0.0.1:{port}" in second.stderr and "in use" in second.stderr
