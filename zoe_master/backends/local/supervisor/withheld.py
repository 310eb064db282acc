"""Close secrets and other directories to a component while its packages are installed, since these run programs."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .spec import PrepareProcess, ProcessSpec


@contextlib.contextmanager
def withhold_secrets(spec: ProcessSpec, prepare: PrepareProcess) -> Iterator[None]:
    """Keep the secrets of a service for root meanwhile; without effect if Zoe is not root.

    Open descriptors hold them, since the user may replace the names.
    """
    user = spec["user"]
    held: list[int] = []
    try:
        for path in prepare["withheld"] if user is not None else ():
            with contextlib.suppress(FileNotFoundError):
                held.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
                os.fchown(held[-1], 0, 0)
        yield
        if user is not None:
            for descriptor in held:
                os.fchown(descriptor, user["uid"], user["gid"])
    finally:
        for descriptor in held:
            os.close(descriptor)
