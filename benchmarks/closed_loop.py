"""Physics, sensors and flight controller in one loop without ROS: measured for speed, and flown by the flight tests.

    python -m benchmarks.closed_loop

prints the steps per second of one core in hovering flight, every sensor at its default rate.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Mapping

import numpy as np

from rosflight_py_sim.autopilot.mission import MISSION_PARAMETERS, Mission, Phase
from rosflight_py_sim.autopilot.position_controller import (
    IDLE,
    POSITION_CONTROLLER_PARAMETERS,
    AttitudeCommand,
    PositionController,
)
from rosflight_py_sim.firmware.firmware import Firmware
from rosflight_py_sim.firmware.parameters import FirmwareParameters
from rosflight_py_sim.ground.parameters import ParameterTable, Value
from rosflight_py_sim.ground.pulse_width import LOW_US, MOTOR, command_of
from rosflight_py_sim.interfaces.given_values import merged_values
from rosflight_py_sim.kernels.jit import COMPILED
from rosflight_py_sim.missions.autopilot.log import FlightLog
from rosflight_py_sim.physics.dynamics import DYNAMICS_PARAMETERS, VehicleDynamics
from rosflight_py_sim.physics.multirotor import MULTIROTOR_PARAMETERS, Multirotor
from rosflight_py_sim.physics.wind import WIND_PARAMETERS, Wind
from rosflight_py_sim.sensing import (
    SENSOR_PARAMETERS,
    barometer,
    battery_monitor,
    gnss,
    inertial,
    magnetometer,
    pitot,
    range_finder,
    thermometer,
)
from rosflight_py_sim.vehicles import vehicle

VEHICLE = vehicle("multirotor")

STEP_US = 2500
STEP_S = STEP_US * 1e-6
# Steps between two samples, at 400 steps a second.
MAG_EVERY, BARO_EVERY, GNSS_EVERY, RANGE_EVERY, PRESSURE_EVERY, BATTERY_EVERY = 8, 4, 40, 20, 4, 2
RC_EVERY, COMMAND_EVERY = 8, 4
SCHEDULE_STEPS = 40

MODE_ROLL_PITCH_YAWRATE_THROTTLE = 2
ARM_SWITCH, OVERRIDE_SWITCH = 4, 5


class ClosedLoop:
    """A multirotor with its sensors and flight controller, stepped at 400 Hz; the same seed gives the same flight."""

    def __init__(
        self,
        seed: int = 1,
        wind: Mapping[str, Value] | None = None,
        given: Mapping[str, Value] | None = None,
        sensors: Mapping[str, Value] | None = None,
    ) -> None:
        """Values of WIND_PARAMETERS (default: calm), MULTIROTOR_PARAMETERS and SENSOR_PARAMETERS."""
        streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(9)]
        self.dynamics = VehicleDynamics(configured(DYNAMICS_PARAMETERS, "dynamics"))
        self.wind = Wind(WIND_PARAMETERS.checked(wind or {}), streams[0])
        vehicle_values = configured(MULTIROTOR_PARAMETERS, "forces_and_moments", given)
        self.multirotor = Multirotor(vehicle_values)
        sensed = SENSOR_PARAMETERS.checked(sensors or {})
        self.imu = inertial.InertialSensor(sensed, streams[1])
        self.imu_thermometer = thermometer.Thermometer(sensed, streams[2])
        self.magnetometer = magnetometer.Magnetometer(sensed, streams[3])
        self.barometer = barometer.Barometer(sensed, streams[4])
        self.gnss = gnss.GnssReceiver(sensed, streams[5])
        self.range_finder = range_finder.RangeFinder(sensed, streams[6])
        self.pitot = pitot.PitotTube(sensed, streams[7])
        self.battery_monitor = battery_monitor.BatteryMonitor(sensed, streams[8])
        parameters = FirmwareParameters()
        parameters.load(VEHICLE.firmware_file)
        self.firmware = Firmware(parameters)
        self.channels = [1500, 1500, 1000, 1500, 1000, 1000, 1500, 1500]
        self.truth = self.dynamics.truth
        self.pwm = np.full(14, float(LOW_US))
        self.count = 0
        rates = (
            (GNSS_EVERY, self._sample_gnss),
            (RANGE_EVERY, self._sample_range),
            (MAG_EVERY, self._sample_mag),
            (BARO_EVERY, self._sample_baro),
            (PRESSURE_EVERY, self._sample_pitot),
            (BATTERY_EVERY, self._sample_battery),
            (RC_EVERY, self._send_rc),
        )
        self._due = [tuple(sample for every, sample in rates if k % every == 0) for k in range(SCHEDULE_STEPS)]

    @property
    def time_s(self) -> float:
        """Simulated time, s."""
        return self.count * STEP_S

    @property
    def yaw_rad(self) -> float:
        """True yaw, rad."""
        w, x, y, z = self.truth[3:7].tolist()
        return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    @property
    def velocity_ned(self) -> tuple[float, float, float]:
        """True velocity over ground, NED, m/s."""
        w, x, y, z, u, v, s = self.truth[3:10].tolist()
        return (
            (1 - 2 * (y * y + z * z)) * u + 2 * (x * y - w * z) * v + 2 * (x * z + w * y) * s,
            2 * (x * y + w * z) * u + (1 - 2 * (x * x + z * z)) * v + 2 * (y * z - w * x) * s,
            2 * (x * z - w * y) * u + 2 * (y * z + w * x) * v + (1 - 2 * (x * x + y * y)) * s,
        )

    def step(self) -> None:
        """Advance sensors, flight controller, forces and motion by 1/400 s."""
        k, truth, firmware, wind = self.count, self.truth, self.firmware, self.wind
        time_us = k * STEP_US
        for sample in self._due[k % SCHEDULE_STEPS]:
            sample(time_us)
        imu = self.imu
        thermometer = self.imu_thermometer
        imu.sample(truth, STEP_S, firmware.status.armed, self.multirotor.rotor_speeds, thermometer.temperature_k)
        temperature = thermometer.sample(truth, STEP_S)
        firmware.receive_imu(time_us, imu.gyro.tolist(), imu.accel.tolist(), temperature)
        self.pwm = firmware.step(time_us)
        self.dynamics.step(self.multirotor.update(truth, wind.wind_ned, self.pwm, STEP_S), STEP_S)
        wind.step(truth, STEP_S)
        self.count = k + 1

    def _sample_gnss(self, time_us: int) -> None:
        self.gnss.sample(self.truth, GNSS_EVERY * STEP_S)

    def _sample_range(self, time_us: int) -> None:
        self.firmware.receive_range(self.range_finder.sample(self.truth, RANGE_EVERY * STEP_S))

    def _sample_mag(self, time_us: int) -> None:
        self.firmware.receive_mag(
            self.magnetometer.sample(self.truth, MAG_EVERY * STEP_S, self.multirotor.current_a).tolist()
        )

    def _sample_baro(self, time_us: int) -> None:
        sensor = self.barometer
        sensor.sample(self.truth, self.wind.wind_ned, self.multirotor.current_a, BARO_EVERY * STEP_S)
        self.firmware.receive_baro(sensor.pressure_pa, sensor.temperature_k)

    def _sample_pitot(self, time_us: int) -> None:
        sensor = self.pitot
        sensor.sample(self.truth, self.wind.wind_ned, PRESSURE_EVERY * STEP_S)
        self.firmware.receive_diff_pressure(sensor.differential_pressure_pa, sensor.temperature_k)

    def _sample_battery(self, time_us: int) -> None:
        monitor, vehicle = self.battery_monitor, self.multirotor
        monitor.sample(vehicle.battery_voltage, vehicle.current_a, BATTERY_EVERY * STEP_S)
        self.firmware.receive_battery(monitor.voltage, monitor.current)

    def _send_rc(self, time_us: int) -> None:
        self.firmware.receive_rc(time_us, self.channels)

    def command(self, command: AttitudeCommand) -> None:
        """Send the flight controller a command, as a companion computer does."""
        values = [0.0, 0.0, command.throttle, command.roll_rad, command.pitch_rad, command.yaw_rate_rps, 0, 0, 0, 0]
        self.firmware.set_command(self.count * STEP_US, MODE_ROLL_PITCH_YAWRATE_THROTTLE, 0, values)

    def arm(self) -> None:
        """Calibrate the IMU on the ground, arm, and switch the RC override off.

        Raises:
            RuntimeError: the flight controller does not arm.
        """
        self._step_for(0.5)
        self.firmware.calibrate_imu()
        while self.firmware.calibrating and self.time_s < 10.0:
            self.step()
        # Arming requires a low throttle stick while the RC override is on.
        self.channels[OVERRIDE_SWITCH] = 2000
        self._step_for(0.2)
        self.channels[ARM_SWITCH] = 2000
        while not self.firmware.status.armed and self.time_s < 20.0:
            self.step()
        if not self.firmware.status.armed:
            raise RuntimeError(f"the flight controller does not arm, errors {self.firmware.status.error_code:#x}")
        for _ in range(5):
            self.command(IDLE)
            self._step_for(0.02)
        self.channels[OVERRIDE_SWITCH] = 1000
        for _ in range(5):
            self.command(IDLE)
            self._step_for(0.02)

    def _step_for(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP_S)):
            self.step()


def fly_mission(
    loop: ClosedLoop, mission: Mission, controller: PositionController, limit_s: float = 120.0
) -> FlightLog:
    """Arm, fly the mission at 100 Hz on the true state, and return every step of it.

    Raises:
        RuntimeError: the mission is not done after `limit_s` seconds.
    """
    loop.arm()
    log = FlightLog(VEHICLE.actuators, Phase, capacity=1 << 15)
    mission.start(loop.time_s, loop.truth[0:3].tolist(), loop.yaw_rad)
    controller.reset()
    for k in range(round(limit_s / STEP_S)):
        if k % COMMAND_EVERY == 0:
            position, velocity = loop.truth[0:3].tolist(), loop.velocity_ned
            setpoint = mission.setpoint(loop.time_s, position, velocity)
            command = IDLE
            if mission.thrust_on:
                command = controller.update(position, velocity, loop.yaw_rad, setpoint, COMMAND_EVERY * STEP_S)
            loop.command(command)
        loop.step()
        log.append(
            loop.time_s,
            loop.truth,
            setpoint.position_ned,
            command_of(loop.pwm[:4], MOTOR),
            loop.wind.wind_ned,
            loop.multirotor.battery_voltage,
            loop.multirotor.current_a,
            mission.phase,
        )
        if mission.phase is Phase.DONE:
            return log
    raise RuntimeError(f"the mission is still in phase '{mission.phase.label}' after {limit_s:g} s")


def configured(table: ParameterTable, node: str, given: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Checked values of the vehicle's configuration for one node, with those given in place of the file's."""
    values = merged_values([VEHICLE.parameter_file], (node,))
    return table.checked({name: value for name, value in values.items() if name in table} | dict(given or {}))


