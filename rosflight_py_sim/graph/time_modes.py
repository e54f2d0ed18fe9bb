"""Selection of the time mode from launch arguments."""

from __future__ import annotations

from rosflight_py_sim.ground.node_kinds import NodeKind
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.registry import node_names
from rosflight_py_sim.ground.shared_parameters import TIME_MODES

TIME_MANAGERS = {
    "paced": "standalone_time_manager",
    "gated": "gated_time_manager",
    "lockstep": "lockstep_time_manager",
}
"""Executable of the time manager for each time mode that has one."""


def time_manager_of(time_mode: str, name: str = "") -> str | None:
    """Executable of the time manager: the named one, or that of the time mode; None in `wall`.

    Raises:
        ParameterError: there is no time manager of that name, or the time mode is `wall`.
    """
    if not name:
        return TIME_MANAGERS.get(time_mode)
    if name not in node_names(NodeKind.TIME_MANAGER):
        allowed = ", ".join(node_names(NodeKind.TIME_MANAGER))
        raise ParameterError(f"time manager '{name}' given; allowed: {allowed}")
    if time_mode == "wall":
        raise ParameterError(f"time manager '{name}' given in the time mode wall; allowed: paced, gated, lockstep")
    return name


def chosen_time_mode(time_mode: str, use_sim_time: bool | None, *, lockstep: bool) -> str:
    """Time mode selected by the options; an empty text and None are options that were not given.

    Without `time_mode`, use_sim_time selects the mode as in ROSflight's launch files: paced if true, otherwise wall.
    With `lockstep` (graphs in one process, flight controllers that require it), the mode is lockstep unless
    use_sim_time is false.

    Raises:
        ParameterError: there is no such time mode, or the two contradict each other.
    """
    if time_mode and time_mode not in TIME_MODES:
        raise ParameterError(f"launch argument 'time_mode': '{time_mode}' given; allowed: {', '.join(TIME_MODES)}")
    if use_sim_time is None:
        return time_mode or ("lockstep" if lockstep else "wall")
    if not time_mode:
        if not use_sim_time:
            return "wall"
        return "lockstep" if lockstep else "paced"
    if use_sim_time == (time_mode == "wall"):
        runs_on = "system time" if time_mode == "wall" else "simulated time"
        allowed = "paced, gated or lockstep" if use_sim_time else "wall"
        given = f"use_sim_time:={str(use_sim_time).lower()} and time_mode:={time_mode}"
        raise ParameterError(
            f"launch arguments {given} contradict each other: "
            f"{time_mode} runs on {runs_on}; leave use_sim_time out, or choose time_mode:={allowed}"
        )
    return time_mode


def check_pace(time_mode: str, real_time_multiplier: float | None) -> None:
    """Reject a multiplier in `wall`; None: not given.

    Raises:
        ParameterError: a multiplier is given in `wall`.
    """
    if time_mode == "wall" and real_time_multiplier is not None:
        raise ParameterError(
            f"real_time_multiplier {real_time_multiplier} given; time mode wall runs on system time: leave it out, or "
            "choose the time mode paced, gated or lockstep"
        )
