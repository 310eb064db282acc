"""The users of components, and their account files for programs."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from zoe_master.backends.base import ServiceStart, SystemUser
from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.supervisor.spec import UserSpec
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.workspaces.layout import NO_NUMBER

_UMASK_IN_GROUP = 0o002
ACCOUNT_FILES = ("passwd", "group")
"""Components whose user has no name see copies of these files in /etc, with the user added."""


class ComponentUsers:
    """One user for all components if the settings name one, else the user of each service's owner."""

    def __init__(self, fixed: str) -> None:
        self._by_root = os.geteuid() == 0
        entry = pwd.getpwnam(fixed) if fixed and self._by_root else None
        self._fixed = ComponentUser(entry.pw_uid, entry.pw_gid) if entry is not None else None

    def user_for(self, system_user: SystemUser | None) -> ComponentUser | None:
        """Return the user for an owner's programs; None for Zoe's own user, since only root may choose."""
        if not self._by_root or self._fixed is not None:
            return self._fixed
        if system_user is None:
            raise CannotStartError(NO_NUMBER)
        return ComponentUser(system_user.uid, system_user.gid)

    def spec(self, owner: ComponentUser | None) -> UserSpec | None:
        """Return the user for the supervisor. The umask lets the group change the user's files, where it can enter."""
        if owner is None:
            return None
        user: UserSpec = {"uid": owner.uid, "gid": owner.gid}
        return user if owner == self._fixed else {**user, "umask": _UMASK_IN_GROUP}


def write_accounts(directory: Path, start: ServiceStart, owner: ComponentUser, home: str) -> bool:
    """Write account files with a name for the user; return False if the machine knows the number.

    Without a name Java has no user, and Spark refuses to start.
    """
    if _is_known(owner.uid):
        return False
    names = {line.partition(":")[0] for line in _lines("passwd")}
    name = start.user if start.user not in names else f"zoe-{start.user}"
    added = {
        "passwd": f"{name}:x:{owner.uid}:{owner.gid}::{home}:/bin/sh",
        "group": f"zoe-{start.tenant}:x:{owner.gid}:",
    }
    for file in ACCOUNT_FILES:
        path = directory / file
        path.write_text("\n".join([*_lines(file), added[file], ""]), errors="surrogateescape")
        path.chmod(0o644)
    return True


def _is_known(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _lines(file: str) -> list[str]:
    return Path("/etc", file).read_text(errors="surrogateescape").splitlines()
