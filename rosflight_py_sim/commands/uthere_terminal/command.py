"""Command `rosflight_py_sim uthere-terminal`: sends typed commands to Ground Control and prints its packets."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosflight_py_sim.commands.uthere_terminal.ground_link import PORT_IN, PORT_OUT, GroundLink
from rosflight_py_sim.commands.uthere_terminal.line_check import RAW, check_line
from rosflight_py_sim.graph.command_options import number_in
from rosflight_py_sim.ground.extras import missing_extra
from rosflight_py_sim.ground.parameters import Parameter
from rosflight_py_sim.ground.process_signals import interrupt_on_signals

if TYPE_CHECKING:
    from rosflight_py_sim.commands.uthere_terminal.completion import CommandCompleter

LISTEN = Parameter("listen", 1.0, "Time to print packets after the last line", "s", minimum=0.0, maximum=1e6)

PROMPT = "> "

HELP = (
    f"Tab completes, arrow up recalls earlier lines, {RAW} before a line sends it unchecked, Ctrl-D quits. "
    "Try: request_plane_list"
)


def add_terminal_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "uthere-terminal",
        help="send typed commands to uThere Ground Control and print its packets",
        description="Send typed commands of uThere Ground Control's protocol and print the received packets. Lines "
        f"that the protocol does not allow are rejected unless they begin with {RAW}. The input may be a pipe or file.",
    )
    parser.add_argument("--address", default="127.0.0.1", help="address of Ground Control (default: 127.0.0.1)")
    parser.add_argument(
        "--port-in", type=_port, default=PORT_IN, metavar="N", help=f"port for commands (default: {PORT_IN})"
    )
    parser.add_argument(
        "--port-out",
        type=_port,
        default=PORT_OUT,
        metavar="N",
        help=f"local port for its packets (default: {PORT_OUT})",
    )
    parser.add_argument(
        "--listen",
        type=number_in(LISTEN),
        default=1.0,
        metavar="S",
        help="seconds to print packets after the last line of a pipe or a file (default: 1)",
    )
    parser.set_defaults(command=_run)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"'{text}' given; allowed: a port from 1 to 65535")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    # Imported here because the import is slow.
    try:
        from rosflight_py_sim.commands.uthere_terminal.completion import CommandCompleter
    except ImportError as error:
        raise missing_extra("uthere-terminal", error, "terminal") from error

    interrupt_on_signals()
    completer = CommandCompleter()

    def show_packet(packet: str) -> None:
        completer.learn(packet)
        print(packet, flush=True)

    def show_error(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    link = GroundLink(options.address, options.port_in, options.port_out, show_packet, show_error)
    data_requested = False
    refused = 0
    try:
        if sys.stdin.isatty():
            print(HELP, flush=True)
            lines = _typed(link, completer)
        else:
            lines = _piped(link, options.listen)
        for line in lines:
            checked = check_line(line)
            refused += bool(checked.complaint)
            data_requested |= checked.requests_data
            if checked.complaint:
                show_error(checked.complaint)
            if checked.packet:
                link.send(checked.packet)
    finally:
        # Otherwise the data would go on to the next client.
        if data_requested:
            link.send("data_clear")
        link.close()
    return 1 if refused and not sys.stdin.isatty() else 0


def _typed(link: GroundLink, completer: CommandCompleter) -> Iterator[str]:
    """Lines typed at the prompt; packets are printed above it."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.patch_stdout import patch_stdout

    session: PromptSession[str] = PromptSession(PROMPT, completer=completer, complete_while_typing=False)
    link.start()
    with patch_stdout():
        while True:
            try:
                yield session.prompt()
            except EOFError:
                return


def _piped(link: GroundLink, listen_s: float) -> Iterator[str]:
    link.start()
    for line in sys.stdin:
        yield line.rstrip("\r\n")
    time.sleep(listen_s)
