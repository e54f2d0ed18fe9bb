"""The PX4 front-end on real sockets, fed with snapshots instead of a simulation."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import socket
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from free_ports import free_ports

from rosflight_py_sim.bridge.front_end_interface import START_OVER, Snapshot
from rosflight_py_sim.bridge.px4_front_end import Px4FrontEnd
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.step.topics import AirspeedSample, BaroSample, GnssSample, MagSample, RangeSample
from test.bridge.logged_lines import LoggedLines
from test.bridge.px4_client import Px4Client

STEP_NS = 2_500_000
STEP_US = STEP_NS // 1000

# Bits of HIL_SENSOR.fields_updated, from MAVLink's common.xml (HIL_SENSOR_UPDATED_FLAGS).
ACCEL, GYRO, MAG, ABS_PRESSURE, DIFF_PRESSURE, PRESSURE_ALT, TEMPERATURE = 0x7, 0x38, 0x1C0, 0x200, 0x400, 0x800, 0x1000
IMU, BARO = ACCEL | GYRO, ABS_PRESSURE | PRESSURE_ALT | TEMPERATURE

# Answers in a row after which the front-end waits for each; more than it needs.
REGULAR = 60


def snapshot(step: int, **fields: Any) -> Snapshot:
    """A vehicle at rest, whose IMU has noise."""
    truth = np.zeros(19)
    truth[3] = 1.0
    noise = 0.01 * (step % 7)
    return dataclasses.replace(
        Snapshot(step * STEP_NS, truth, (0.0, 0.0, 0.0), (noise, 0.0, 0.0), (noise, 0.0, -9.81)), **fields
    )


@dataclasses.dataclass
class Bench:
    """A front-end, whose clock stands still until the test changes `now_s`.

    Attributes:
        step: number of the next step.
    """

    front_end: Px4FrontEnd
    log: LoggedLines
    ports: list[int]
    new_client: Callable[..., Px4Client]
    now_s: float = 100.0
    step: int = 0

    def exchange(self, vehicle: int = 0, **fields: Any) -> Any:
        """Pass the next step's snapshot."""
        self.snapshot = snapshot(self.step, **fields)
        self.step += 1
        return self.again(vehicle)

    def again(self, vehicle: int = 0) -> Any:
        """Pass the last snapshot again: once to accept connections, and once to read what they have sent."""
        answer = self.front_end.exchange(vehicle, self.snapshot)
        return answer if answer is not None else self.front_end.exchange(vehicle, self.snapshot)

    @property
    def time_us(self) -> int:
        """Time of the last snapshot."""
        return self.snapshot.time_ns // 1000

    def connected(self, vehicle: int = 0) -> Px4Client:
        """A PX4 that boots: it has sent its first messages."""
        client = self.new_client(vehicle)
        client.greet()
        return client

    def in_lockstep(self, vehicle: int = 0) -> Px4Client:
        """A PX4 that answers each step; the last snapshot awaits its outputs."""
        client = self.connected(vehicle)
        self.exchange(vehicle)
        self.answered_steps(client, vehicle)
        self.exchange(vehicle)
        client.received()
        return client

    def answered_steps(self, client: Px4Client, vehicle: int = 0) -> None:
        """Take steps in real time, each of which the PX4 answers."""
        for _ in range(REGULAR):
            self.exchange(vehicle)
            client.outputs(self.time_us)
            self.again(vehicle)
            self.now_s += STEP_NS / 1e9
            self.again(vehicle)


@pytest.fixture
def make_bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """A function (vehicles, observed vehicles, **parameters without 'px4.') that makes a bench."""
    with contextlib.ExitStack() as closing:

        def make(vehicles: tuple[str, ...] = ("",), observed: Any = None, **settings: Any) -> Bench:
            port = free_ports(len(vehicles), apart=1)[0]
            given = {"px4.port": port} | {f"px4.{name}": value for name, value in settings.items()}
            log = LoggedLines()
            front_end = Px4FrontEnd(Px4FrontEnd.PARAMETERS.checked(given), log, vehicles, observed or {})
            closing.callback(front_end.close)
            front_end.open()
            ports = [port + vehicle for vehicle in range(len(vehicles))]

            def new_client(vehicle: int = 0) -> Px4Client:
                client = Px4Client(ports[vehicle])
                closing.callback(client.close)
                return client

            made = Bench(front_end, log, ports, new_client)
            monkeypatch.setattr(time, "monotonic", lambda: made.now_s)
            return made

        yield make


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()


