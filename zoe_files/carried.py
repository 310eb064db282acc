"""Remove files that runs took along and no longer use: `.zoe-files` of a workspace.

`contents/SHA256` has each content once; `runs/ID/...` are further names of these files, one folder for each set of
files. The folder of a set is as old as its last submission.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress

from zoe_files.beneath import Root

DIRECTORY, CONTENTS, RUNS = b".zoe-files", b"contents", b"runs"
UNUSED_S = 30 * 86_400.0
"""Longer than executions usually wait in the queue."""
RECENT_S = 86_400.0
"""Sets and contents that are younger stay: a submission with them may be on its way."""
BYTES_MAX = 4 << 30


def sweep(root: Root, now_s: float | None = None) -> None:
    """Remove sets that were not submitted for 30 days, the oldest ones beyond 4 GiB, and contents without a set."""
    now_s = time.time() if now_s is None else now_s
    with suppress(OSError):
        size = _remove_unused(root, now_s)
        for changed_s, name in sorted(_by_age(root)):
            if changed_s < now_s - UNUSED_S or (size > BYTES_MAX and changed_s < now_s - RECENT_S):
                size -= _remove_set(root, name)


def _by_age(root: Root) -> list[tuple[float, bytes]]:
    descriptor = root.open((DIRECTORY, RUNS), os.O_RDONLY | os.O_DIRECTORY, links=False)
    try:
        names = [os.fsencode(name) for name in os.listdir(descriptor)]
        return [(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mtime, name) for name in names]
    finally:
        os.close(descriptor)


def _remove_set(root: Root, name: bytes) -> int:
    """Remove a set, and return the bytes of its files that no other set has; a later sweep removes these contents."""
    descriptor = root.open((DIRECTORY, RUNS), os.O_RDONLY | os.O_DIRECTORY, links=False)
    try:
        freed = sum(
            found.st_size
            for _, _, files, directory in os.fwalk(name, dir_fd=descriptor)
            for file in files
            if (found := os.stat(file, dir_fd=directory, follow_symlinks=False)).st_nlink <= 2
        )
        with suppress(OSError):
            shutil.rmtree(os.fsdecode(name), dir_fd=descriptor)
        return freed
    finally:
        os.close(descriptor)


def _remove_unused(root: Root, now_s: float) -> int:
    """Remove contents without a set, and return the bytes of the others."""
    descriptor, kept = root.open((DIRECTORY, CONTENTS), os.O_RDONLY | os.O_DIRECTORY, links=False), 0
    try:
        for name in os.listdir(descriptor):
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            # The change time, since the removal of a set changes it, too.
            if found.st_nlink == 1 and found.st_ctime < now_s - RECENT_S:
                os.unlink(name, dir_fd=descriptor)
            else:
                kept += found.st_size
        return kept
    finally:
        os.close(descriptor)
