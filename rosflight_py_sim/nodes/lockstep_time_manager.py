"""Time manager that advances one step when the previous step is complete (time mode `lockstep`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

from rclpy.parameter import Parameter as RosParameter
from rclpy.timer import Timer
from std_msgs.msg import String

from rosflight_py_sim.ground.parameters import Parameter, ParameterError, ParameterTable, Value, number
from rosflight_py_sim.ground.shared_parameters import STEP_SIZE
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.stepping_time_manager import SteppingTimeManager
from rosflight_py_sim.interfaces.time_manager_interface import TimedVehicle, only
from rosflight_py_sim.step.diagnosis import Diagnosis, Level
from rosflight_py_sim.step.ports import newest, output, queued
from rosflight_py_sim.step.topic_statistics import Period
from rosflight_py_sim.step.topics import (
    REPEATED_CLOCK,
    SIM_STEP_SIZE,
    SIM_STEP_SIZE_REQUEST,
    TRUTH_STATE,
    WAITING_FOR,
    StepSize,
    topic_of,
)

# Number of repetitions of a time after which a node is reported as missing.
_MAX_REPEATS = 40

# Limit of successive repetitions that repeated states cause at once. A repeated state may also be a second answer to a
# repeated time; without a limit, every repetition that it causes would cause the next one.
_MAX_REPEATS_AT_ONCE = 4

_LONGEST_STEP_NS = round(STEP_SIZE.maximum * NANOSECONDS)

_NEVER_NS = 1 << 63


class _Vehicle(TimedVehicle):
    """State of one vehicle, as received by the time manager.

    Attributes:
        truth_topic: topic of its truth state.
        ready_ns: stamp of its newest truth state, ns.
        waiting_for: name of the client outside of the graph that the simulation is waiting for; empty if none.
        request: newest request for the length of a step; None before the first.
        repeats_at_once: number of successive repetitions of a time that its states caused.
    """

    send_step_size = output(SIM_STEP_SIZE)
    send_repeated = output(REPEATED_CLOCK)

    manager: LockstepTimeManager

    def initialise(self) -> None:
        """Set the state before the first truth state."""
        super().initialise()
        self.truth_topic = topic_of(self.name, TRUTH_STATE.name)
        self.ready_ns = -1
        self.waiting_for = ""
        self.request: StepSize | None = None
        self.repeats_at_once = 0

    @newest(WAITING_FOR)
    def _on_waiting_for(self, message: String) -> None:
        self.waiting_for = message.data

    @queued(SIM_STEP_SIZE_REQUEST)
    def _on_request(self, request: StepSize) -> None:
        self.manager.take_request(self, request)

    @queued(TRUTH_STATE, is_stamp=True)
    def _on_truth(self, time_ns: int) -> None:
        self.manager.take_truth(self, time_ns)


class LockstepTimeManager(SteppingTimeManager):
    """Publishes t(k+1) when the truth state of t(k+1) has arrived from each vehicle: a slow machine changes no result.

    The step size is published to dynamics on sim/step_size (latched). The time follows the stamps of the truth
    states, so the manager may be stopped and restarted. If no step has been completed for stall_timeout, the current
    time is published again, on /clock and on sim/repeated_clock: sensors answer it if they have not yet, and the flight
    controller repeats its PWM, whereupon the nodes after it repeat their answers. The time is repeated at once if
    dynamics answers with a state that it has published before: the wrench then had an older stamp, as a wrench of
    ROSflight's forces and moments may have. If a node of a vehicle waits for a client outside of the graph, it
    publishes the client's name on sim/waiting_for, and no message counts as missing.

    Vehicles may request the length of each step on sim/step_size_request (latched). No vehicle takes the step that
    begins at t before each of them has requested the length of that step; sim/step_size then gives the shortest, for
    that step only, and the parameter step_size follows it. The parameter step_size_requests lists these vehicles. A
    vehicle that it does not list is added by its first request; beside other vehicles, its requests count from the next
    step on.

    Attributes:
        all_repeats: total number of repeated times.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("standalone_time_manager",)
    PARAMETERS: ClassVar[ParameterTable] = SteppingTimeManager.PARAMETERS + ParameterTable(
        only("lockstep"),
        Parameter(
            "stall_timeout",
            0.25,
            "System time without a completed step after which the time is repeated; 1e9: in effect never",
            "s",
            minimum=0.01,
            maximum=1e9,
        ),
        Parameter(
            "step_size_requests",
            [],
            "Vehicles, out of the parameter vehicles, that request the length of each step: no vehicle takes a step "
            "before their requests for it",
            element=str,
            read_only=True,
        ),
    )

    HOSTS: ClassVar[tuple[type[Any], ...]] = (_Vehicle,)

    timed: Sequence[_Vehicle]

    def initialise(self) -> None:
        """Set the state before the first truth state."""
        super().initialise()
        self._ready_ns = self._repeated_ns = -1
        self._repeats, self.all_repeats = 0, 0
        self._stall_timer: Timer | None = None

    def configure(self, values: dict[str, Value]) -> None:
        """Set step, pace and stall timeout."""
        super().configure(values)
        if self._stall_timer is None:
            self._requesting = _listed({one.name: one for one in self.timed}, values["step_size_requests"])
            self._behind = set(self.timed)
            self._present_step = StepSize(-1, -1, is_requested=bool(self._requesting))
        self._step_ns = round(number(values, "step_size") * NANOSECONDS)
        timer = self.create_system_timer(number(values, "stall_timeout"), self._on_stall_timer)
        if self._stall_timer is not None:
            self.destroy_timer(self._stall_timer)
        self._stall_timer = timer
        # During a step, it would reach some vehicles before they take the step and others after.
        if not self._behind:
            self._set_ordinary_step()

    @property
    def next_ns(self) -> int:
        """Time of the newest truth states."""
        return self._ready_ns

    @property
    def joining_ns(self) -> int:
        """Time of the next step, that of the newest truth states; 0 before the first step."""
        return self._ready_ns if self.has_time else 0

    @property
    def step_is_complete(self) -> bool:
        """Whether the truth state of the next time has arrived from each vehicle."""
        return not self._behind and not self.is_without_vehicles

    def update_time(self) -> None:
        """Advance to the time of the newest truth states."""
        if self._repeated_ns not in (-1, self.time_ns):
            self._repeated_ns = -1
            for vehicle in self.timed:
                vehicle.repeats_at_once = 0
        is_first = self.time_ns < 0
        super().update_time()
        for vehicle in self.timed:
            if vehicle.ready_ns <= self.time_ns:
                self._behind.add(vehicle)
        if not self.timed:
            self._ready_ns = self.time_ns + self._step_ns
        if is_first:
            self._set_ordinary_step()
        if self._requesting:
            self._set_requested_step()

    def add_vehicle(self, name: str) -> None:
        """Serve another vehicle, which is ready for the next step."""
        super().add_vehicle(name)
        vehicle = self.timed[-1]
        if not self.has_time:
            self._behind.add(vehicle)
            return
        vehicle.ready_ns = self._ready_ns
        if not self._requesting:
            vehicle.send_step_size(StepSize(self.time_ns, self.time_ns + self._step_ns, is_requested=False))

    def remove_vehicle(self, name: str) -> None:
        """Stop serving a vehicle; if only its state was missing, the step is complete."""
        vehicle = next(one for one in self.timed if one.name == name)
        super().remove_vehicle(name)
        self._withdraw(vehicle)
        if vehicle in self._behind:
            self._behind.remove(vehicle)
            if not self._behind:
                after_ns = self.time_ns + self._step_ns if self.has_time else 0
                self._complete(max((one.ready_ns for one in self.timed), default=after_ns))

    def on_resume(self) -> None:
        """Take the step that was held back."""
        self._repeats = 0
        super().on_resume()

    @property
    def _has_step_size(self) -> bool:
        """Whether sim/step_size gives the length of the present step."""
        return self._present_step.time_ns == self.time_ns or not self._requesting

    def _set_ordinary_step(self) -> None:
        """Give the parameter's step size to this and all later steps, if no vehicle requests another.

        Nothing is published before the time is known: a restarted time manager continues that of the graph.
        """
        if not self._requesting and self.time_ns >= 0:
            self._publish_step_size(StepSize(self.time_ns, self.time_ns + self._step_ns, is_requested=False))

    def _set_requested_step(self) -> None:
        """Give the present step the shortest requested length, once all requests for it have arrived."""
        end_ns = _NEVER_NS
        for vehicle in self._requesting:
            request = vehicle.request
            if request is None or request.time_ns != self.time_ns:
                return
            end_ns = min(end_ns, request.end_ns)
        if end_ns == _NEVER_NS:
            return
        self._publish_step_size(StepSize(self.time_ns, end_ns, is_requested=True))
        if end_ns - self.time_ns != self._step_ns:
            self.set_parameters([RosParameter("step_size", value=self._present_step.seconds)])

    def _publish_step_size(self, step: StepSize) -> None:
        self._present_step = step
        for vehicle in self.timed:
            vehicle.send_step_size(step)

    def take_request(self, vehicle: _Vehicle, request: StepSize) -> None:
        """Process a vehicle's request for the length of a step; a length of 0 withdraws its requests."""
        if request.length_ns == 0:
            self._withdraw(vehicle)
            return
        if request.length_ns != self._step_ns:
            try:
                STEP_SIZE.checked(request.seconds)
            except ParameterError as error:
                self.get_logger().warning(f"request on {SIM_STEP_SIZE_REQUEST.name} refused: {error}")
                return
        vehicle.request = request
        is_first = not self._requesting
        if vehicle not in self._requesting:
            self._requesting.append(vehicle)
        if request.time_ns != self.time_ns:
            return
        if is_first and len(self.timed) > 1:
            # Another vehicle may have taken the step: it keeps its length.
            end_ns = self.time_ns + self._present_step.length_ns
            self._publish_step_size(StepSize(self.time_ns, end_ns, is_requested=True))
        elif self._present_step.is_requested and self._has_step_size:
            self._publish_step_size(self._present_step)
        else:
            self._set_requested_step()

    def _withdraw(self, vehicle: _Vehicle) -> None:
        """Wait for no request of the vehicle, whether the parameter lists it or not."""
        vehicle.request = None
        if vehicle in self._requesting:
            self._requesting.remove(vehicle)
            self._set_ordinary_step()
            if not self._has_step_size:
                self._set_requested_step()

    def take_truth(self, vehicle: _Vehicle, stamp: int) -> None:
        """Process the stamp (ns) of a vehicle's truth state."""
        if stamp > vehicle.ready_ns:
            vehicle.ready_ns = stamp
            self._behind.discard(vehicle)
            if not self._behind:
                self._complete(stamp)
        elif stamp == self.time_ns and vehicle in self._behind and vehicle.repeats_at_once < _MAX_REPEATS_AT_ONCE:
            self._repeat(vehicle)

    def _complete(self, stamp: int) -> None:
        """Complete the step with the last state that was missing, which has this stamp, ns."""
        for vehicle in self.timed:
            if vehicle.ready_ns != stamp:
                stamp = self._common_stamp()
                break
        self._ready_ns = stamp
        if self._present_step.length_ns != self._step_ns:
            self._set_ordinary_step()
        if self._repeats:
            self._repeats = 0
            self.end_of_missing()
        self.complete_step()

    def _common_stamp(self) -> int:
        """Time at which to continue, ns, with states of different stamps.

        The stamps differ only if the manager or dynamics has been restarted. Vehicles one step ahead wait for the
        others; a vehicle that restarts at 0 continues at the time of the others.
        """
        stamps = [vehicle.ready_ns for vehicle in self.timed]
        newest_ns = max(stamps)
        return min(stamp for stamp in stamps if newest_ns - stamp <= _LONGEST_STEP_NS)

    def _repeat(self, late: _Vehicle | None = None) -> None:
        """Publish the current time again; the nodes repeat their answers, except the sensors.

        Args:
            late: vehicle whose repeated state is its only answer so far. Any other vehicle may answer twice.
        """
        for vehicle in self.timed:
            vehicle.repeats_at_once = vehicle.repeats_at_once + 1 if vehicle is late else _MAX_REPEATS_AT_ONCE
        self.all_repeats += 1
        self._repeated_ns = self.time_ns
        self.publish_time()
        for vehicle in self.timed:
            vehicle.send_repeated(self.time_ns)

    def _on_stall_timer(self) -> None:
        is_busy = self.hand_off is not None and not self.hand_off.is_idle
        # Within a process no message is lost: a slow machine has yet to deliver some.
        if not self._behind or is_busy:
            return
        self._repeats += 1
        if self._repeats > 1 and self.time_ns >= 0:
            self._repeat()
        missing = self._missing()
        if self._repeats >= _MAX_REPEATS and missing:
            self.warn_of_missing(
                f"no {missing} after {self.time_text}: a node of the step is missing or still starting "
                "(sensors, sil_board, forces_and_moments or dynamics)"
            )

    def _missing(self) -> str:
        """Topics of the missing truth states, without those of vehicles that wait for a client."""
        return ", ".join(v.truth_topic for v in self._holding_up if not v.waiting_for)

    @property
    def _holding_up(self) -> list[_Vehicle]:
        """Vehicles that have yet to take the step or, until its length is known, to request it."""
        if self._has_step_size:
            return [v for v in self.timed if v in self._behind]
        return [v for v in self._requesting if v.request is None or v.request.time_ns != self.time_ns]

    @property
    def is_stalled(self) -> bool:
        """Whether the truth state of a vehicle is missing after a repetition of the time, or an awaited message is."""
        return super().is_stalled or self._steps_have_stopped

    @property
    def _steps_have_stopped(self) -> bool:
        return self._repeats > 1 and bool(self._behind)

    def repeat_time(self) -> None:
        """Publish the present time again, and have dynamics repeat the newest state."""
        self._repeat()

    def diagnose(self, period: Period) -> Iterable[Diagnosis]:
        """Whether the step is being completed."""
        yield Diagnosis("", "", values={"repeated": self.all_repeats})
        missing = self._missing()
        if self._steps_have_stopped and missing:
            level = Level.ERROR if self._repeats >= _MAX_REPEATS else Level.WARN
            yield Diagnosis("", f"stalled at {self.time_text}: no {missing}", level)
        elif self._steps_have_stopped:
            clients = ", ".join(v.waiting_for for v in self._holding_up)
            yield Diagnosis("", f"waiting for {clients} at {self.time_text}", Level.WARN)
        yield from super().diagnose(period)


def _listed(vehicles: Mapping[str, _Vehicle], names: Value) -> list[_Vehicle]:
    """The vehicles of the parameter step_size_requests.

    Raises:
        ParameterError: the time manager does not serve one of them.
    """
    listed = cast("list[str]", names)
    unknown = [name for name in listed if name not in vehicles]
    if unknown:
        raise ParameterError(
            f"parameter 'step_size_requests': '{unknown[0]}' given; allowed: vehicles of the parameter 'vehicles' "
            f"({', '.join(map(repr, vehicles))})"
        )
    return [vehicles[name] for name in dict.fromkeys(listed)]
