"""The commands of the pages that a newcomer reads first, run from the pages' text, in their order."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from forked_python import ForkedPython

from rosflight_py_sim.commands.cli import command_parser
from test.processes.conftest import PROJECT, TIMEOUT_S, Observer, Processes

RUN = ".venv/bin/rosflight_py_sim "
PYTHON = ".venv/bin/python "
EXIT_CODE = "; echo $?"
# Time limit of a command, s: a script that receives each state slows a flight of 50 s down on a busy machine.
FLIGHT_S = 300.0


@dataclass
class Step:
    """A command of a page with the output that the page shows, or the end of the command in the first terminal."""

    command: str
    output: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """The command for an interpreter."""
        given = shlex.split(self.command.removesuffix(EXIT_CODE))
        return ["-m", "rosflight_py_sim", *given[1:]] if self.command.startswith(RUN) else given[1:]


def steps_of(page: str) -> Iterator[Step]:
    """Commands of the environment's programs, and each mention of Ctrl-C in the text."""
    is_fenced, step = False, Step("")
    for line in (PROJECT / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced and not line.startswith("$ "):
            step.output.append(line)
        elif is_fenced or line.startswith("    "):
            step = Step(line.removeprefix("$ ").strip())
            if step.command.startswith((RUN, PYTHON)):
                yield step
        elif "Ctrl-C" in line:
            yield Step("")


def shape(line: str) -> str:
    """A line without its numbers and the width of its gaps."""
    return " ".join(re.sub(r"-?\d+(\.\d+)?", "#", line).split())


class Terminals:
    """The first terminal, with a simulation, and the second, with commands that end."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._folder = processes.folder
        (self._folder / "docs").symlink_to(PROJECT / "docs")
        self._simulation: ForkedPython | None = None
        self._observer: Observer | None = None
        self._count = 0

    def start(self, step: Step) -> tuple[ForkedPython, Path, Path]:
        """Start a command; its process, and the files with its output."""
        self._count += 1
        out = self._folder / f"{self._count}.txt"
        # The variable by which the project's commands choose this machine alone is theirs to set.
        given = {k: v for k, v in self._processes.environment.items() if k != "ROS_AUTOMATIC_DISCOVERY_RANGE"}
        err = out.with_suffix(".err")
        return ForkedPython(step.words, env=given, cwd=self._folder, stdout=out, stderr=err), out, err

    def simulate(self, step: Step) -> None:
        """Start a simulation in the first terminal."""
        assert self._simulation is None or self._simulation.poll() is not None, f"two simulations: {step.command}"
        self._simulation, out, err = self.start(step)
        self._observer = self._processes.observer(truth="none")
        simulation = self._simulation
        self._observer.wait_for(lambda: "running (" in out.read_text() or simulation.poll() is not None, step.command)
        assert simulation.poll() is None, err.read_text()

    def end_simulation(self) -> None:
        """Press Ctrl-C in the first terminal."""
        if self._simulation is not None:
            self._simulation.send_signal(signal.SIGINT)
            assert self._simulation.wait(TIMEOUT_S) == 130
            self._simulation = None

    def set_pace(self, pace: float) -> None:
        """Let the simulation, if any, run faster than the page does."""
        if self._simulation is not None and self._observer is not None:
            assert self._observer.set_number("/time_manager", "real_time_multiplier", pace).successful

    def run(self, step: Step) -> None:
        """Run a command to its end, and compare its output with the page's."""
        # `status` reports a pace that a busy machine does not reach.
        self.set_pace(8.0 if step.command.startswith(PYTHON) else 1.0)
        process, out, err = self.start(step)
        code = process.wait(FLIGHT_S)
        errors, output = err.read_text(), out.read_text().splitlines()
        assert "Traceback" not in errors
        shown = step.output
        if step.command.endswith(EXIT_CODE):
            *shown, expected = shown
            assert str(code) == expected, errors
        else:
            assert code == 0, errors
        if " status --once" in step.command:
            # Rates and health depend on how busy the machine is, and the width of the table on the names.
            names = [line.split()[0] for line in shown[1:] if line[:1].strip()]
            assert [line.split()[0] for line in output if line.split()[:1] and line.split()[0] in names] == names
            shown = []
        shapes = iter([shape(line) for line in output])
        for line in shown:
            assert shape(line) in shapes, f"'{line}' is not in the output, in this order:\n" + "\n".join(output)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", ["docs/tour.md", "docs/first_five_minutes.md"])
def test_commands_of_the_page_do_what_it_shows(processes: Processes, page: str) -> None:
    terminals = Terminals(processes)
    steps = list(steps_of(page))
    assert sum(step.command.startswith(RUN + "sim") for step in steps) >= 1
    assert sum(bool(step.output) for step in steps) >= 3
    for step in steps:
        if not step.command:
            terminals.end_simulation()
        elif step.command.startswith(RUN + "sim"):
            terminals.simulate(step)
        else:
            terminals.run(step)
    terminals.end_simulation()


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md", "docs/first_five_minutes.md", "docs/gallery.md"])
def test_commands_of_the_page_have_options_that_exist(page: str) -> None:
    text = (PROJECT / page).read_text(encoding="utf-8")
    commands = re.findall(
        r"(?:^ {4}|`|\$ )(?:\.venv/bin/|ros2 run rosflight_py_sim )rosflight_py_sim ([^`\n;]+)", text, re.M
    )
    made = re.findall(r"(?:^ {4}|`)make fly(?: [A-Z]+=\S*)* ?(?:ARGS=\"([^\"]*)\")?", text, re.M)
    assert commands or made
    for words in [*map(shlex.split, commands), *(["fly", *shlex.split(given)] for given in made)]:
        cut = words.index("--ros-args") if "--ros-args" in words else len(words)
        command_parser().parse_args(words[:cut])
