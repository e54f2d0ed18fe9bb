"""The command that loads parameters into a running flight controller, calibrates it and stores the parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rosflight_msgs.msg import Status
from rosflight_msgs.srv import ParamGet, ParamSet
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

from rosflight_py_sim.firmware import ErrorFlag
from rosflight_py_sim.step.qos import CHAIN
from rosflight_py_sim.step.topics import IMU, STATUS
from test.processes.conftest import Processes


def parameter_file(folder: Path, *entries: str) -> str:
    path = folder / "outside" / "mine.yaml"
    path.parent.mkdir()
    path.write_text("".join(f"- {{{entry}}}\n" for entry in entries))
    return str(path)


def test_parameters_of_a_named_file_are_in_force_and_the_imu_is_calibrated(
    processes: Processes, tmp_path: Path
) -> None:
    file = parameter_file(
        tmp_path,
        "name: PID_ROLL_RATE_P, type: 9, value: 1.25",
        "name: RC_OVRD_LAG_T, type: 6, value: 33",
        "name: NO_SUCH, type: 9, value: 1.0",
        "name: OLD_NAME, type: 6, value: 1",
    )
    processes.command("sim")
    observer = processes.observer(truth="none")
    received: list[Status] = []
    observer.node.create_subscription(Status, STATUS.name, received.append, CHAIN)
    command = processes.command("prepare-firmware", file)
    observer.wait_for(lambda: command.process.poll() is not None, "the end", 90.0)
    assert command.wait() == 0, command.stderr
    assert command.stdout.splitlines()[0] == f"2 parameters of {file} are in force"
    assert command.stdout.splitlines()[-1] == "prepared"
    assert f"{file}: not parameters of this flight controller, ignored: NO_SUCH, OLD_NAME" in command.stderr
    received.clear()
    observer.wait_for(lambda: bool(received), "the status")
    assert not received[-1].error_code & ErrorFlag.UNCALIBRATED_IMU
    client = observer.node.create_client(ParamGet, "param_get")
    observer.wait_for(client.service_is_ready, "param_get")
    for name, value in (("PID_ROLL_RATE_P", 1.25), ("RC_OVRD_LAG_T", 33.0)):
        answer = client.call_async(ParamGet.Request(name=name))
        observer.wait_for(answer.done, "the value")
        assert answer.result().value == value


def test_a_value_that_is_not_taken_fails_with_what_is_in_force(processes: Processes, tmp_path: Path) -> None:
    file = parameter_file(tmp_path, "name: RC_TYPE, type: 6, value: 77", "name: RC_NUM_CHN, type: 6, value: 8")
    processes.command("sim")
    command = processes.command("prepare-firmware", file)
    assert command.wait(120.0) == 1
    text = "the flight controller did not take 1 of 2 parameters: RC_TYPE: 77 given, 0 in force"
    assert command.error_lines[-1] == f"rosflight_py_sim: {file}: {text}"
    assert "prepared" not in command.stdout


def test_a_file_without_any_parameter_of_the_flight_controller_fails(processes: Processes, tmp_path: Path) -> None:
    file = parameter_file(tmp_path, "name: NO_SUCH, type: 9, value: 1.0", "name: OLD_NAME, type: 6, value: 1")
    processes.command("sim")
    command = processes.command("prepare-firmware", file)
    assert command.wait(120.0) == 1
    text = "none of its 2 parameters is one of this flight controller"
    assert command.error_lines[-1] == f"rosflight_py_sim: {file}: {text}"
    assert "prepared" not in command.stdout


def test_a_file_that_cannot_be_read_fails_at_once(processes: Processes, tmp_path: Path) -> None:
    command = processes.command("prepare-firmware", str(tmp_path / "none.yaml"))
    assert command.wait(60.0) == 1
    assert f"{tmp_path / 'none.yaml'}: " in command.error_lines[0]
    assert len(command.error_lines) == 1


class LinkedFlightController:
    """A flight controller behind a slow link, as ROSflight's: parameters arrive late, and values take effect late."""

    def __init__(self, node: Any) -> None:
        self.called: list[str] = []
        self._values = {"RC_TYPE": 0.0}
        self._pending: dict[str, list[float]] = {}
        self._asked, self._imu_count, self._calibrating = 0, 0, False
        self._calibrated = False
        node.create_service(Trigger, "all_params_received", self._received)
        node.create_service(ParamSet, "param_set", self._set)
        node.create_service(ParamGet, "param_get", self._get)
        node.create_service(Trigger, "calibrate_imu", self._calibrate)
        node.create_service(Trigger, "param_write", self._write)
        self._imu = node.create_publisher(Imu, IMU.name, IMU.qos)
        self._status = node.create_publisher(Status, STATUS.name, CHAIN)
        node.create_timer(0.002, self._on_imu)
        node.create_timer(0.05, self._on_status)

    def _received(self, request: Any, response: Any) -> Any:
        self._asked += 1
        response.success = self._asked > 3
        return response

    def _set(self, request: Any, response: Any) -> Any:
        assert self._asked > 3
        self.called.append("param_set")
        response.exists = request.name in self._values
        if response.exists:
            # In force at the third reading.
            self._pending[request.name] = [self._values[request.name]] * 2 + [request.value]
        return response

    def _get(self, request: Any, response: Any) -> Any:
        pending = self._pending.get(request.name, [])
        if pending:
            self._values[request.name] = pending.pop(0)
        response.exists, response.value = True, self._values[request.name]
        return response

    def _calibrate(self, request: Any, response: Any) -> Any:
        self.called.append("calibrate_imu")
        self._imu_count, self._calibrating = 0, True
        response.success = True
        return response

    def _write(self, request: Any, response: Any) -> Any:
        self.called.append("param_write")
        response.success = self._calibrated
        response.message = "" if response.success else "written before the calibration ended"
        return response

    def _on_imu(self) -> None:
        self._imu.publish(Imu())
        self._imu_count += 1
        self._calibrated = self._calibrated or (self._calibrating and self._imu_count > 1001)

    def _on_status(self) -> None:
        self._status.publish(Status(error_code=0 if self._calibrated else int(ErrorFlag.UNCALIBRATED_IMU)))


def test_a_flight_controller_behind_a_link_is_waited_for(processes: Processes, tmp_path: Path) -> None:
    file = parameter_file(tmp_path, "name: RC_TYPE, type: 6, value: 1")
    observer = processes.observer(truth="none")
    controller = LinkedFlightController(observer.node)
    command = processes.command("prepare-firmware", file)
    observer.wait_for(lambda: command.process.poll() is not None, "the end", 120.0)
    assert command.wait() == 0, command.stderr
    assert controller.called == ["param_set", "calibrate_imu", "param_write"]
