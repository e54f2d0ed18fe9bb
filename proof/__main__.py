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

SIZES = {"restarts": ("--kills", "5"), "soak": ("--hours", "0.25"), "fuzz": ("--seconds", "10")}
"""Options that shorten the longest proofs."""


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
        if subprocess.run([sys.executable, "-m", f"proof.{name}", *SIZES.get(name, ())], check=False).returncode:
            failed.append(name)
    page.main()
    if failed:
        print(f"not proven: {', '.join(failed)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
