"""Run tests with another Python, in a separate environment that the set-up makes from the same lock file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
UNIT = ("tests/unit",)
LONG = (*UNIT, "tests/api", "tests/contract", "tests/cli", "tests/local", "tests/e2e", "tests/docs/test_tutorial.py")
"""All tests that need no swarm, no browser and no Spark."""


def main(version: str, *tests: str) -> int:
    """Return the exit code of the tests in the arguments, or of UNIT."""
    interpreter = find(version)
    if interpreter is None:
        print(f"Python {version} is not installed", file=sys.stderr)
        return 2
    place = ROOT / "build" / f"python-{version}"
    run(interpreter, ROOT / "scripts" / "setup.py", place)
    wanted = LONG if tests == ("long",) else tests or UNIT
    # Programs that Zoe starts by name must be of this environment too.
    path = {"PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    python = place / "bin" / "python"
    command: list[str | Path] = [python, "-m", "pytest", "-q", *wanted]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **path}, check=False).returncode


def find(version: str) -> str | None:
    """Return an interpreter of this version on this machine, of the system or of pyenv."""
    found = subprocess.run(
        [UV, "python", "find", "--no-python-downloads", version], capture_output=True, text=True, check=False
    )
    if found.returncode == 0:
        return found.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"))), None)


def run(*command: object) -> None:
    """Run a command; exit if it fails."""
    done = subprocess.run([str(part) for part in command], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
