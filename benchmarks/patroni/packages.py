"""Debian's Patroni, etcd and PostgreSQL, unpacked into a directory; nothing is installed on the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CACHE = Path("/var/cache/zoe/patroni")
PYTHON = "/usr/bin/python3"
_PACKAGES = (
    "patroni",
    *("python3-etcd", "python3-dnspython", "python3-urllib3", "python3-six", "python3-yaml", "python3-dateutil"),
    *("python3-psutil", "python3-psycopg2", "libpq5"),
    *("etcd-server", "postgresql-15", "postgresql-client-15"),
)
_DONE = "complete"


class CannotRunError(Exception):
    """A prerequisite of the machine is missing; the message names it."""


class Packages:
    """The programs below a directory that every user of the machine may read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.postgres_dir = root / "usr/lib/postgresql/15/bin"
        self.etcd = root / "usr/bin/etcd"
        self.environment = {
            "PATH": f"{self.postgres_dir}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(root / "usr/lib/python3/dist-packages"),
            "LD_LIBRARY_PATH": str(root / "usr/lib/x86_64-linux-gnu"),
        }

    def versions(self) -> str:
        """Return the versions of the programs. Raises CannotRunError if one does not run."""
        commands = (
            [PYTHON, "-c", "from patroni.version import __version__; print('Patroni', __version__)"],
            [str(self.etcd), "--version"],
            [str(self.postgres_dir / "postgres"), "--version"],
        )
        return ", ".join(_run(command, env=self.environment).partition("\n")[0].strip() for command in commands)


def packages() -> Packages:
    """Return the unpacked programs; the first call downloads 35 MB."""
    if os.uname().machine != "x86_64":
        raise CannotRunError("the drill knows Debian's packages for x86-64 only")
    if not (CACHE / _DONE).exists():
        archives = CACHE / "archives"
        archives.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "download", *_PACKAGES], cwd=archives)
        for archive in sorted(archives.glob("*.deb")):
            _run(["dpkg", "-x", str(archive), str(CACHE)])
            archive.unlink()
        (CACHE / _DONE).touch()
    return Packages(CACHE)


def _run(command: list[str], **options: object) -> str:
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    except FileNotFoundError as error:
        raise CannotRunError(f"{command[0]} is not there") from error
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "no output").strip().splitlines()
        raise CannotRunError(f"{command[0]}: {lines[-1]}") from error
    return str(done.stdout)