def hovering(sensors: Mapping[str, Value] | None = None) -> ClosedLoop:
    """A loop after a climb of one second, in a wind of 5 m/s with turbulence; `sensors` as in ClosedLoop."""
    loop = ClosedLoop(wind=WIND_OF_5, sensors=sensors)
    loop.arm()
    _hover(loop, 400, throttle=0.5)
    return loop


WIND_OF_5: dict[str, Value] = {
    "sim_has_wind": True,
    "use_random_wind": False,
    "steady_state_wind": [4.0, 3.0, 0.0],
    "turbulence_model": "dryden_8785c",
}


def _hover(loop: ClosedLoop, steps: int, throttle: float) -> None:
    level = AttitudeCommand(0.0, 0.0, 0.0, throttle)
    for k in range(steps):
        if k % COMMAND_EVERY == 0:
            loop.command(level)
        loop.step()


def hovering_rate(steps: int = 8000, runs: int = 15, sensors: Mapping[str, Value] | None = None) -> float:
    """Steps per second in hovering flight: the best of several runs, as other work on the machine only slows it."""
    loop = hovering(sensors)
    rates = []
    for _ in range(runs):
        start = time.perf_counter()
        _hover(loop, steps, 0.45)
        rates.append(steps / (time.perf_counter() - start))
    return max(rates)


def main() -> None:
    """Print steps per second, the best of several runs."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--steps", type=int, default=8000, help="steps per run")
    arguments.add_argument("--runs", type=int, default=15, help="number of runs; the best counts")
    arguments.add_argument("--profile", action="store_true", help="show where the time goes")
    given = arguments.parse_args()
    if given.profile:
        loop = hovering()
        with cProfile.Profile() as profile:
            _hover(loop, given.steps, 0.45)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    best = hovering_rate(given.steps, given.runs)
    print(f"physics + sensing + firmware, {'compiled' if COMPILED else 'plain Python'}, one core")
    print(f"  {best:,.0f} steps/s, best of {given.runs} ({1e6 / best:.1f} us a step, {best / 400:.0f} x real time)")
    start = time.perf_counter()
    mission = Mission(MISSION_PARAMETERS.defaults())
    flown = ClosedLoop(wind=WIND_OF_5)
    log = fly_mission(flown, mission, PositionController(POSITION_CONTROLLER_PARAMETERS.defaults()))
    print(f"with position controller and flight log: {len(log) / (time.perf_counter() - start):,.0f} steps/s")


if __name__ == "__main__":
    main()
