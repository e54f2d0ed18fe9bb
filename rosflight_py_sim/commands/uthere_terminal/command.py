"""The command `rosflight_py_sim uthere-terminal`: type commands to Ground Control, see what it sends."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosflight_py_sim.commands.uthere_terminal.ground_link import PORT_IN, PORT_OUT, GroundLink
from rosflight_py_sim.commands.uthere_terminal.line_check import RAW, check_line
from rosflight_py_sim.extras import missing_extra

if TYPE_CHECKING:
    from rosflight_py_sim.commands.uthere_terminal.completion import CommandCompleter

PROMPT = "> "

HELP = (
    f"Tab completes, the arrow up brings back what was typed; {RAW} before a line sends it unchecked; Ctrl-D ends. "
    "Try: request_plane_list"
)


def add_terminal_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command's parser."""
    parser = commands.add_parser(
        "uthere-terminal",
        help="type commands to uThere Ground Control, see what it sends",
        description="Send typed commands of uThere Ground Control's protocol, and show what comes back. Lines that are "
        f"not of the protocol are refused, unless {RAW} stands before them. So are lines from a pipe or a file.",
    )
    parser.add_argument("--address", default="127.0.0.1", help="of Ground Control (default 127.0.0.1)")
    parser.add_argument(
        "--port-in", type=_port, default=PORT_IN, metavar="N", help=f"where it listens (default {PORT_IN})"
    )
    parser.add_argument(
        "--port-out", type=_port, default=PORT_OUT, metavar="N", help=f"where it answers to (default {PORT_OUT})"
    )
    parser.add_argument(
        "--listen",
        type=float,
        default=1.0,
        metavar="S",
        help="show what comes for so many seconds after the last line of a pipe or a file (default 1)",
    )
    parser.set_defaults(command=_run)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"'{text}' given; allowed: a port from 1 to 65535")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    # Here because it takes its time to be imported.
    try:
        from rosflight_py_sim.commands.uthere_terminal.completion import CommandCompleter
    except ImportError as error:
        raise missing_extra("uthere-terminal", error, "terminal") from error

    completer = CommandCompleter()

    def hear(packet: str) -> None:
        completer.learn(packet)
        print(packet, flush=True)

    def complain(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    link = GroundLink(options.address, options.port_in, options.port_out, hear, complain)
    asked = False
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
            asked |= checked.asks_for_data
            if checked.complaint:
                complain(checked.complaint)
            if checked.packet:
                link.send(checked.packet)
    finally:
        # What was asked for would go on being sent to whoever listens next.
        if asked:
            link.send("data_clear")
        link.close()
    return 1 if refused and not sys.stdin.isatty() else 0


def _typed(link: GroundLink, completer: CommandCompleter) -> Iterator[str]:
    """Lines that a person types; what comes meanwhile is shown above."""
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
