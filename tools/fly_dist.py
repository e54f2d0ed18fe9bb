"""Install the wheels of dist/ for this Python in a new environment, and fly there, for `make fly-dist`.

No program but those of the environment is on the PATH: neither make nor a compiler. The versions of other packages are
those of requirements.lock. A further flight must equal that of this Python's own environment, which compiles the
kernels itself, to the bit.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from build_dist import DIST, PACKAGES, PROJECT, TAG
from lock_sets import entries

TRUTH = (str(PROJECT / "test" / "graph" / "flown_truth.py"), "multirotor", "13", "-p", "seed:=7")
"""Program that prints hashes of all truth states until the vehicle has climbed."""

SHOW = "from rosflight_py_sim.kernels import jit; print(jit.LIBRARY.__file__)"


def main() -> int:
    """Return the exit status: 1, with the reason on stderr, if kernels are not used or the flights differ."""
    wheels = sorted(str(one) for one in DIST.glob(f"*-{TAG}-{TAG}-*.whl"))
    if len(wheels) != len(PACKAGES):
        needed = f"{len(PACKAGES)} are needed: run make dist"
        print(f"{DIST} has {len(wheels)} wheels for {TAG}; {needed}", file=sys.stderr)
        return 1
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        domain = str(random.SystemRandom().randrange(1, 100))
        alone = {**os.environ, "ROS_DOMAIN_ID": domain, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        without_compiler = {**alone, "PATH": str(python.parent)}

        def output(*words: str) -> str:
            """Output of a program that finds no kernels in a cache."""
            environment = {**without_compiler, "XDG_CACHE_HOME": f"{folder}/cache"}
            run = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            return run.stdout

        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        locked = Path(folder) / "locked.txt"
        locked.write_text(constraints((PROJECT / "requirements.lock").read_text(encoding="utf-8")), encoding="utf-8")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(locked)]
        subprocess.run([*pip, *wheels], cwd=folder, env=without_compiler, check=True)
        installed = time.monotonic()
        print(output(str(python.parent / "rosflight_py_sim"), "fly"))
        print(f"installed in {installed - started:.0f} s, flown in {time.monotonic() - installed:.0f} s")
        library = output(str(python), "-c", SHOW).strip()
        if not Path(library).is_relative_to(folder):
            print(f"the kernels of the wheel are not used, but {library}", file=sys.stderr)
            return 1
        expected = subprocess.run([sys.executable, *TRUTH], env=alone, stdout=subprocess.PIPE, text=True, check=True)
        if output(str(python), *TRUTH) != expected.stdout:
            print("a flight with the wheels differs from one with the kernels of this environment", file=sys.stderr)
            return 1
        if compiled := sorted(one.stem for one in Path(folder, "cache").rglob("*.nbi")):
            print(f"numba compiled kernels that the wheel lacks: {', '.join(compiled)}", file=sys.stderr)
            return 1
    print("a flight with the wheels equals one with the kernels of this environment, to the bit")
    return 0


def constraints(lock: str) -> str:
    """The versions of a lock file, as constraints of pip, which takes neither extras nor hashes beside local files."""
    heads = (entry.partition("\n")[0].removesuffix("\\") for _, entry in entries(lock))
    return "".join(re.sub(r"\[.*?\]", "", head).strip() + "\n" for head in heads)


if __name__ == "__main__":
    sys.exit(main())
