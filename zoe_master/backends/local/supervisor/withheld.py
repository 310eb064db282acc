"""Directories that the component gets later: they are closed while packages are installed, whose programs may run."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .spec import PrepareProcess, ProcessSpec


@contextlib.contextmanager
def withheld(spec: ProcessSpec, prepare: PrepareProcess) -> Iterator[None]:
    """Keep the secrets of a service for root meanwhile; if Zoe is not root, there is nobody to keep them from.

    They are held by descriptors, since the user may change what their names stand for.
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
