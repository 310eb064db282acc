"""The task of the program that serves a user's files, on every back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.settings.config import Settings

# Files in a shared workspace belong to the tenant's group; a user's files do not.
UMASK_OF_ITS_OWN, UMASK_OF_ALL = 0o002, 0o022


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of the program that serves a user's files.

    idle_s: the time after the last request until it ends. upload_bytes_max: the largest upload. free_bytes_min: free
    disk space that uploads must leave.
    """

    idle_s: float = 600.0
    upload_bytes_max: int = 64 * 2**30
    free_bytes_min: int = 2**30


def file_limits(settings: Settings) -> FileLimits:
    """Return the limits from the settings."""
    return FileLimits(upload_bytes_max=settings.files_upload_bytes_max, free_bytes_min=settings.files_free_bytes_min)


def task_of(
    roots: Mapping[str, str],
    address: tuple[str, int],
    bounds: FileLimits,
    user: Mapping[str, int] | None = None,
    umask: int = UMASK_OF_ITS_OWN,
) -> dict[str, Any]:
    """Return the task without its secret.

    `roots`: directories by `workspace` and `shared`. `address`: where it listens. `user`: the numbers that it switches
    to; None if it already has them.
    """
    host, port = address
    return {
        "roots": dict(roots),
        "host": host,
        "port": port,
        "user": user,
        "umask": umask,
        "idle_s": bounds.idle_s,
        "upload_bytes_max": bounds.upload_bytes_max,
        "free_bytes_min": bounds.free_bytes_min,
    }
