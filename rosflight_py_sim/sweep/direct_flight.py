"""Flight of one vehicle without ROS: the parts of its nodes, called in the order of a lockstep graph.

The trajectory equals that of the composed graph, bit for bit. The parts are in modules of their own; this module has
only their order and the stamps. The order within a step is: clock, RC frame, sensors, firmware, pilot, forces, motion,
judge, autopilot. An RC frame, a command and a status stamped t take effect in the step after t.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from struct import Struct
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String

from rosflight_py_sim.delay_line import DelayLine
from rosflight_py_sim.failures.failure import FAILURES, Failure
from rosflight_py_sim.failures.schedule import FailureSchedule, Signals
from rosflight_py_sim.failures.signal import Signal
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import SIL_BOARD, flight_controller_of
from rosflight_py_sim.graph.parameter_sources import ParameterSources
from rosflight_py_sim.interfaces.failed_sensors import FAILED_SENSORS, failed_imu, through
from rosflight_py_sim.interfaces.part_node import part_of
from rosflight_py_sim.interfaces.sensor_interface import Sampling
from rosflight_py_sim.missions.autopilot.judge import AutopilotJudge, autopilot_class
from rosflight_py_sim.missions.flight import not_done
from rosflight_py_sim.missions.mission_topics import MISSION_END
from rosflight_py_sim.nodes.lockstep_time_manager import LockstepTimeManager
from rosflight_py_sim.nodes.rc import Rc
from rosflight_py_sim.nodes.running import node_class
from rosflight_py_sim.nodes.sil_board import SilBoard
from rosflight_py_sim.nodes.standalone_dynamics import StandaloneDynamics
from rosflight_py_sim.nodes.standalone_sensors import StandaloneSensors
from rosflight_py_sim.parameters import Values, number
from rosflight_py_sim.parts.autopilot import AutopilotPart
from rosflight_py_sim.parts.forces_and_moments import ForcesAndMoments
from rosflight_py_sim.parts.pilot_script import MissionScript
from rosflight_py_sim.parts.sil_board import RosflightBoard
from rosflight_py_sim.parts.slide_watch import SlideWatch
from rosflight_py_sim.parts.transmitter import RC_FREQUENCY, RcTransmitter
from rosflight_py_sim.physics.dynamics import StateDivergedError, VehicleDynamics
from rosflight_py_sim.physics.wind import Wind as WindModel
from rosflight_py_sim.sensing.inertial import UNKNOWN
from rosflight_py_sim.sensing.latency import latency_ns
from rosflight_py_sim.sensing.suite import SensorSuite
from rosflight_py_sim.shared_parameters import ROTATIONAL_GUSTS, WIND_STREAM
from rosflight_py_sim.stamps import NANOSECONDS, seconds_text
from rosflight_py_sim.step.ports import Call, FirmwareReading, Input, Output, Service, ports_of
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import (
    AUTOPILOT_PHASE,
    COMMAND,
    PWM_OUTPUT,
    SETPOINT,
    STATUS,
    TRUTH_BATTERY,
    TRUTH_ROTOR_SPEEDS,
    TRUTH_STATE,
    TRUTH_WIND,
    TRUTH_WIND_RATES,
    ZERO_CELSIUS_K,
    AirspeedSample,
    BaroSample,
    BatterySample,
    ControlCommand,
    ImuSample,
    MagSample,
    Outputs,
    PulseWidths,
    RangeSample,
    Setpoint,
    StatusReport,
    TemperatureSample,
    Wind,
    WindRates,
    Wrench,
)
from rosflight_py_sim.step.vehicle_state import VehicleState
from rosflight_py_sim.vehicles import CAMERA

Vector = NDArray[np.float64]

S = TypeVar("S")

# Messages have numbers of 64 bits, except those of some sensors, of commands and of the battery.
_SINGLE = Struct("<2f")


def _single(one: float, other: float) -> tuple[float, float]:
    """Two numbers, rounded to 32 bits as in the messages of the sensors."""
    rounded: tuple[float, float] = _SINGLE.unpack(_SINGLE.pack(one, other))
    return rounded


class NotDirectError(ValueError):
    """The vehicle cannot fly without ROS; the text gives the reason."""


class _Failures:
    """Failures of one node's parts, switched at the beginning of a step.

    Attributes:
        exist: whether there are any, active or not.
    """

    def __init__(
        self,
        values: Values,
        parts: Collection[str],
        fail: Callable[[Signals], None],
        check: Callable[[Failure], None] = lambda _: None,
    ) -> None:
        texts: Any = values[FAILURES.name]
        self._schedule = FailureSchedule(texts, parts, int(str(values.get("seed", 0))), check=check)
        self.exist = len(self._schedule) > 0
        self._fail = fail

    def advance(self, time_ns: int) -> None:
        """Begin and end failures."""
        schedule = self._schedule
        if not schedule.since_ns <= time_ns < schedule.until_ns:
            schedule.switch(time_ns)
            self._fail(schedule.signals())


class _Sensors:
    """Sensors, and their relay to the firmware.

    Attributes:
        armed: whether the vehicle is armed.
        battery: true voltage (V) and current (A).
        imu_count: number of IMU messages.
        rotor_speeds: true speed of each rotor, rad/s (14).
    """

    def __init__(self, values: Values, board: RosflightBoard) -> None:
        self.armed = False
        self.battery = number(values, "battery_voltage"), 0.0
        self.rotor_speeds = UNKNOWN
        self._suite, self._firmware = SensorSuite(values), board.firmware
        self._temperature_k = 298.15
        self._measured = {name: kind() for name, kind in FAILED_SENSORS.items()}
        self._failures = _Failures(values, StandaloneSensors.FALLIBLE, self._fail)
        self._fail({})
        self._time_ns = 0
        self._late: list[DelayLine[tuple[Any, ...]]] = []
        firmware = board.firmware
        self._receive_mag = self._delayed(values, "mag", firmware.receive_mag)
        self._receive_baro = self._delayed(values, "baro", firmware.receive_baro)
        self._receive_diff_pressure = self._delayed(values, "diff_pressure", firmware.receive_diff_pressure)
        self._receive_range = self._delayed(values, "range", firmware.receive_range)
        self._receive_battery = self._delayed(values, "battery", firmware.receive_battery)
        self._receive_temperature = self._delayed(values, "imu_temperature", self._set_temperature)
        imu_ns = latency_ns(values, "imu")
        self._imu_line = DelayLine(imu_ns, self._set_arrived_imu) if imu_ns else None
        self._arrived_imu: tuple[Any, Any] | None = None
        # GNSS is left out: the firmware does not use it.
        self._slow = [
            Sampling(number(values, f"{name}_update_frequency"), read)
            for name, read in (
                ("mag", self._read_mag),
                ("baro", self._read_baro),
                ("diff_pressure", self._read_pitot),
                ("range", self._read_range),
                ("battery", self._read_battery),
                ("imu_temperature", self._read_temperature),
            )
        ]
        self._next_ns = 0
        self._imu = Sampling(number(values, "imu_update_frequency"), self._read_imu)
        self.imu_count = 0

    def sample(self, time_ns: int, truth: Vector, wind_ned: Vector) -> None:
        """Read the sensors that are due, the IMU last."""
        self._time_ns, self._truth, self._wind_ned = time_ns, truth, wind_ned
        for line in self._late:
            if time_ns >= line.due:
                line.advance(time_ns)
        if self._failures.exist:
            self._failures.advance(time_ns)
        if time_ns >= self._next_ns:
            for sensor in self._slow:
                schedule = sensor.schedule
                if time_ns >= schedule.next_ns and schedule.due(time_ns):
                    sensor.sample(time_ns)
            self._next_ns = min([sensor.schedule.next_ns for sensor in self._slow])
        self._imu.sample(time_ns)

    def _delayed(self, values: Values, sensor: str, receive: Callable[..., None]) -> Callable[..., None]:
        """Function that passes a measurement on to `receive` after the sensor's latency."""
        delay_ns = latency_ns(values, sensor)
        if not delay_ns:
            return receive
        line: DelayLine[tuple[Any, ...]] = DelayLine(delay_ns, lambda measured, _: receive(*measured))
        self._late.append(line)
        return lambda *measured: line.send(self._time_ns, measured)

    def _set_temperature(self, kelvin: float) -> None:
        self._temperature_k = kelvin

    def _set_arrived_imu(self, measured: tuple[Any, Any], _: int) -> None:
        self._arrived_imu = measured

    def _fail(self, signals: Signals) -> None:
        self._failed_imu = failed_imu(signals)
        self._failed = {name: signals[name, 0] for name in FAILED_SENSORS if (name, 0) in signals}

    def _received(self, name: str, sample: S) -> S | None:
        """A message with its sensor's failures, as the firmware receives it; None if the sensor is silent."""
        received: list[S] = []
        through(self._failed.get(name), self._measured[name], received.append)(sample)
        return received[0] if received else None

    def _read_imu(self, time_ns: int, dt: float) -> None:
        self.imu_count += 1
        inertial = self._suite.inertial
        inertial.sample(self._truth, dt, self.armed, self.rotor_speeds, self._suite.thermometer.temperature_k)
        accel: Any = inertial.accel
        gyro: Any = inertial.gyro
        if self._failed_imu is not None:
            _, gyro, accel, *_ = self._failed_imu(ImuSample(time_ns, gyro.tolist(), accel.tolist()))
        if self._imu_line is not None:
            # Copies: the sensor overwrites its arrays.
            measured = np.array(accel), np.array(gyro)
            self._imu_line.send(time_ns, measured)
            self._arrived_imu = self._arrived_imu or measured
            self._imu_line.advance(time_ns)
            accel, gyro = self._arrived_imu
        self._firmware.receive_imu(time_ns // 1000, accel, gyro, self._temperature_k)

    # Without failures no message is made, which would take longer than the measurement.

    def _read_temperature(self, time_ns: int, dt: float) -> None:
        celsius = self._suite.thermometer.sample(self._truth, dt) - ZERO_CELSIUS_K
        if self._failed:
            sample = self._received("thermometer", TemperatureSample(time_ns, celsius))
            if sample is None:
                return
            celsius = sample.temperature_c
        self._receive_temperature(celsius + ZERO_CELSIUS_K)

    def _read_mag(self, time_ns: int, dt: float) -> None:
        field: Sequence[float] = self._suite.magnetometer.sample(self._truth, dt, self.battery[1]).tolist()
        if self._failed:
            sample = self._received("mag", MagSample(time_ns, field))
            if sample is None:
                return
            field = sample.field
        self._receive_mag(field)

    def _read_baro(self, time_ns: int, dt: float) -> None:
        sensor = self._suite.barometer
        sensor.sample(self._truth, self._wind_ned, self.battery[1], dt)
        pressure, temperature = sensor.pressure_pa, sensor.temperature_k
        if self._failed:
            sample = self._received("baro", BaroSample(time_ns, sensor.altitude_m, pressure, temperature))
            if sample is None:
                return
            pressure, temperature = sample.pressure, sample.temperature
        self._receive_baro(*_single(pressure, temperature))

    def _read_pitot(self, time_ns: int, dt: float) -> None:
        sensor = self._suite.pitot
        sensor.sample(self._truth, self._wind_ned, dt)
        pressure, temperature = sensor.differential_pressure_pa, sensor.temperature_k
        if self._failed:
            sample = self._received("airspeed", AirspeedSample(time_ns, sensor.airspeed_mps, pressure, temperature))
            if sample is None:
                return
            pressure, temperature = sample.differential_pressure, sample.temperature
        self._receive_diff_pressure(*_single(pressure, temperature))

    def _read_range(self, time_ns: int, dt: float) -> None:
        finder = self._suite.range_finder
        distance = finder.sample(self._truth, dt)
        if self._failed:
            limits = finder.field_of_view, finder.min_range, finder.max_range
            sample = self._received("range", RangeSample(time_ns, *limits, distance))
            if sample is None:
                return
            distance = sample.distance
        self._receive_range(_single(distance, 0.0)[0])

    def _read_battery(self, time_ns: int, dt: float) -> None:
        monitor = self._suite.battery
        monitor.sample(*self.battery, dt)
        voltage, current = monitor.voltage, monitor.current
        if self._failed:
            sample = self._received("battery", BatterySample(time_ns, voltage, current))
            if sample is None:
                return
            voltage, current = sample.voltage, sample.current
        self._receive_battery(*_single(voltage, current))


class _Motion:
    """Body and wind.

    Attributes:
        body: the body.
        air_ned: velocity of the air over the ground at the vehicle, m/s (3,).
        wind_rates: angular velocity of the air at the vehicle, body axes, rad/s (3,); zero without rotational gusts.
    """

    def __init__(self, values: Values) -> None:
        self.body = VehicleDynamics(values)
        self._wind = WindModel(values, np.random.default_rng([int(number(values, "seed")), WIND_STREAM]))
        self._wind.step(self.body.truth, 0.0)
        self.air_ned = self._wind.wind_ned
        self.wind_rates = self._wind.rates_body if values[ROTATIONAL_GUSTS.name] else np.zeros(3)
        self._front: Signal | None = None
        self._failures = _Failures(values, StandaloneDynamics.FALLIBLE, self._fail)

    def advance(self, time_ns: int, wrench: Vector, dt: float) -> None:
        """Advance by a step.

        Raises:
            StateDivergedError: the new state is not finite.
        """
        body, wind = self.body, self._wind
        if self._failures.exist:
            self._failures.advance(time_ns)
        body.step(wrench, dt, self.air_ned)
        wind.step(body.truth, dt)
        self.air_ned = wind.wind_ned
        if self._front is not None:
            changed = self._front.applied(time_ns + round(dt * NANOSECONDS), wind.wind_ned.tolist())
            assert changed is not None
            self.air_ned = np.array(changed)

    def _fail(self, signals: Signals) -> None:
        self._front = signals.get(("wind", 0))


class DirectFlight:
    """A vehicle that flies the mission of its autopilot, without ROS.

    Attributes:
        board: the flight controller.
        transmitter: the RC transmitter.
        judge: judge of the mission.
        state: true state; the truth vector changes with each step.
    """

    def __init__(self, member: Member, sources: ParameterSources) -> None:
        """Put the vehicle at its start.

        Raises:
            NotDirectError: a part of the vehicle runs only as a node.
            ParameterError: a parameter is missing or not allowed.
        """
        vehicle = member.vehicle
        forces, autopilot = require_direct(member)

        def values(cls: Any) -> dict[str, Any]:
            return sources.values_of(cls, member)

        board = values(SilBoard)
        if not board["use_timer"]:
            raise NotDirectError("firmware that is run by service calls (use_timer: false) needs the node graph")
        self.board = RosflightBoard(board)
        vars(self.board).update(send_pwm=self._take_pulse_widths, send_status=self._take_status)
        transmitter = values(Rc)
        self.transmitter = RcTransmitter(transmitter)
        vars(self.transmitter)["send_frame"] = self._take_frame
        self._frame_schedule = Schedule(number(transmitter, RC_FREQUENCY.name))
        self._sensors = _Sensors(values(StandaloneSensors), self.board)
        self._forces = forces(values(forces))
        parameters = self.board.firmware.parameters
        for reading in self._forces.ports(FirmwareReading):
            read = {name: float(parameters[name]) for name in reading.names if name in parameters}
            getattr(self._forces, reading.name)(read)
        self._wrench = np.zeros(6)
        takes: dict[str, Any] = {"send_wrench": self._take_wrench, "send_battery": self._take_battery}
        vars(self._forces).update(takes | {"send_rotor_speeds": self._take_rotor_speeds})
        give = {one.topic.name: one.taker(self._forces) for one in self._forces.ports(Input)}
        self._give_state, self._give_air = give[TRUTH_STATE.name], give[TRUTH_WIND.name]
        self._give_wind_rates = give.get(TRUTH_WIND_RATES.name)
        motion = values(StandaloneDynamics)
        if number(motion, "wave_height") > 0.0:
            raise NotDirectError("waves (wave_height above 0) need the node graph")
        self._motion = _Motion(motion)
        flown = values(autopilot)
        step_s = number(values(LockstepTimeManager), "step_size")
        self._step_ns = round(step_s * NANOSECONDS)
        limits = AutopilotJudge.limits_for(vehicle)
        self.judge = AutopilotJudge(vehicle, {limit.name: flown[limit.name] for limit in limits})
        self._takes = {one.topic.name: one.take for one in self.judge.inputs}
        self._take_pwm, self._take_wind = self._takes[PWM_OUTPUT.name], self._takes[TRUTH_WIND.name]
        self._take_truth = self._takes[TRUTH_STATE.name]
        self._autopilot = autopilot(flown)
        give = {one.topic.name: one.taker(self._autopilot) for one in self._autopilot.ports(Input)}
        self._give_autopilot_wind = give.get(TRUTH_WIND.name)
        self.state = VehicleState(0, self._motion.body.truth)
        self._frame: PulseWidths | None = None
        self._setpoint: Setpoint | None = None
        self._pilot = pilot = MissionScript({}, slide=SlideWatch.of(motion))
        self._give_pilot = {one.name: one.taker(pilot) for one in pilot.ports(Input)}
        vars(pilot).update(
            services_called={
                one.topic: Call.answered_by(one.service_type, getattr(part, one.name))
                for part in (self.board, self.transmitter, self._autopilot)
                for one in part.ports(Service)
            },
            take_state=lambda: self.state,
            take_setpoint=lambda: self._setpoint,
            take_wind=lambda: Wind(self.state.time_ns, self._motion.air_ned.tolist()),
            end_port=lambda name: self._give_pilot.pop(name, None),
        )
        self._armed: list[StatusReport] = []
        sends = {
            COMMAND.name: self._take_command,
            SETPOINT.name: self._take_setpoint,
            AUTOPILOT_PHASE.name: self._take_phase,
        }
        for out in self._autopilot.ports(Output):
            if out.topic.name in {**self._takes, **sends}:
                setattr(self._autopilot, out.name, {**self._takes, **sends}[out.topic.name])
        self._autopilot.begin()
        self._commands = self._autopilot.schedule
        self._guide()

    @property
    def is_over(self) -> bool:
        """Whether the mission has ended, with or without success."""
        pilot, judge = self._pilot, self.judge
        return pilot.failure is not None or bool(judge.take_off.text) or (pilot.done and judge.log.is_completed)

    def fly(self, limit_s: float) -> None:
        """Fly until the mission has ended, or for a simulated time, s; the judge receives the end."""
        limit_ns = round(limit_s * NANOSECONDS)
        reason = ""
        try:
            while not self.is_over and self.state.time_ns < limit_ns:
                self.step()
        except StateDivergedError as error:
            reason = f"{error} at {seconds_text(self.state.time_ns + self._step_ns)}"
        if self._pilot.failure is not None:
            reason = str(self._pilot.failure)
        elif not reason and self.judge.take_off.text:
            reason = f"{self._pilot.activity}: {self.judge.take_off.text}"
        elif not reason and not self.is_over:
            reason = not_done(self._pilot.activity, limit_s)
        self._takes[MISSION_END.name](String(data=reason))

    def step(self) -> None:
        """Take one step.

        Raises:
            StateDivergedError: the new state is not finite.
        """
        state, motion = self.state, self._motion
        time_ns, step_ns = state.time_ns, self._step_ns
        dt = step_ns / NANOSECONDS
        if time_ns >= self._frame_schedule.next_ns and self._frame_schedule.due(time_ns):
            self.transmitter.run(time_ns)
        if self._armed:
            self._deliver_armed(time_ns)
        self._sensors.sample(time_ns, state.truth, motion.air_ned)
        # The sensors have given the firmware their samples.
        self.board.run(time_ns)
        if self._frame is not None:
            self._give_later(self.board.receive_rc, self._frame)
            self._frame = None
        pulse_widths = self._pulse_widths
        if motion.body.follows_outputs:
            motion.body.follow_outputs(pulse_widths.pulse_us)
        self._give_state(state)
        # Arrays in place of lists: the receivers here read them at once.
        self._give_air(Wind(time_ns, motion.air_ned))  # type: ignore[arg-type]
        if self._give_wind_rates is not None:
            self._give_wind_rates(WindRates(time_ns, motion.wind_rates))  # type: ignore[arg-type]
        self._forces.run(time_ns, pulse_widths)
        wrench = self._wrench
        motion.advance(time_ns, wrench, dt)
        state.time_ns = time_ns + step_ns
        if "observe_motion" in self._give_pilot:
            self._give_pilot["observe_motion"](state)
        if state.time_ns >= self.judge.next_row_ns:
            air_ned: Any = motion.air_ned
            self._take_pwm(pulse_widths)
            self._take_wind(Wind(state.time_ns, air_ned))
            self._take_truth(state)
        if state.time_ns >= self._commands.next_ns:
            self._guide()

    def _take_wrench(self, wrench: Wrench) -> None:
        self._wrench = np.array((*wrench.force, *wrench.moment))
        if "wrench" in self._give_pilot:
            self._give_pilot["wrench"](wrench)

    def _take_battery(self, battery: BatterySample) -> None:
        assert TRUTH_BATTERY.as_received is not None
        received = TRUTH_BATTERY.as_received(battery)
        self._sensors.battery = received.voltage, received.current
        self._takes[TRUTH_BATTERY.name](received)

    def _take_rotor_speeds(self, speeds: Outputs) -> None:
        assert TRUTH_ROTOR_SPEEDS.as_received is not None
        self._sensors.rotor_speeds = np.array(TRUTH_ROTOR_SPEEDS.as_received(speeds).values)

    def _take_frame(self, frame: PulseWidths) -> None:
        self._frame = frame

    def _take_pulse_widths(self, pulse_widths: PulseWidths) -> None:
        self._pulse_widths = pulse_widths

    def _give_later(self, take: Callable[[Any], None], message: Any) -> None:
        """Give the flight controller a message, which takes effect in the step after its stamp."""
        self.board.held.take(message.time_ns, self.board.answered_ns, partial(take, message))

    def _take_status(self, status: StatusReport) -> None:
        self._takes[STATUS.name](status)
        self._armed.append(status)
        self._pilot.imu_count = self._sensors.imu_count
        self._give_wind()
        self._pilot.run(status.time_ns, status)

    def _deliver_armed(self, time_ns: int) -> None:
        for status in [one for one in self._armed if one.time_ns < time_ns]:
            self._armed.remove(status)
            self._sensors.armed = status.armed

    def _give_wind(self) -> None:
        """Give the autopilot the wind, if it takes it."""
        if self._give_autopilot_wind is not None:
            self._give_autopilot_wind(Wind(self.state.time_ns, self._motion.air_ned.tolist()))

    def _guide(self) -> None:
        time_ns = self.state.time_ns
        self._give_wind()
        self._autopilot.run(time_ns, VehicleState(time_ns, self.state.truth.copy()))

    def _take_command(self, command: ControlCommand) -> None:
        assert COMMAND.as_received is not None
        self._give_later(self.board.receive_command, COMMAND.as_received(command))

    def _take_setpoint(self, setpoint: Setpoint) -> None:
        self._setpoint = setpoint
        self._takes[SETPOINT.name](setpoint)

    def _take_phase(self, phase: String) -> None:
        self._takes[AUTOPILOT_PHASE.name](phase)
        self._pilot.on_phase(phase)


def require_direct(member: Member) -> tuple[type[ForcesAndMoments], type[AutopilotPart]]:
    """Classes of the vehicle's forces and moments, and of its autopilot.

    Raises:
        NotDirectError: a part of the vehicle runs only as a node.
    """
    vehicle, controller = member.vehicle, flight_controller_of(member)
    forces = part_of(node_class(vehicle.forces_and_moments)) if vehicle.forces_and_moments else None
    if controller is not SIL_BOARD:
        raise NotDirectError(f"flight controller '{controller.name}' runs only in the node graph")
    if vehicle.mission is not None:
        raise NotDirectError(f"mission '{vehicle.mission.task}', flown by a program, runs only in the node graph")
    if node_class(vehicle.dynamics) is not StandaloneDynamics:
        raise NotDirectError(f"dynamics '{vehicle.dynamics}' run only in the node graph")
    if forces is None or not issubclass(forces, ForcesAndMoments):
        raise NotDirectError(f"forces and moments '{vehicle.forces_and_moments}' run only in the node graph")
    flown = part_of(autopilot_class(vehicle)) if vehicle.autopilot else None
    # An autopilot that receives another vehicle's topics needs that vehicle.
    if flown is None or any(isinstance(port, Input) and port.at for port in ports_of(flown)):
        autopilot = f"autopilot '{vehicle.autopilot}'" if vehicle.autopilot else "a vehicle without an autopilot"
        raise NotDirectError(f"{autopilot} flies only in the node graph")
    others = {*vehicle.extra_nodes, *member.executables} - {vehicle.autopilot, CAMERA}
    if others:
        raise NotDirectError(f"node '{min(others)}' runs only in the node graph")
    assert issubclass(flown, AutopilotPart)
    return forces, flown
