"""Untrusted input: packets sent through the front-ends, and every parser fuzzed.

    python -m proof.fuzz [--packets 1000000] [--seconds 30]

If a parser fails, its input is kept in build/fuzz/NAME.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from proof.mutations import mutated
from proof.packets import PROTOCOLS, Passed
from proof.parsers import CORPUS, PARSERS, kept_inputs
from proof.results import Row, publish

_INPUTS = Path(__file__).parents[1] / "build" / "fuzz"

# Largest input (bytes), and time limit for a parser (s).
_LONGEST = 2000
_SLOWEST_S = 20

_BY_COVERAGE = importlib.util.find_spec("atheris") is not None


def main() -> int:
    """Run all, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m proof.fuzz", description="fuzz every parser and front-end")
    parser.add_argument("--packets", type=int, default=1_000_000, help="packets of each protocol (default: 1000000)")
    parser.add_argument("--seconds", type=int, default=30, help="time for each parser, s (default: 30)")
    given = parser.parse_args()
    how = "coverage-guided (atheris)" if _BY_COVERAGE else "random mutations; atheris is not installed"
    notes = [f"The inputs of the parsers are {how}."]
    return publish("fuzz", "Untrusted input", _rows(given.packets, given.seconds), notes)


def _rows(packets: int, seconds: int) -> Iterator[Row]:
    for name, run in PROTOCOLS.items():
        yield _packet_row(name, run(packets))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda name: _parser_row(name, seconds), PARSERS)


def _packet_row(name: str, passed: Passed) -> Row:
    text = (
        f"{passed.packets:,} packets: {passed.effective:,} of {passed.valid:,} valid packets took effect, "
        f"{passed.counted:,} counted; {passed.answered:,} of {passed.steps:,} steps answered; {passed.seconds:.0f} s"
    )
    return Row(
        f"packets of {name}",
        "every valid packet takes effect, every packet is counted, every step is answered",
        text,
        passed.holds,
    )


def _parser_row(name: str, seconds: int) -> Row:
    inputs, defect = (_guided if _BY_COVERAGE else _at_random)(name, seconds)
    text = f"{inputs:,} inputs" + (f"; {defect}" if defect else "")
    return Row(
        f"parser of {name}",
        "accepts its input, or rejects it with the documented error",
        text,
        inputs > 0 and not defect,
    )


def _guided(name: str, seconds: int) -> tuple[int, str]:
    """Number of inputs, and the defect found."""
    folder = _INPUTS / name
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-timeout={_SLOWEST_S}", f"-max_len={_LONGEST}", "-print_final_stats=1"]
    command = [sys.executable, "-m", "proof.coverage", name, *options, f"-artifact_prefix={folder}/"]
    done = subprocess.run(
        [*command, str(folder / "corpus"), str(CORPUS / name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    (folder / "log").write_text(done.stdout, encoding="utf-8")
    found = re.search(r"number_of_executed_units: (\d+)", done.stdout)
    failure = re.search(r"^(\w+(?:\.\w+)*(?:Error|Exception)\b.*|.*ERROR: libFuzzer.*)$", done.stdout, re.MULTILINE)
    defect = (failure[1] if failure else f"exit code {done.returncode}") if done.returncode else ""
    return int(found[1]) if found else 0, defect


def _at_random(name: str, seconds: int) -> tuple[int, str]:
    end_s, inputs = time.monotonic() + seconds, 0
    for seed in count():
        for data in mutated(kept_inputs(name), seed, 100, _LONGEST):
            inputs += 1
            try:
                PARSERS[name].feed(data)
            except Exception as error:
                (_INPUTS / name).mkdir(parents=True, exist_ok=True)
                (_INPUTS / name / "failed").write_bytes(data)
                return inputs, repr(error)
        if time.monotonic() > end_s:
            break
    return inputs, ""


if __name__ == "__main__":
    sys.exit(main())
