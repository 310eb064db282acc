"""Give the workspace of a user who leaves to another one, by a process that runs as root if Zoe does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from zoe_master.backends.base import BackendError, WorkspaceMove
from zoe_master.backends.local.files.directories import is_safe_name
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.files.workspaces import workspaces
from zoe_master.backends.workspaces import program as workspace_program
from zoe_master.backends.workspaces.layout import directory_of

_PROGRAM = workspace_program.__file__
_LOOK_S = 0.1


def give_workspace(base: Path, users: ComponentUsers, move: WorkspaceMove, closing: threading.Event) -> str:
    """Move it, and return the name of the directory in the new owner's workspace; empty if there was nothing to move.

    It is a separate process, because a deep tree needs many descriptors. Raises BackendError, CannotStartError.
    """
    if not (is_safe_name(move.tenant) and is_safe_name(move.user)):
        raise BackendError(f"{move.user!r} of {move.tenant!r} cannot have a directory")
    holder, source = base / move.tenant, directory_of(move.user)
    if not os.path.lexists(holder / source):
        return ""
    former, heir = users.user_for(move.system_user), users.user_for(move.to_system_user)
    own, _ = workspaces(base, move.tenant, move.to, heir)
    numbers = ["0" if owner is None else str(owner.uid) for owner in (former, heir)]  # None: all are Zoe's own user
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", _PROGRAM, str(holder), source, own.name, *numbers],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"LANG": "C.UTF-8"},
    )  # fmt: skip
    while process.poll() is None:
        if closing.wait(_LOOK_S):
            process.kill()
    said, trouble = process.communicate()
    if process.returncode != 0:
        why = trouble.strip()[-500:] or "it was ended; repeat it"
        raise BackendError(f"the files of {move.user} in {holder / source} cannot be moved: {why}")
    return said.strip()