def sensors(messages: list[Any]) -> list[Any]:
    return [one for one in messages if one.get_type() == "HIL_SENSOR"]


# Measurements.


def test_no_step_before_a_px4_has_sent_a_message(bench: Bench) -> None:
    assert bench.exchange() is None
    client = bench.new_client()
    assert bench.again() is None
    assert client.received() == []
    assert bench.front_end.counters == {}


def test_measurements_have_px4s_units_axes_and_bits(bench: Bench) -> None:
    client = bench.connected()
    bench.exchange(
        gyro=(0.1, -0.2, 0.3),
        accel_body=(1.0, -2.0, -9.0),
        mag=MagSample(0, (2e-5, -1e-5, 4e-5)),
        baro=BaroSample(0, 1400.0, 86000.0, 279.15),
        airspeed=AirspeedSample(0, 18.0, 175.0, 279.15),
        gnss=GnssSample(0, 3, 14, 40.25, -111.65, 1390.5, 1.25, 2.5, 3.0, -4.0, 0.5, 0.2, 1_767_225_600, 250_000_000),
        ranges=(RangeSample(0, 0.1, 0.2, 12.0, 3.25, 0.0004),),
    )
    by_name = {one.get_type(): one for one in client.received()}
    sensor, gps, distance = (by_name[name] for name in ("HIL_SENSOR", "HIL_GPS", "DISTANCE_SENSOR"))
    assert sensor.fields_updated == IMU | MAG | BARO | DIFF_PRESSURE and sensor.id == 0
    assert (sensor.xgyro, sensor.ygyro, sensor.zgyro) == pytest.approx((0.1, -0.2, 0.3))
    assert (sensor.xacc, sensor.yacc, sensor.zacc) == pytest.approx((1.0, -2.0, -9.0))
    # Gauss, hPa, deg C.
    assert (sensor.xmag, sensor.ymag, sensor.zmag) == pytest.approx((0.2, -0.1, 0.4))
    assert (sensor.abs_pressure, sensor.pressure_alt) == pytest.approx((860.0, 1400.0))
    assert (sensor.diff_pressure, sensor.temperature) == pytest.approx((1.75, 6.0), rel=1e-5)
    # 1e-7 deg, mm, cm, cm/s, 0.01 deg, Unix time in us.
    assert (gps.lat, gps.lon, gps.alt) == (402_500_000, -1_116_500_000, 1_390_500)
    assert (gps.eph, gps.epv, gps.vel, gps.vn, gps.ve, gps.vd) == (125, 250, 500, 300, -400, 50)
    assert gps.cog == round(100.0 * (360.0 - math.degrees(math.atan2(4.0, 3.0))))
    assert (gps.fix_type, gps.satellites_visible, gps.time_usec) == (3, 14, 1_767_225_600_250_000)
    assert (distance.min_distance, distance.max_distance, distance.current_distance) == (20, 1200, 325)
    assert (distance.orientation, distance.covariance) == (25, 4)


def test_each_measurement_is_sent_once(bench: Bench) -> None:
    client = bench.connected()
    slow = {"mag": MagSample(0, (2e-5, 0.0, 4e-5)), "baro": BaroSample(0, 0.0, 1e5, 288.0)}
    fix = GnssSample(0, 3, 14, 40.0, -111.0, 1390.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.2, 0, 0)
    updated = []
    for step in range(4):
        if step == 3:
            slow["baro"] = BaroSample(STEP_NS, 0.0, 1e5, 288.0)
        bench.exchange(**slow, gnss=fix)
        bench.now_s += 1.0
        messages = client.received()
        updated.append((sensors(messages)[0].fields_updated, len(messages) - 1))
        bench.again()
    assert updated == [(IMU | MAG | BARO, 1), (IMU, 0), (IMU, 0), (IMU | BARO, 0)]


def test_stamps_are_simulated_time_and_repeated_snapshots_are_not_sent_again(bench: Bench) -> None:
    client = bench.connected()
    for _ in range(3):
        bench.exchange()
        bench.now_s += 1.0
        bench.again()
        bench.again()
    assert [one.time_usec for one in sensors(client.received())] == [0, STEP_US, 2 * STEP_US]


