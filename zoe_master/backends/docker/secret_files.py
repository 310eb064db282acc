"""The files below /run/secrets of a service: an archive for a volume that goes with its container."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Mapping
from typing import Any

from zoe_master.backends.base import ServiceStart, is_program
from zoe_master.backends.engine.spec.environments import comes_first, entry_archive
from zoe_master.backends.engine.spec.rendering import needs_secret
from zoe_master.backends.engine.spec.template_values import (
    CONFIGURATION,
    ENVIRONMENT_FILE,
    FILES,
    SECRET_FILE,
    SECRETS,
    SIGN_IN_FILE,
    SOURCE_SECRETS,
)
from zoe_master.backends.engine.spec.users import ContainerUser
from zoe_master.backends.services.secret_files import secret_files, source_secrets

DIRECTORY = "/run/secrets"
MOUNT: Mapping[str, Any] = {"Type": "volume", "Target": DIRECTORY, "VolumeOptions": {"NoCopy": True}}
"""A volume without a name: the engine removes it with the container."""


def files_of(start: ServiceStart, attempt_secret: str) -> dict[str, bytes]:
    """Return the content of each file by its path below the directory."""
    found = {f"{CONFIGURATION}/{name}": text.encode() for name, text in start.storage.files.items()}
    found |= {f"{FILES}/{name}": text.encode() for name, text in start.component.files}
    found |= {f"{SECRETS}/{name}": text.encode() for name, text in secret_files(start).items()}
    found |= {f"{SOURCE_SECRETS}/{number}": text.encode() for number, text in source_secrets(start).items()}
    if comes_first(start.component):
        found[ENVIRONMENT_FILE] = entry_archive()
    if needs_secret(start):
        found[SECRET_FILE] = attempt_secret.encode()
    if start.secret:
        found[SIGN_IN_FILE] = start.secret.encode()
    return found


def archive_of(files: Mapping[str, bytes], user: ContainerUser) -> bytes:
    """Return the files as an archive: only the user may read them, and only root may change the directories."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for directory in sorted({above for path in files for above in _directories(path)}):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.uid, entry.gid = len(data), int(user.uid), int(user.gid)
            program = path.startswith(f"{FILES}/") and is_program(data[:2].decode(errors="replace"))
            entry.mode = 0o500 if program else 0o400
            archive.addfile(entry, io.BytesIO(data))
    return held.getvalue()


def _directories(path: str) -> list[str]:
    """Return the directories above a path, without the one that holds all."""
    found = []
    while path := posixpath.dirname(path):
        found.append(path)
    return found
