"""Command `rosflight_py_sim`: the whole simulation in one process, without launch files."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rosflight_py_sim.commands.baseline import add_baseline_parser
from rosflight_py_sim.commands.command_parser import CommandParser
from rosflight_py_sim.commands.gains import add_gains_parser
from rosflight_py_sim.commands.hand_over import add_hand_over_parser
from rosflight_py_sim.commands.identify import add_identify_parsers
from rosflight_py_sim.commands.inject import add_inject_parser
from rosflight_py_sim.commands.prepare_firmware import add_prepare_firmware_parser
from rosflight_py_sim.commands.recordings import add_recording_parsers
from rosflight_py_sim.commands.search import add_search_parser
from rosflight_py_sim.commands.status import add_status_parser
from rosflight_py_sim.commands.sweep import add_sweep_parser
from rosflight_py_sim.commands.trim import add_trim_parser
from rosflight_py_sim.commands.uthere_terminal.command import add_terminal_parser
from rosflight_py_sim.commands.version import PrintVersion
from rosflight_py_sim.graph.command_options import add_options, existing_file, given_in_scenario
from rosflight_py_sim.graph.flight_controllers import instructions, keyboard_settings
from rosflight_py_sim.graph.options import FLY, SIM
from rosflight_py_sim.graph.time_modes import check_pace
from rosflight_py_sim.ground.parameters import ParameterError
from rosflight_py_sim.ground.process_signals import INTERRUPTED, interrupt_on_signals
from rosflight_py_sim.ground.registry import registered_folders
from rosflight_py_sim.ground.stamps import NANOSECONDS
from rosflight_py_sim.missions.flight_progress import PERIOD_S, WATCHED_PACE
from rosflight_py_sim.vehicles import STANDALONE, vehicles_and_errors
from rosflight_py_sim.vehicles.catalogue import FOLDERS

if TYPE_CHECKING:
    from rosflight_py_sim.graph.other_simulation import OtherSimulation
    from rosflight_py_sim.graph.scenario import Scenario
    from rosflight_py_sim.graph.simulation_options import SimulationOptions
    from rosflight_py_sim.missions.flight_film import FlightFilm


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 on success, 1 on a rejected parameter or a failed flight, 130 on Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--ros-args") if "--ros-args" in given else len(given)
    try:
        options = command_parser().parse_args(given[:cut])
        options.ros_arguments = given[cut:]
        sys.exit(options.command(options))
    except ParameterError as error:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        # A second Ctrl-C must not change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(INTERRUPTED)


def command_parser() -> argparse.ArgumentParser:
    """Parser of the command line, with every subcommand."""
    parser = CommandParser(prog="rosflight_py_sim", description="Flight simulator built as a ROS 2 node graph.")
    parser.add_argument(
        "--version",
        action=PrintVersion,
        help="show the versions of the program and of ROS 2, the middleware, and the end of ROS 2's support, and exit",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    sim = commands.add_parser(
        "sim",
        help="run the graph until Ctrl-C",
        description="Run all nodes in one process until Ctrl-C.",
        epilog="Arguments after --ros-args are passed to ROS: -p NAME:=VALUE, -r OLD:=NEW, --log-level LEVEL.",
    )
    add_options(sim, SIM)
    # ros2 launch does not treat an exit by Ctrl-C as a failure.
    sim.add_argument("--launched", nargs="?", const="", metavar="FILE", help=argparse.SUPPRESS)
    sim.set_defaults(command=_sim)

    fly = commands.add_parser(
        "fly",
        help="fly a mission and summarize it",
        description="Fly a vehicle's mission in wind or current, with its autopilot or the client program named in its "
        "file; with --scenario, fly the missions of all vehicles of a scenario. Print a summary and draw a plot. The "
        f"missions run as fast as the machine allows, or with --view at {WATCHED_PACE:g} times real time; the page then"
        " shows the result until Ctrl-C. A terminal "
        f"shows a progress bar with the time left; a file or pipe gets a line every {PERIOD_S:g} s.",
        epilog="Arguments after --ros-args are passed to ROS.",
    )
    add_options(fly, FLY)
    fly.set_defaults(command=_fly)
    add_sweep_parser(commands)
    add_search_parser(commands)
    add_baseline_parser(commands)
    add_recording_parsers(commands)
    add_identify_parsers(commands)
    add_trim_parser(commands)
    add_gains_parser(commands)
    add_status_parser(commands)
    vehicles = commands.add_parser(
        "vehicles",
        help="list the vehicles",
        description="List the vehicles that --vehicle accepts by name: from folders in the environment variable "
        f"{FOLDERS}, from installed packages, and from this package.",
    )
    vehicles.set_defaults(command=_vehicles)

    joysticks = commands.add_parser(
        "joysticks",
        help="list connected joysticks and their mappings",
        description="List the connected joysticks with the mapping of each.",
    )
    joysticks.add_argument("--watch", action="store_true", help="show axes and pressed buttons until Ctrl-C")
    joysticks.add_argument(
        "--mapping-file", type=existing_file, metavar="FILE", help="your own mappings, which override the built-in ones"
    )
    joysticks.set_defaults(command=_joysticks)
    compiling = commands.add_parser(
        "compile",
        help="compile the numeric kernels, once after an installation",
        description="Compile the numeric kernels into a library in the cache folder (~/.cache/rosflight_py_sim), which "
        "shortens the start and saves memory. Run it after each installation or edit of a kernel; otherwise the first "
        "flight does so before it starts. Needs numba, a C compiler and Python's headers.",
    )
    compiling.set_defaults(command=_compile)
    add_hand_over_parser(commands)
    add_prepare_firmware_parser(commands)
    add_inject_parser(commands)
    add_terminal_parser(commands)
    return parser


def _with_file(parsed: argparse.Namespace, options: SimulationOptions, command: str) -> Scenario:
    """The scenario of the file that the options give."""
    from rosflight_py_sim.graph.scenario import load_scenario

    contradicting = given_in_scenario(parsed, command)
    if contradicting:
        raise ParameterError(
            f"{contradicting[0]} given with --scenario {options.scenario}; allowed: one of them, as a scenario file "
            "gives its own vehicles, world, seed and time mode"
        )
    return options.added_to(load_scenario(options.scenario))


def _sim(parsed: argparse.Namespace) -> int:
    from rosflight_py_sim.graph.other_simulation import OtherSimulation
    from rosflight_py_sim.graph.simulation_file import read_simulation
    from rosflight_py_sim.graph.simulation_options import SimulationOptions

    try:
        if parsed.launched:
            options, scenario = read_simulation(Path(parsed.launched))
        else:
            options = SimulationOptions.of_command(parsed)
            scenario = _with_file(parsed, options, SIM) if options.scenario else options.simulated()
        with OtherSimulation(allowed=options.share_domain) as other:
            return _sim_alone(parsed, options, scenario, other)
    except KeyboardInterrupt:  # before there was a graph, as in the first compilation
        if parsed.launched is None:
            raise
        return 0


def _sim_alone(
    parsed: argparse.Namespace, options: SimulationOptions, scenario: Scenario, other: OtherSimulation
) -> int:
    from rosflight_py_sim.graph.composition import ComposedGraph
    from rosflight_py_sim.nodes.running import deferred_signals

    check_pace(scenario.time_mode, options.real_time_multiplier)
    members, settings, is_launched = scenario.members, dict(scenario.settings), parsed.launched is not None
    if options.use_vimfly:
        settings |= {"use_vimfly": True, **keyboard_settings(members)}
    other.refuse(members, scenario.time_mode, observers=scenario.observers, namespace=options.namespace)
    # An interrupt between the creation of the graph and its end would leave its processes behind.
    with deferred_signals() as signals:
        graph = ComposedGraph(
            members,
            files=scenario.files,
            settings=settings,
            arguments=parsed.ros_arguments,
            time_mode=scenario.time_mode,
            time_manager=scenario.time_manager,
            namespace=options.namespace,
            observers=scenario.observers,
            # One joystick must not control a whole fleet; a pilot on the page flies the vehicle selected there.
            transmitter="auto" if len(members) == 1 else "page" if options.view else "none",
            sidecars=options.viewers,
            services=options.services,
            record=options.record,
            names=options.names,
            alone=not options.share_domain,
        )
        try:
            names = ", ".join(member.namespace or member.vehicle.name for member in members)
            are = "are" if len(members) > 1 else "is"
            print(f"{names} {are} running ({scenario.time_mode}); press Ctrl-C to end", flush=True)
            for line in instructions(members):
                print(line, flush=True)
            limit_ns = float("inf") if options.duration is None else graph.time_ns + options.duration * NANOSECONDS
            graph.spin(lambda: graph.time_ns < limit_ns)
        except KeyboardInterrupt:
            if not is_launched:
                raise
        finally:
            graph.close()
    if signals and not is_launched:
        raise KeyboardInterrupt
    return 0 if graph.recorded else 1


def _fly(parsed: argparse.Namespace) -> int:
    from rosflight_py_sim.graph.other_simulation import OtherSimulation
    from rosflight_py_sim.graph.simulation_options import SimulationOptions

    options = SimulationOptions.of_command(parsed)
    film = _film(parsed)
    with OtherSimulation(allowed=options.share_domain) as other:
        return _fly_alone(parsed, options, other, film)


def _film(parsed: argparse.Namespace) -> FlightFilm | None:
    if not parsed.gif:
        return None
    from rosflight_py_sim.missions.flight_film import FlightFilm

    return FlightFilm(Path(parsed.gif))


def _fly_alone(
    parsed: argparse.Namespace, options: SimulationOptions, other: OtherSimulation, film: FlightFilm | None
) -> int:
    from rosflight_py_sim.missions.catalogue import flights_of, single_scenario
    from rosflight_py_sim.missions.flight import fly
    from rosflight_py_sim.missions.flight_page import FlightPage

    if options.scenario:
        scenario = _with_file(parsed, options, FLY)
    else:
        scenario = single_scenario(options.chosen_vehicle, options.params_file, calm=options.calm)
    flights = flights_of(scenario.members)
    if not flights:
        raise ParameterError(
            f"scenario '{options.scenario}' given, in which no vehicle has a mission; allowed: scenarios with "
            "'mission' or 'autopilot' in at least one vehicle"
        )
    settings = options.settings
    check_pace(scenario.time_mode, options.real_time_multiplier)
    if options.view and "real_time_multiplier" not in {**scenario.settings, **settings}:
        settings["real_time_multiplier"] = WATCHED_PACE
    members, time_mode, record = scenario.members, scenario.time_mode, options.record
    other.refuse(members, time_mode, observers=scenario.observers, namespace=options.namespace)
    # The page outlives a flight, and may request the next one.
    with FlightPage() if options.view else nullcontext() as page:
        while True:
            code = fly(
                scenario,
                flights,
                settings=settings,
                ros_arguments=parsed.ros_arguments,
                namespace=options.namespace,
                output=Path(parsed.output),
                # Without the page, no device changes the flight.
                transmitter="page" if options.view else "none",
                sidecars=options.viewers,
                record=record,
                alone=not options.share_domain,
                page=page,
                film=film,
            )
            if page is None or not page.flies_again:
                return code
            flights = flights_of(scenario.members)
            # The file of the first flight exists; the next recordings are named by the recorder.
            record = None if record is None else ""


def _vehicles(_: argparse.Namespace) -> int:
    vehicles, errors = vehicles_and_errors()
    for (name, dynamics), one in vehicles.items():
        option = "" if dynamics == STANDALONE else f" --dynamics {dynamics}"
        print(f"{name}{option}: {one.description} ({one.file})")
    # A package that cannot be used must not make the command fail.
    for error in [*errors, *registered_folders("vehicles")[1]]:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
    return 1 if errors else 0


def _compile(_: argparse.Namespace) -> int:
    from rosflight_py_sim.kernels import jit
    from rosflight_py_sim.kernels.preparation import compile_kernels
    from rosflight_py_sim.kernels.wrappers import LibraryError

    try:
        left_out = compile_kernels()
    except LibraryError as error:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
        return 1
    for reason in left_out:
        print(f"rosflight_py_sim: compiled by numba at run time instead: {reason}", file=sys.stderr)
    print(f"kernel library: {jit.library_path() if jit.LIBRARY is None else jit.LIBRARY.__file__}")
    return 0


def _joysticks(options: argparse.Namespace) -> int:
    from rosflight_py_sim.transmitter.listing import list_joysticks
    from rosflight_py_sim.transmitter.mapping import MappingError, all_mappings
    from rosflight_py_sim.transmitter.sdl import NoPygameError

    interrupt_on_signals()
    try:
        list_joysticks(all_mappings(options.mapping_file), watch=options.watch)
    except (MappingError, NoPygameError) as error:
        print(f"rosflight_py_sim: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main()