def test_readings_beyond_px4s_range_are_limited_to_it(bench: Bench) -> None:
    client = bench.connected()
    bench.exchange(gyro=(1e3, -1e3, 0.0), accel_body=(1e4, -1e4, 0.0))
    (sensor,) = sensors(client.received())
    # As int16 in PX4: 2048 per g, and 32768 per 2,000 deg/s.
    counts = [one / 9.80665 * 2048.0 for one in (sensor.xacc, sensor.yacc)]
    counts += [math.degrees(one) / 2000.0 * 32768.0 for one in (sensor.xgyro, sensor.ygyro)]
    assert [round(one) for one in counts] == [32767, -32767, 32767, -32767]


def test_true_state_is_sent_at_the_interval_that_px4_requests(bench: Bench) -> None:
    client = bench.new_client()
    client.greet(interval_us=5e3)
    truth = np.zeros(19)
    half = math.sqrt(0.5)
    truth[0:3], truth[3:7] = (10.0, -20.0, -30.0), (half, 0.0, 0.0, half)  # nose to the east
    truth[7:13] = 5.0, 1.0, -2.0, 0.1, 0.2, 0.3
    bench.exchange(truth=truth)
    states = []
    for _ in range(9):
        bench.now_s += 1.0
        bench.again()
        bench.exchange(truth=truth, wind_ned=(0.0, 5.0, 0.0))
        states += [one for one in client.received() if one.get_type() == "HIL_STATE_QUATERNION"]
    assert [one.time_usec for one in states] == [STEP_US * step for step in (1, 2, 4, 6, 8)]
    last = states[-1]
    assert last.attitude_quaternion == pytest.approx((half, 0.0, 0.0, half))
    assert (last.rollspeed, last.pitchspeed, last.yawspeed) == pytest.approx((0.1, 0.2, 0.3))
    # cm/s NED; mm above sea level; airspeed of (-1, 0, -2) m/s; specific force in mg.
    assert (last.vx, last.vy, last.vz, last.alt) == (-100, 500, -200, 1_417_000)
    assert last.true_airspeed == round(100.0 * math.sqrt(5.0)) and last.zacc == -1000


def test_rc_channels_are_sent_fifty_times_per_second_if_wanted(make_bench: Callable[..., Bench]) -> None:
    pulses = (1500, 1500, 1000, 1500, 1000, 1000, 1500, 2000)
    counts = []
    for rc in (False, True):
        bench = make_bench(rc=rc)
        client = bench.connected()
        channels = []
        for _ in range(80):
            bench.exchange(rc_us=pulses)
            bench.now_s += 1.0
            bench.again()
            channels += [one for one in client.received() if one.get_type() == "RC_CHANNELS"]
        counts.append(len(channels))
    assert counts == [0, 10]
    assert channels[0].chancount == 8 and channels[0].chan8_raw == 2000 and channels[0].chan9_raw == 0


def test_range_without_an_echo_is_beyond_the_maximum(bench: Bench) -> None:
    client = bench.connected()
    bench.exchange(ranges=(RangeSample(0, 0.1, 0.2, 12.0, math.inf),))
    (distance,) = (one for one in client.received() if one.get_type() == "DISTANCE_SENSOR")
    assert distance.current_distance > distance.max_distance


def test_sensor_without_noise_is_reported_once(bench: Bench) -> None:
    bench.connected()
    for _ in range(300):
        bench.exchange(gyro=(0.0, 0.0, 0.0), accel_body=(0.0, 0.0, -9.81))
        bench.now_s += 1.0
        bench.again()
    (line,) = (one for one in bench.log.warnings if "STALE" in one)
    assert "accelerometer" in line
    assert bench.front_end.counters["equal_readings"] == 1


# Steps.


def test_steps_of_a_booting_px4_are_taken_in_real_time(bench: Bench) -> None:
    bench.connected()
    assert bench.exchange() == [1000] * 14
    assert bench.exchange() is None
    bench.now_s += 0.5 * STEP_NS * 1e-9
    assert bench.again() is None
    bench.now_s += 0.6 * STEP_NS * 1e-9
    assert bench.again() == [1000] * 14
    # A pause is not made up for: after it, one tenth of a second at the most.
    bench.now_s += 60.0
    steps = 0
    while bench.exchange() is not None:
        steps += 1
    assert steps == pytest.approx(0.1 / (STEP_NS * 1e-9), abs=3)
    assert bench.front_end.counters["steps"] == 0


