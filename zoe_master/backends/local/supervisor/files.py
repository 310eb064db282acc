"""The files of a service's directory: their names, and how to write them so that readers never see a partial one."""

from __future__ import annotations

import fcntl
import json
import os
import time

# Same as `typing.TYPE_CHECKING`, without the 3 ms of that import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .spec import ProcessSpec

    Document = dict[str, Any]

START = "start.json"
STATUS = "status.json"
USAGE = "usage.json"
LOCK = "lock"
STOP = "stop"
KEPT = "kept"
"""Next to the parent of the services' directories."""
PROMISED = "promised"
"""Next to the same: exists while a service with promised cores is running."""
OUTPUT = "output"
ERRORS = "shim.err"  # the name in directories of services from before an upgrade


def write_json(path: str, value: Document) -> None:
    """Replace the file in one step; on OSError (such as a full disk) the old one is unchanged."""
    temporary = f"{path}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        data = json.dumps(value, separators=(",", ":")).encode()
        if os.write(descriptor, data) != len(data):
            raise OSError("disk full: only a part could be written")
    finally:
        os.close(descriptor)
    os.replace(temporary, path)


def read_json(path: str) -> Document | None:
    """Return the file's value; None if it is missing or incomplete (after a power failure)."""
    try:
        with open(path, "rb") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def read_start(directory: str) -> ProcessSpec | None:
    """Return the specification written by the back-end."""
    return read_json(f"{directory}/{START}")  # type: ignore[return-value]


def take_lock(path: str, timeout_s: float = 0.0) -> int | None:
    """Return the descriptor that holds the lock, or None if another process holds it; the kernel releases it when we
    end.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() >= deadline_s:
                os.close(descriptor)
                return None
            time.sleep(0.01)


def boot_id() -> str:
    """Return the id of this boot: processes noted under another one are gone."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
