"""Read the end of a file that a component writes, opening nothing but regular files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from zoe_master.backends.base import PROGRESS_BYTES_MAX, BackendError
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.supervisor import files

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Opening a pipe without a writer would block, and a terminal could become ours.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def file_end(service: Path, settings: LocalSettings, path: str) -> bytes:
    """Return the end of a file below the working directory of the service with this state directory; BackendError.

    The master may read files that the component's user may not. So no part of the path below the back-end's directories
    may be a link, and the file must be a regular one.
    """
    base, names = _below(service, settings, path)
    try:
        directory = os.open(base, _DIRECTORY)
    except OSError as error:
        raise BackendError(f"its directory cannot be read: {error.strerror}") from None
    try:
        for name in names[:-1]:
            inner = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = inner
        return _end(os.open(names[-1], _FILE, dir_fd=directory))
    except FileNotFoundError:
        raise BackendError(f"file {path} does not exist") from None
    except OSError as error:
        raise BackendError(f"file {path} cannot be read, or is reached by a link: {error.strerror}") from None
    finally:
        os.close(directory)


def _below(service: Path, settings: LocalSettings, path: str) -> tuple[Path, tuple[str, ...]]:
    """Return the back-end directory that contains the file, and the names below it."""
    spec = files.read_json(str(service / files.START)) or {}
    whole = Path(os.path.normpath(Path(spec.get("work_dir", "/")) / path))
    for base in (settings.scratch_dir, settings.workspaces_dir, settings.volumes_dir):
        if whole.is_relative_to(base) and whole != base:
            return base, whole.relative_to(base).parts
    raise BackendError(f"file {path} is not below a workspace, a volume or the scratch directory")


def _end(file: int) -> bytes:
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise BackendError("it is not a regular file")
        return os.pread(file, PROGRESS_BYTES_MAX, max(found.st_size - PROGRESS_BYTES_MAX, 0))
    finally:
        os.close(file)
