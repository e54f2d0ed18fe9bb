"""Run the proofs, or those named, and write docs/proof.md.

    python -m proof [NAME ...]

The exit code is 1 if a promise is not kept; all proofs run in any case.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec

from proof import page


def main() -> None:
    """Run the program."""
    known = [name for name in page.PARTS if find_spec(f"proof.{name}") is not None]
    parser = argparse.ArgumentParser(prog="python -m proof", description="Run the proofs and write docs/proof.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)} (default: all)")
    options = parser.parse_args()
    unknown = sorted({*options.names} - {*known})
    if unknown:
        parser.error(f"'{unknown[0]}' given; allowed: {', '.join(known)}")
    failed = []
    for name in options.names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"proof.{name}"], check=False).returncode:
            failed.append(name)
    page.main()
    if failed:
        print(f"not proven: {', '.join(failed)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
