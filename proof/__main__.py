"""Run all proofs, or the named ones, and write docs/proof.md.

    python -m proof [NAME ...]

All proofs run, even if one fails; the exit code is 1 if a promise is not kept. On two quiet cores, they take about 50
minutes together.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from proof import page

COMMANDS = {
    "identification_multirotor": ("identification",),
    "identification_anaconda": ("identification", "--vehicle", "anaconda"),
    "restarts": ("restarts", "--kills", "5"),
    "soak": ("soak", "--hours", "0.25"),
    "fuzz": ("fuzz", "--seconds", "10"),
}
"""Module and options of the proofs that are not named after their module, or that options shorten."""


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m proof", description="Run the proofs and write docs/proof.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(page.PARTS)} (default: all)")
    options = parser.parse_args()
    unknown = sorted({*options.names} - {*page.PARTS})
    if unknown:
        parser.error(f"'{unknown[0]}' given; allowed: {', '.join(page.PARTS)}")
    failed = []
    for name in options.names or page.PARTS:
        print(f"== {name}", flush=True)
        module, *given = COMMANDS.get(name, (name,))
        if subprocess.run([sys.executable, "-m", f"proof.{module}", *given], check=False).returncode:
            failed.append(name)
    page.main()
    if failed:
        print(f"not proven: {', '.join(failed)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