def test_steps_wait_for_outputs_once_px4_answers_each(bench: Bench) -> None:
    client = bench.in_lockstep()
    bench.now_s += 1.0
    assert bench.again() is None
    client.outputs(bench.time_us, [0.25, 1.0])
    assert bench.again() == [1250, 2000, *[1000] * 12]
    assert bench.exchange() is None


def test_late_and_double_outputs_take_no_step(bench: Bench) -> None:
    client = bench.in_lockstep()
    client.outputs(bench.time_us - STEP_US, [0.1])
    assert bench.again() is None
    client.outputs(bench.time_us, [0.2])
    client.outputs(bench.time_us, [0.2])
    assert bench.again()[0] == 1200
    assert bench.exchange() is None
    assert bench.front_end.counters["late_answers"] == 2


def test_px4_that_skips_steps_is_not_waited_for_and_reported(bench: Bench) -> None:
    client = bench.connected()
    bench.exchange()
    for step in range(5000):
        if step % 2:
            client.outputs(bench.time_us)
        bench.again()
        bench.now_s += 1.0
        bench.exchange()
        if step % 50 == 0:
            client.received()
    assert bench.front_end.counters["steps"] == 0
    assert sum("IMU_INTEG_RATE" in line for line in bench.log.warnings) == 1


def test_steps_continue_in_real_time_without_outputs_and_wait_again_when_there_are(bench: Bench) -> None:
    client = bench.in_lockstep()
    bench.now_s += 4.0
    assert bench.again() is None
    bench.now_s += 2.0
    assert bench.again() is not None
    assert bench.front_end.counters["timeouts"] == 1
    assert bench.exchange() is not None
    before = bench.front_end.counters["steps"]
    bench.answered_steps(client)
    assert bench.exchange() is None
    assert bench.front_end.counters["steps"] > before


@pytest.mark.parametrize(
    ("outputs", "controls", "expected"),
    [
        (["motor2", "servo1", "-servo1", "0.5*servo1-0.5*servo2"], [0.5, 0.25], [1250, 1750, 1250, 1562]),
        (["motor1", "motor2", "servo1", "servo2"], [-0.4, -1.8], [1000, 1000, 1300, 1000]),
        (["motor1", "motor2", "servo1", "servo2"], [math.nan, math.inf], [1000, 2000, 1500, 2000]),
    ],
    ids=["kinds", "flight termination", "not finite"],
)
def test_channels_are_motors_and_servos(
    make_bench: Callable[..., Bench], outputs: list[str], controls: list[float], expected: list[int]
) -> None:
    bench = make_bench(outputs=[*outputs, *[""] * 10])
    client = bench.in_lockstep()
    client.outputs(bench.time_us, controls)
    assert bench.again()[:4] == pytest.approx(expected, abs=1)


# Exchange without snapshots.


