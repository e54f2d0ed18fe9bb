"""Pipeline: order of answers, effect of each kind of input, rounding, services and errors."""

from __future__ import annotations

from typing import Any

import pytest
from std_srvs.srv import Trigger

from rosflight_py_sim.ground.parameters import Parameter, ParameterTable
from rosflight_py_sim.step.part import Part
from rosflight_py_sim.step.pipeline import Pipeline, UnconnectedError
from rosflight_py_sim.step.ports import (
    calls,
    later,
    newest,
    output,
    polled,
    queued,
    service,
    synchronized,
    ticks,
    trigger,
)
from rosflight_py_sim.step.topics import (
    BARO,
    CLOCK,
    FORCES_AND_MOMENTS,
    IMU,
    RC,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_STATE,
    BaroSample,
    BatterySample,
    ImuSample,
    PulseWidths,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState

STEP_NS = 2_500_000
EVENTS: list[Any] = []


class Clocked(Part):
    """Sends an IMU message, and before it a baro message, in every step; knows the newest battery of earlier steps."""

    DEFAULT_NAME = "clocked"
    clock = trigger(CLOCK)
    battery = later(TRUTH_BATTERY)
    state = synchronized(TRUTH_STATE)
    send_baro = output(BARO)
    send_imu = output(IMU)

    def answer(self, time_ns: int, content: object) -> None:
        EVENTS.append(("clocked", time_ns, self.battery and self.battery.time_ns, self.state and self.state.time_ns))
        self.send_imu(ImuSample(time_ns, (0.0,) * 3, (0.0,) * 3))
        self.send_baro(BaroSample(time_ns, 0.0, 0.1, 0.0))
        EVENTS.append(("clocked ends", time_ns))


class Triggered(Part):
    """Answers the IMU with a wrench and a battery state, and offers a service."""

    DEFAULT_NAME = "triggered"
    imu = trigger(IMU)
    baro = newest(BARO)
    send_wrench = output(FORCES_AND_MOMENTS)
    send_battery = output(TRUTH_BATTERY)
    send_status = output(STATUS, lazy=True)

    def answer(self, time_ns: int, content: ImuSample) -> None:
        EVENTS.append(("triggered", content.time_ns, self.baro.pressure))
        self.send_wrench(Wrench(time_ns, (0.0,) * 3, (0.0,) * 3))
        self.send_battery(BatterySample(time_ns, 12.0, 1.0))
        self.send_status(lambda: EVENTS.append("nobody receives it"))

    @service(Trigger, "triggered/ask")
    def _ask(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = "asked"
        return response


class Moved(Part):
    """Answers the wrench with the state at the end of the step."""

    DEFAULT_NAME = "moved"
    wrench = trigger(FORCES_AND_MOMENTS)
    send_state = output(TRUTH_STATE)

    def begin(self) -> None:
        EVENTS.append("begin")
        self.send_state(VehicleState(0))

    def answer(self, time_ns: int, content: Wrench) -> None:
        self.send_state(VehicleState(time_ns + STEP_NS))


class Regular(Part):
    """Sends RC frames at a rate."""

    DEFAULT_NAME = "regular"
    PARAMETERS = ParameterTable(Parameter("rc_frequency", 100.0, "Rate", "Hz"))
    time = ticks("rc_frequency")
    send_rc = output(RC)

    def answer(self, time_ns: int, content: object) -> None:
        self.send_rc(PulseWidths(time_ns, ()))


@pytest.fixture(autouse=True)
def _no_events() -> None:
    EVENTS.clear()


def test_parts_answer_in_the_order_of_their_triggers() -> None:
    pipeline = Pipeline([Moved({}), Triggered({}), Clocked({})], STEP_NS)
    assert EVENTS == ["begin"]
    pipeline.step()
    pipeline.step()
    assert pipeline.time_ns == 2 * STEP_NS
    pressure = BARO.as_received(BaroSample(0, 0.0, 0.1, 0.0)).pressure  # type: ignore[misc]
    assert pressure != 0.1
    assert EVENTS[1:] == [
        ("clocked", 0, None, 0),
        ("clocked ends", 0),
        # The baro message, sent after the IMU message, arrives before the answer to it, and rounded.
        ("triggered", 0, pressure),
        # The battery state of the step before, and the state of this one.
        ("clocked", STEP_NS, 0, STEP_NS),
        ("clocked ends", STEP_NS),
        ("triggered", STEP_NS, pressure),
    ]


def test_ticks_have_their_rate_and_receivers_take_messages() -> None:
    frames: list[PulseWidths] = []
    pipeline = Pipeline([Regular({"rc_frequency": 100.0})], STEP_NS, [(RC, frames.append)])
    for _ in range(9):
        pipeline.step()
    assert [one.time_ns for one in frames] == [0, 4 * STEP_NS, 8 * STEP_NS]


def test_services_are_called_by_name() -> None:
    pipeline = Pipeline([Clocked({}), Triggered({})], STEP_NS)
    assert pipeline.call("triggered/ask").message == "asked"
    with pytest.raises(UnconnectedError, match="no part offers the service other/ask; offered: triggered/ask"):
        pipeline.call("other/ask")


def test_part_without_its_trigger_is_refused() -> None:
    with pytest.raises(
        UnconnectedError, match="no part sends sim/sensors/imu/data, which triggers triggered; parts: triggered, moved"
    ):
        Pipeline([Triggered({}), Moved({})], STEP_NS)


def test_two_senders_of_an_exclusive_topic_are_refused() -> None:
    with pytest.raises(UnconnectedError, match="clocked and clocked both send sim/sensors/baro, which one part may"):
        Pipeline([Clocked({}), Clocked({})], STEP_NS)


class Asker(Part):
    """Asks in every step from the third on, counts the IMU messages until then, and reads the battery."""

    DEFAULT_NAME = "asker"
    clock = trigger(CLOCK)
    called = calls(Trigger, "triggered/ask", "nobody/ask")
    take_battery = polled(TRUTH_BATTERY)
    imu_count = 0

    @newest(IMU)
    def count_imu(self, message: ImuSample) -> None:
        self.imu_count += 1

    def answer(self, time_ns: int, content: object) -> None:
        EVENTS.append(("battery", time_ns, self.take_battery() is not None))
        if time_ns >= 2 * STEP_NS:
            self.called["triggered/ask"].send(Trigger.Request(), lambda response: EVENTS.append(response.message))
            self.end_port("count_imu")


def test_part_calls_a_service_reads_on_demand_and_ends_an_input() -> None:
    EVENTS.clear()
    asker = Asker({})
    line = Pipeline([asker, Clocked({}), Triggered({})], STEP_NS)
    for _ in range(4):
        line.step()
    assert asker.imu_count == 2
    assert EVENTS.count("asked") == 2
    assert not asker.called["nobody/ask"].is_available()
    assert asker.called["nobody/ask"].is_missing()
    # Each battery state is read in the step after its own, and only once.
    assert [is_new for name, _, is_new in _of("battery")] == [False, True, True, True]
    assert asker.take_battery() is not None
    assert asker.take_battery() is None
    # The other receiver of the ended topic still answers it.
    assert [time_ns for _, time_ns, _ in _of("triggered")] == [0, STEP_NS, 2 * STEP_NS, 3 * STEP_NS]


class Once(Part):
    """Ends an input within its first message."""

    DEFAULT_NAME = "once"
    count = 0

    @newest(IMU)
    def take_imu(self, message: ImuSample) -> None:
        self.count += 1
        self.end_port("take_imu")


def test_message_that_ends_an_input_still_reaches_the_other_receivers() -> None:
    EVENTS.clear()
    once = Once({})
    line = Pipeline([once, Clocked({}), Triggered({})], STEP_NS)
    line.step()
    line.step()
    assert once.count == 1
    assert [time_ns for _, time_ns, _ in _of("triggered")] == [0, STEP_NS]


class Follower(Part):
    """Receives another vehicle's state."""

    DEFAULT_NAME = "follower"
    leader = "plane"
    state = newest(TRUTH_STATE, at="leader")


class Pusher(Part):
    """Sends another vehicle's wrench."""

    DEFAULT_NAME = "pusher"
    send = output(FORCES_AND_MOMENTS, at="/plane")


def test_topic_of_a_vehicle_outside_of_the_pipeline_is_refused() -> None:
    with pytest.raises(UnconnectedError, match="follower receives sim/truth_state of another vehicle"):
        Pipeline([Follower({})], STEP_NS)
    with pytest.raises(UnconnectedError, match="pusher sends sim/forces_and_moments of another vehicle"):
        Pipeline([Pusher({})], STEP_NS)


def _of(name: str) -> list[Any]:
    return [one for one in EVENTS if isinstance(one, tuple) and one[0] == name]


class Noting(Part):
    """Notes the IMU messages, one at once and one later."""

    DEFAULT_NAME = "noting"

    @newest(IMU)
    def _on_imu(self, imu: ImuSample) -> None:
        EVENTS.append(("at once", imu.time_ns))

    @queued(IMU)
    def _on_queued_imu(self, imu: ImuSample) -> None:
        EVENTS.append(("queued", imu.time_ns))


def test_queued_message_goes_to_the_method_after_the_senders_answer() -> None:
    EVENTS.clear()
    Pipeline([Clocked({}), Noting({})], STEP_NS).step()
    assert [event[0] for event in EVENTS] == ["clocked", "at once", "clocked ends", "queued"]
