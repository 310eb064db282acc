"""Run the unit tests with another Python, in an environment of its own from the same lock file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")


def main(version: str) -> int:
    """Return the exit code of the tests."""
    interpreter = find(version)
    if interpreter is None:
        print(f"Python {version} is not installed", file=sys.stderr)
        return 2
    place = ROOT / "build" / f"python-{version}"
    python = place / "bin" / "python"
    if not python.exists():
        run(UV, "venv", "-q", "--python", interpreter, place)
    run(UV, "pip", "sync", "-q", "--require-hashes", "--python", python, ROOT / "requirements" / "zoe.lock")
    # pip, because uv does not install what says that it is for other versions.
    own = ("--ignore-requires-python", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", *own)
    return subprocess.run([python, "-m", "pytest", "-q", "tests/unit"], cwd=ROOT, check=False).returncode


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
