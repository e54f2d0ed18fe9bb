"""Regular calls in the node's time, triggered by the system clock or by /clock."""

from __future__ import annotations

from collections.abc import Callable

from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.interfaces.simulation_node import SimulationNode
from rosflight_py_sim.step.schedule import Schedule
from rosflight_py_sim.step.topics import CLOCK


def subscribe_to_clock(node: SimulationNode, on_time: Callable[[int], None]) -> None:
    """Call `on_time` with the time, ns, of every /clock message, including repeated ones."""

    def on_clock(time_ns: int) -> None:
        node.update_clock(time_ns)
        on_time(time_ns)

    node.follow_stamps()
    # In a hand-off the nodes have one clock, which is set before any node receives the time.
    node.subscribe(CLOCK, on_clock if node.hand_off is None else on_time)


def start_ticks(node: SimulationNode, rate_hz: float, on_tick: Callable[[int], None]) -> None:
    """Call `on_tick` with the time, ns, `rate_hz` times a second of the node's time.

    Without use_sim_time a timer on system time triggers the calls; with it the /clock messages do, even in time mode
    `wall`, so launch files that set only use_sim_time, such as ROSflight's, need no other parameter.

    Raises:
        ParameterError: time mode `paced` or `gated` without use_sim_time.
    """
    if not node.get_parameter("use_sim_time").value:
        time_mode = node.values["time_mode"]
        if time_mode != "wall":
            raise ParameterError(f"parameter 'use_sim_time': False given; with time_mode '{time_mode}' allowed: true")
        node.create_timer(1.0 / rate_hz, lambda: on_tick(node.now_ns))
        return
    schedule = Schedule(rate_hz)

    def on_time(time_ns: int) -> None:
        if not schedule.since_ns <= time_ns < schedule.next_ns and schedule.due(time_ns):
            on_tick(time_ns)

    subscribe_to_clock(node, on_time)