class DirectBench:
    """Steps of a bench in lockstep, exchanged as a chain of kernels does.

    Attributes:
        pulse_us: the last commands.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench, self.client = bench, bench.in_lockstep()
        self.client.outputs(bench.time_us)
        assert bench.again() is not None
        self.imu, self.pulse_us = np.zeros(6), np.zeros(14, np.int64)
        self.newest = SimpleNamespace(**dict.fromkeys(("gnss", "mag", "baro", "airspeed", "range", "rc")))
        self.direct = bench.front_end.direct(0, self.imu, self.newest, self.snapshot, self.pulse_us)

    def snapshot(self, time_ns: int) -> Snapshot:
        """Snapshot of the step that is being exchanged."""
        assert time_ns == self.bench.snapshot.time_ns
        newest = vars(self.newest).copy()
        ranges, _ = (newest.pop("range"),), newest.pop("rc")
        return dataclasses.replace(self.bench.snapshot, ranges=ranges, **newest)

    def step(self, *answers: bytes) -> bool:
        """Exchange the next step, whose answers have arrived in time; return whether it has its commands."""
        self.bench.snapshot = snapshot(self.bench.step)
        self.bench.step += 1
        self.imu[:] = *self.bench.snapshot.accel_body, *self.bench.snapshot.gyro
        for answer in answers:
            self.client.write(answer)
        return self.direct(self.bench.snapshot.time_ns)

    def answer(self, control: float, steps_later: int = 0) -> bytes:
        """Outputs for the next step, or for another one."""
        time_us = (self.bench.step + steps_later) * STEP_US
        sent = self.client.sent
        return bytes(sent.hil_actuator_controls_encode(time_us, [control] * 16, 129, 1).pack(sent))


@pytest.fixture
def direct(bench: Bench) -> DirectBench:
    return DirectBench(bench)


def test_steps_in_lockstep_are_exchanged_without_snapshots(direct: DirectBench) -> None:
    for step in range(300):
        direct.newest.baro = BaroSample(step // 4 * 4 * STEP_NS, 1400.0 + step, 86000.0 + step, 279.15)
        assert direct.step(direct.answer(0.001 * step))
        assert list(direct.pulse_us) == [1000 + step] * 14
    (first, *others) = sensors(direct.client.received())
    assert first.time_usec == STEP_US * (direct.bench.step - 300) and len(others) == 299
    assert [one.fields_updated for one in (first, *others[:4])] == [IMU | BARO, IMU, IMU, IMU, IMU | BARO]
    assert others[3].pressure_alt == 1404.0 and others[2].pressure_alt == 0.0
    assert (first.zacc, first.xacc) == pytest.approx((-9.81, 0.01 * ((direct.bench.step - 300) % 7)))
    assert direct.bench.front_end.counters.keys() == {"steps", "free_steps"}


def test_frames_without_snapshots_are_those_with_snapshots(make_bench: Callable[..., Bench]) -> None:
    mag, pitot = MagSample(0, (2e-5, -1e-5, 4e-5)), AirspeedSample(0, 18.0, 175.0, 279.15)
    received = []
    for is_direct in (True, False):
        direct = DirectBench(make_bench())
        direct.newest.mag, direct.newest.airspeed = mag, pitot
        direct.client.received()
        for _ in range(20):
            if is_direct:
                assert direct.step(direct.answer(0.5))
            else:
                direct.client.write(direct.answer(0.5))
                assert direct.bench.exchange(mag=mag, airspeed=pitot) is not None
        received.append([bytes(one.get_msgbuf()) for one in direct.client.received()])
    assert received[0] == received[1] and len(received[0]) == 20


def test_other_messages_precede_the_sensors_in_the_step_in_which_they_are_due(direct: DirectBench) -> None:
    direct.newest.gnss = GnssSample(0, 3, 14, 40.0, -111.0, 1390.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.2, 0, 0)
    direct.newest.range = RangeSample(0, 0.1, 0.2, 12.0, 3.25, 0.0004)
    direct.client.received()
    for expected in (["HIL_GPS", "DISTANCE_SENSOR", "HIL_SENSOR"], ["HIL_SENSOR"]):
        assert direct.step(direct.answer(0.5))
        assert [one.get_type() for one in direct.client.received()] == expected
    direct.client.greet(interval_us=2.0 * STEP_US)
    assert not direct.step(direct.answer(0.5))
    assert direct.bench.again()[0] == 1500
    direct.client.received()
    states = []
    for _ in range(10):
        assert direct.step(direct.answer(0.5))
        states += [len(direct.client.received()) - 1]
    # The first at once.
    assert states[0] == 1 and sum(states[2:]) == 4


def test_outputs_that_are_late_or_damaged_or_beside_others_are_read_with_the_snapshot(direct: DirectBench) -> None:
    bench, client = direct.bench, direct.client
    heartbeat = bytes(client.sent.heartbeat_encode(0, 12, 0, 0, 0).pack(client.sent))
    before = direct.answer(0.1, -1)
    damaged = bytearray(direct.answer(0.2))
    damaged[30] ^= 1
    for sent, late_answers in (
        ([heartbeat, direct.answer(0.5)], 0),
        ([direct.answer(0.5, 1), direct.answer(0.3, 1)], 1),
        ([before, direct.answer(0.5, 2)], 2),
        ([bytes(damaged), direct.answer(0.5, 3)], 2),
        ([direct.answer(0.5, 4)[:40]], 2),
    ):
        client.received()
        rest = b"" if len(sent) > 1 else direct.answer(0.5)[40:]
        assert not direct.step(*sent)
        answer = bench.front_end.exchange(0, bench.snapshot)
        if rest:
            assert answer is None
            client.write(rest)
            answer = bench.front_end.exchange(0, bench.snapshot)
        assert answer == [1500] * 14
        # The sensors are sent once.
        assert len(sensors(client.received())) == 1
        assert bench.front_end.counters["late_answers"] == late_answers
    assert bench.front_end.counters["wrong_checksum"] == 1
    assert direct.step(direct.answer(0.75)) and direct.pulse_us[0] == 1750


def test_step_without_an_answer_waits_with_the_snapshot_until_the_time_out(direct: DirectBench) -> None:
    bench = direct.bench
    direct.client.received()
    assert not direct.step()
    assert bench.again() is None
    bench.now_s += 6.0
    assert bench.again() is not None
    assert bench.front_end.counters["timeouts"] == 1
    assert len(sensors(direct.client.received())) == 1
    # Steps are taken in real time now.
    assert not direct.step(direct.answer(0.5))
    assert direct.client.received() == []


def test_px4_that_ends_in_a_step_without_a_snapshot_holds_the_simulation(direct: DirectBench) -> None:
    bench = direct.bench
    direct.client.socket.shutdown(socket.SHUT_WR)
    assert not direct.step()
    assert bench.front_end.exchange(0, bench.snapshot) is None
    assert not direct.step()
    bench.connected()
    assert bench.again() is START_OVER


def test_sensor_without_noise_is_reported_without_snapshots_too(direct: DirectBench) -> None:
    direct.imu[:] = 0.0, 0.0, -9.81, 0.0, 0.0, 0.0
    for step in range(direct.bench.step, direct.bench.step + 120):
        direct.client.write(direct.answer(0.5))
        assert direct.direct(step * STEP_NS)
        direct.bench.step += 1
    (line,) = (one for one in direct.bench.log.warnings if "STALE" in one)
    assert "accelerometer and gyro" in line
    assert direct.bench.front_end.counters["equal_readings"] == 1


def test_connections_are_refused_while_steps_are_exchanged_without_snapshots(direct: DirectBench) -> None:
    bench = direct.bench
    spoof = bench.connected()
    assert direct.step(direct.answer(0.5))
    # Other connections are served fifty times per second: this one is accepted, and then read.
    for _ in range(2):
        assert not spoof.is_ended
        bench.now_s += 0.05
        assert not direct.step()
        direct.client.outputs(bench.time_us, [0.5])
        assert bench.again()[0] == 1500
        assert direct.step(direct.answer(0.5))
    assert spoof.is_ended
    assert bench.front_end.counters["refused_connections"] == 1


# Connections.


def test_restarted_px4_starts_over(bench: Bench) -> None:
    client = bench.in_lockstep()
    client.close()
    assert bench.again() is None
    bench.now_s += 60.0
    assert bench.again() is None
    again = bench.new_client()
    again.greet(interval_us=1.0)
    assert bench.again() is START_OVER
    assert bench.front_end.counters["restarts"] == 1
    # The snapshot of the vehicle at its start has the same time.
    bench.step -= 1
    assert bench.exchange() is not None
    messages = again.received()
    assert [one.time_usec for one in sensors(messages)] == [bench.time_us]
    # The request for the true state, made before the vehicle was at its start, applies.
    assert "HIL_STATE_QUATERNION" in {one.get_type() for one in messages}
    assert any("starts over" in line for line in bench.log.warnings)


@pytest.mark.parametrize("accepted_before", [False, True])
def test_px4_that_restarts_between_two_steps_is_not_refused(bench: Bench, accepted_before: bool) -> None:
    client = bench.in_lockstep()
    again = bench.new_client()
    if accepted_before:
        bench.again()
        client.outputs(bench.time_us)
        assert bench.again() is not None
        bench.exchange()
    client.close()
    again.greet()
    assert bench.again() is START_OVER
    assert bench.front_end.counters["refused_connections"] == 0


def test_px4_that_ends_while_it_boots_starts_over_too(bench: Bench) -> None:
    client = bench.connected()
    bench.exchange()
    client.close()
    bench.now_s += 1.0
    assert bench.exchange() is None
    bench.connected()
    assert bench.again() is START_OVER


def test_second_connection_is_refused_and_does_not_disturb_the_first(bench: Bench) -> None:
    client = bench.in_lockstep()
    spoof = bench.connected()
    spoof.outputs(bench.time_us, [1.0])
    assert bench.again() is None
    assert spoof.is_ended
    assert bench.front_end.refused(0) == f"127.0.0.1:{spoof.port}"
    client.outputs(bench.time_us, [0.5])
    assert bench.again()[0] == 1500
    assert bench.front_end.counters["refused_connections"] == 1
    bench.now_s += 10.0
    assert bench.front_end.refused(0) == ""


def test_connection_that_sends_something_else_is_refused(bench: Bench) -> None:
    bench.exchange()
    other = bench.new_client()
    other.write(b"GET / HTTP/1.1\r\n\r\n")
    assert bench.again() is None
    assert not other.is_ended
    other.write(b"x" * 8192)
    for _ in range(4):
        assert bench.again() is None
    assert other.is_ended
    assert bench.front_end.counters["refused_connections"] == 1
    bench.connected()
    assert bench.again() is not None


def test_partial_and_damaged_messages_cost_only_themselves(bench: Bench) -> None:
    client = bench.in_lockstep()
    message = client.sent.hil_actuator_controls_encode(bench.time_us, [0.5] * 16, 129, 1).pack(client.sent)
    damaged = bytearray(message)
    damaged[20] ^= 0x55
    client.write(b"noise" + bytes(damaged))
    assert bench.again() is None
    for byte in message:
        client.write(bytes((byte,)))
        answer = bench.again()
    assert answer == [1500] * 14
    assert bench.front_end.counters["wrong_checksum"] == 1
    assert bench.front_end.counters["stray_bytes"] >= 5


def test_flood_of_px4_is_read_a_bounded_part_at_a_time(bench: Bench) -> None:
    client = bench.in_lockstep()
    for _ in range(500):
        client.outputs(1, [0.9])
    client.outputs(bench.time_us, [0.5])
    calls = 1
    while bench.front_end.exchange(0, bench.snapshot) is None:
        calls += 1
    # 4 KiB each.
    assert calls >= 501 * 60 / 4096
    assert bench.front_end.counters["late_answers"] == 500


def test_flood_of_connections_does_not_disturb_the_px4(bench: Bench) -> None:
    client = bench.in_lockstep()
    for _ in range(3):
        others = [bench.connected() for _ in range(60)]
        for _ in range(8):
            assert bench.again() is None
        client.outputs(bench.time_us, [0.5])
        assert bench.again()[0] == 1500
        assert bench.exchange() is None
        assert all(one.is_ended for one in others)
    # One address is warned of once.
    assert sum("another PX4 is connected" in line for line in bench.log.warnings) == 1


def test_px4_that_does_not_read_costs_bounded_memory(bench: Bench) -> None:
    bench.connected()
    while not bench.front_end.counters["unsent"]:
        bench.exchange()
        bench.now_s += 1.0
        bench.again()
        assert bench.step < 100_000
    assert any("does not read" in line for line in bench.log.warnings)


def test_address_that_is_not_allowed_is_refused(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(allowed_peers=["192.168.1.20"])
    bench.exchange()
    client = bench.connected()
    assert bench.again() is None
    assert client.is_ended
    assert bench.front_end.counters["not_allowed"] == 1


def test_observed_vehicle_refuses_px4(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(("a", "b"), {1: "sil_board"})
    assert f"{bench.ports[1]} for b, whose connections are refused" in bench.front_end.announcement()
    client = bench.connected(1)
    bench.front_end.serve()
    bench.front_end.serve()
    assert client.is_ended
    assert bench.front_end.counters["refused_commands"] == 1
    assert len(bench.front_end.filenos()) == 1


def test_each_vehicle_has_a_px4_of_its_own(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(("a", "b"))
    clients = [bench.in_lockstep(vehicle) for vehicle in (0, 1)]
    for vehicle, client in enumerate(clients):
        bench.exchange(vehicle)
        client.outputs(bench.time_us, [0.1 + 0.1 * vehicle])
        assert bench.again(vehicle)[0] == 1100 + 100 * vehicle
    assert bench.front_end.peer(1) == f"PX4 on TCP 127.0.0.1:{bench.ports[1]}"


def test_port_that_is_taken_is_refused_with_its_parameter(bench: Bench) -> None:
    other = Px4FrontEnd(Px4FrontEnd.PARAMETERS.checked({"px4.port": bench.ports[0]}), LoggedLines())
    with pytest.raises(ParameterError, match=rf"'px4.port': 127\.0\.0\.1:{bench.ports[0]} given"):
        other.open()


def test_contact_is_noted_before_it_is_read(bench: Bench) -> None:
    bench.exchange()
    assert not bench.front_end.is_contacted(0)
    bench.connected()
    assert bench.front_end.is_contacted(0)
