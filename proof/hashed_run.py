"""Fly in a composed graph; print the number of messages and the hash of each topic, as JSON.

    python -m proof.hashed_run VEHICLE SECONDS [options] [ROS ARGUMENTS]

The flight ends after SECONDS of simulated time; until then, vehicles that land repeat their missions, and the others
loiter. Two runs are independent only in separate processes.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from proof.topic_digests import TopicDigests
from rosflight_py_sim.graph.composition import ComposedGraph
from rosflight_py_sim.graph.fleet import Member
from rosflight_py_sim.graph.flight_controllers import chosen_flight_controller
from rosflight_py_sim.graph.scenario import Scenario, load_scenario
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.interfaces.node_of_part import node_of
from rosflight_py_sim.missions.autopilot.judge import autopilot_class
from rosflight_py_sim.nodes.pilot import MissionPilot, Pilot
from rosflight_py_sim.parts.pilot_script import MissionScript
from rosflight_py_sim.parts.service_script import Script
from rosflight_py_sim.step.topics import TRUTH_STATE
from rosflight_py_sim.vehicles import STANDALONE, vehicle

# System time between two checks of the graph, s.
_POLL_S = 0.05


class RepeatingPilot(MissionPilot):
    """Pilot that repeats the mission of a vehicle that lands."""

    def flight(self) -> Script:
        yield from super().flight()
        while self.has_landed:
            # Arming requires that the sticks have control.
            yield "toggle_override"
            yield lambda: bool(self.status.rc_override)
            yield from super().flight()


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("vehicle", help="name of a vehicle; with --scenario, of a scenario")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--dynamics", default=STANDALONE)
    parser.add_argument("--flight-controller", default="sil_board")
    parser.add_argument("--scenario", action="store_true", help="all vehicles of the scenario have autopilots")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pace", type=float, default=0.0, help="times real time; 0: no limit")
    parser.add_argument("--view-port", type=int, help="serve the page on this port")
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--await", dest="awaited", metavar="NODE", help="begin when this node subscribes to the truth")
    options, arguments = parser.parse_known_args()
    scenario = load_scenario(options.vehicle) if options.scenario else _scenario(options)
    digests = TopicDigests()
    view = {} if options.view_port is None else {"web_viewer.port": options.view_port}
    graph = ComposedGraph(
        scenario.members,
        files=scenario.files,
        settings={"seed": options.seed, **scenario.settings, "real_time_multiplier": options.pace, **view},
        arguments=["--log-level", "error", *arguments],
        sidecars=["web_viewer"] if view else [],
        record=options.record,
        tap=digests.tap,
    )
    pilots = [_pilot(graph, member) for member in scenario.members]
    limit_ns = round(options.seconds * NANOSECONDS)
    truth = f"/{TRUTH_STATE.name}"
    try:
        while options.awaited and all(
            one.node_name != options.awaited for one in pilots[0].get_subscriptions_info_by_topic(truth)
        ):
            time.sleep(_POLL_S)
        graph.spin(lambda: graph.time_ns < limit_ns and not any(pilot.failure for pilot in pilots))
        end_s = graph.time_ns / NANOSECONDS
    finally:
        graph.close()
    failures = [str(pilot.failure) for pilot in pilots if pilot.failure]
    print(json.dumps({"end_s": end_s, "failures": failures, "digests": digests.digests}))


def _scenario(options: argparse.Namespace) -> Scenario:
    chosen = vehicle(options.vehicle, options.dynamics)
    follows = bool(chosen.autopilot) and chosen_flight_controller(options.flight_controller).follows(chosen.autopilot)
    autopilots = (chosen.autopilot,) if follows else ()
    member = Member(chosen, flight_controller=options.flight_controller, executables=autopilots)
    return Scenario([member], "lockstep", files=[str(chosen.weather_file)])


def _pilot(graph: ComposedGraph, member: Member) -> Any:
    if not member.executables:
        return graph.join(Pilot, namespace=member.namespace)
    script = autopilot_class(member.vehicle).PILOT
    pilot: Any = RepeatingPilot if issubclass(script, MissionScript) else node_of(script)
    return graph.join(pilot, namespace=member.namespace)


if __name__ == "__main__":
    main()
