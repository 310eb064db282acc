"""What the program that serves a user's files is given, on every back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.settings.config import Settings

# What users of a tenant make in the shared workspace is for its group; what belongs to one user of all is not.
UMASK_OF_ITS_OWN, UMASK_OF_ALL = 0o002, 0o022


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Bounds of the program that serves a user's files.

    idle_s: it ends after this time without a request. upload_bytes_max: the largest upload. free_bytes_min: room on the
    disk that uploads leave.
    """

    idle_s: float = 600.0
    upload_bytes_max: int = 64 * 2**30
    free_bytes_min: int = 2**30


def file_limits(settings: Settings) -> FileLimits:
    """Return the bounds that the settings give."""
    return FileLimits(upload_bytes_max=settings.files_upload_bytes_max, free_bytes_min=settings.files_free_bytes_min)


def task_of(
    roots: Mapping[str, str],
    address: tuple[str, int],
    bounds: FileLimits,
    user: Mapping[str, int] | None = None,
    umask: int = UMASK_OF_ITS_OWN,
) -> dict[str, Any]:
    """Return the task without its secret.

    `roots`: directories by `workspace` and `shared`. `address`: where it listens. `user`: the numbers that it takes on;
    None if it has them.
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
