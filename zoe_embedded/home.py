"""Directories of an installation without a system package, and their permissions."""

from __future__ import annotations

import hashlib
import os
import pwd
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT_HOMES = Path("/var/lib/zoe")
RUNTIMES_VARIABLE = "ZOE_RUNTIMES"
_RUNTIMES = "runtimes"
# It exists on every Debian, so that root need not create an account. Components run with user numbers without an
# account.
SERVER_ACCOUNT = "daemon"
_FORMER_COMPONENT_ACCOUNT = "nobody"
SECRET_BYTES = 32


class HomeError(Exception):
    """The home cannot be used; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the operating system for a process."""

    name: str
    uid: int
    gid: int

    @classmethod
    def by_name(cls, name: str) -> Account:
        """Return the account of that name. Raises HomeError if the machine does not have it."""
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise HomeError(f"this machine has no user {name}, which Zoe needs if root runs it") from None
        return cls(name, entry.pw_uid, entry.pw_gid)


@dataclass(frozen=True, slots=True)
class Home:
    """The directory of one installation.

    If root runs Zoe, the database belongs to `daemon` and components' files to a number for each user. So a component
    can read neither secrets nor the database, nor files of other users. Otherwise everything belongs to the present
    user, and components can read it.
    """

    path: Path
    by_root: bool
    shared: Path | None = None
    """Path of its runtimes, if they are outside of the home."""

    @classmethod
    def find(cls, clone: Path, environment: Mapping[str, str] = os.environ) -> Home:
        """Return the home of the installation in `clone`: ZOE_HOME, or a directory named by a hash of the clone's path,
        beside the runtimes of all clones. ZOE_RUNTIMES changes the place of the runtimes.
        """
        by_root = os.geteuid() == 0
        given = environment.get(RUNTIMES_VARIABLE)
        shared = Path(given).expanduser().absolute() if given else None
        if chosen := environment.get("ZOE_HOME"):
            return cls(Path(chosen).expanduser().absolute(), by_root, shared)
        homes = ROOT_HOMES
        if not by_root:
            homes = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "zoe"
        name = hashlib.sha256(str(clone.resolve()).encode()).hexdigest()[:12]
        return cls(homes / name, by_root, shared or homes / _RUNTIMES)

    @property
    def secrets(self) -> Path:
        """Return the directory of passwords, keys and tokens; only the owner of the installation can read it."""
        return self.path / "secrets"

    @property
    def postgres(self) -> Path:
        """Return the directory of the embedded database, for the account that runs it."""
        return self.path / "pg"

    @property
    def runtime(self) -> Path:
        """Return the directory of programs of this home alone that other accounts run."""
        return self.path / "runtime"

    @property
    def runtimes(self) -> Path:
        """Return the directory of runtimes, which several homes may share."""
        return self.shared or self.path / _RUNTIMES

    @property
    def scratch(self) -> Path:
        """Return the directory of services' temporary files."""
        return self.path / "scratch"

    @property
    def workspaces(self) -> Path:
        """Return the directory of tenants' workspaces."""
        return self.path / "workspaces"

    @property
    def logs(self) -> Path:
        """Return the directory for logs of Zoe's own processes and of services."""
        return self.path / "logs"

    @property
    def state(self) -> Path:
        """Return the directory for locks, pid files and state that a process needs after a restart."""
        return self.path / "state"

    @property
    def server_account(self) -> Account | None:
        """Return the account that runs the database; None: the present user."""
        return Account.by_name(SERVER_ACCOUNT) if self.by_root else None

    def create(self) -> Home:
        """Create missing directories. Existing ones are checked and never changed. Raises HomeError for an unexpected
        one.
        """
        make_parents(self.path)
        if not self.path.exists():
            make_directory(self.path, 0o711 if self.by_root else 0o700)
        if self.by_root:
            check_others_can_enter(self.path)
        make_directory(self.secrets, 0o700)
        make_directory(self.postgres, 0o700, self.server_account)
        make_directory(self.runtime, 0o755 if self.by_root else 0o700)
        for path in (self.scratch, self.workspaces):
            if self.by_root:
                _take_back(path)
            make_directory(path, 0o711 if self.by_root else 0o700)
        make_directory(self.logs, 0o700)
        make_directory(self.state, 0o700)
        return self

    def secret(self, name: str) -> str:
        """Return the secret of that name, which only its owner can read; a missing one is created from random bytes."""
        path = self.secrets / name
        if not path.exists():
            write_private(path, secrets.token_urlsafe(SECRET_BYTES))
        return path.read_text(encoding="ascii").strip()


def make_directory(path: Path, mode: int, account: Account | None = None) -> None:
    """Create a directory with exactly this mode and owner. Raises HomeError for an existing one with others."""
    uid = os.geteuid() if account is None else account.uid
    if not path.is_symlink() and not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        draft.mkdir(mode=0o700)
        if account is not None:
            os.chown(draft, account.uid, account.gid)
        draft.chmod(mode)
        try:
            draft.rename(path)
        except OSError:  # another process created it meanwhile, and has put files into it
            draft.rmdir()
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != uid or stat.S_IMODE(status.st_mode) != mode:
        raise HomeError(
            f"{path} should be a directory of user {uid} with mode {mode:o}, but it belongs to user {status.st_uid} "
            f"and has mode {stat.S_IMODE(status.st_mode):o}: correct it, or choose another ZOE_HOME"
        )


def _take_back(path: Path) -> None:
    """Return a directory to root that belonged to the common account of components before version 0.3."""
    if path.is_symlink() or not path.is_dir():
        return
    former, status = Account.by_name(_FORMER_COMPONENT_ACCOUNT), path.lstat()
    if (status.st_uid, stat.S_IMODE(status.st_mode)) == (former.uid, 0o700):
        os.chown(path, 0, 0, follow_symlinks=False)
        path.chmod(0o711)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; the first writer wins, and no reader ever sees part of it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def cache_directory() -> Path:
    """Return the directory of downloads."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zoe"


def make_parents(path: Path) -> None:
    """Create the directories above this one."""
    for parent in reversed(path.parents):
        if not parent.exists():
            parent.mkdir(mode=0o755, exist_ok=True)


def check_others_can_enter(path: Path, variable: str = "ZOE_HOME") -> None:
    """Raise HomeError if other users cannot reach a directory. variable: to name another one."""
    for directory in (path, *path.parents):
        if not directory.stat().st_mode & stat.S_IXOTH:
            raise HomeError(
                f"if root runs Zoe, its database and components have other users, which cannot enter "
                f"{directory}: set {variable} to a place that they can reach, such as {ROOT_HOMES / 'home'}"
            )
