"""Create the isolated environment .venv from the lock files.

Needs only a bare Python; nothing outside this folder changes. With a path, make the environment there instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from zoe_embedded.runtimes.pip_configuration import download_environment  # noqa: E402 - it is found by the line above

VENV = ROOT / ".venv"
INPUTS = ("requirements/bootstrap.lock", "requirements/zoe.lock", "pyproject.toml")
SUPPORTED = ((3, 11), (3, 13))
"""All tests pass with these."""
APT = "apt-get install -y git make python3 python3-venv"
"""Python 3.11 on Debian 12, 3.13 on Debian 13."""


def main(venv: Path = VENV) -> int:
    """Build the environment unless one for these lock files exists."""
    problem = missing()
    if problem:
        print(f"{problem}\nOn Debian 12 or 13:  {APT}\nthen:  make PYTHON=/usr/bin/python3 ...", file=sys.stderr)
        return 2
    wanted, stamp = fingerprint(), venv / "zoe.stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
    build(venv)
    stamp.write_text(wanted)
    return 0


def missing() -> str | None:
    """Return the missing prerequisite of this machine, as a sentence; None if there is none."""
    if sys.version_info[:2] not in SUPPORTED:
        found = ".".join(map(str, sys.version_info[:2]))
        tested = " and ".join(f"{major}.{minor}" for major, minor in SUPPORTED)
        return f"Zoe is tested on Python {tested}; this is Python {found} ({sys.executable})."
    if sys.platform != "linux":
        return f"Zoe runs on Linux; this is {sys.platform}."
    if importlib.util.find_spec("ensurepip") is None:
        return "This Python lacks venv (ensurepip)."
    return None


def fingerprint() -> str:
    """Return a name for everything from which the environment is built."""
    digest = hashlib.sha256(f"{sys.version}{ROOT}".encode())
    for name in INPUTS:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def build(venv: Path) -> None:
    """Create the venv, then install uv from its lock, everything else with uv, and Zoe itself as an editable
    install.
    """
    say("1/4", f"isolated environment {os.path.relpath(venv, ROOT)}")
    python = venv / "bin" / "python"
    if not works(python):
        run(venv, sys.executable, "-m", "venv", "--clear", venv)
    say("2/4", "uv, the installer")
    run(venv, python, "-m", "pip", "install", "-q", "--require-hashes", "-r", ROOT / "requirements/bootstrap.lock")
    uv = venv / "bin" / "uv"
    say("3/4", "packages from requirements/zoe.lock")
    run(venv, uv, "pip", "sync", "-q", "--require-hashes", ROOT / "requirements/zoe.lock")
    say("4/4", "zoe itself")
    run(venv, uv, "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--editable", ROOT)


def works(python: Path) -> bool:
    """Return whether this interpreter exists and has the version of the present one; otherwise it is created again."""
    if not python.exists():
        return False
    code = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    return subprocess.run([str(python), "-c", code], check=False, capture_output=True).returncode == 0


def say(step: str, text: str) -> None:
    """Print one line of progress."""
    print(f"[setup {step}] {text}", flush=True)


def run(venv: Path, *command: object) -> None:
    """Run a command inside the environment; exit if it fails."""
    python = venv / "bin" / "python"
    configured = download_environment(python) if python.exists() else os.environ
    env = {**configured, "VIRTUAL_ENV": str(venv), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([str(part) for part in command], env=env, check=False)
    if done.returncode != 0:
        print(f"failed ({done.returncode}): {' '.join(map(str, command))}", file=sys.stderr)
        sys.exit(done.returncode)


if __name__ == "__main__":
    sys.exit(main(*(Path(place).resolve() for place in sys.argv[1:2])))
