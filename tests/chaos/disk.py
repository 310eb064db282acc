"""A small file system under directories of the local back-end, which can be filled. Needs a mount namespace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

SIZE_MIB = 64
_MARK = "ZOE_CHAOS_NAMESPACE"


class SmallDisk:
    """A tmpfs mounted at a directory that exists."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._filler = directory / "filler"
        owner = directory.stat()
        options = f"size={SIZE_MIB}m,mode={owner.st_mode & 0o7777:o},uid={owner.st_uid},gid={owner.st_gid}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", directory], check=True)

    def fill(self) -> None:
        """Leave no byte free."""
        for size in (2**20, 4096, 1):
            with suppress(OSError), self._filler.open("ab", buffering=0) as file:
                while file.write(bytes(size)):
                    pass

    def clear(self) -> None:
        """Remove what `fill` wrote."""
        self._filler.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount."""
        subprocess.run(["umount", "--lazy", self._directory], check=True)


def enter_own_namespace(command: Sequence[str]) -> bool:  # noqa: RET503 - the last line does not return
    """Execute the command anew where mounts stay invisible to other programs; True when that is so already.

    False where this is not allowed: only root may mount.
    """
    if os.environ.get(_MARK):
        return True
    words = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0 or subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        return False
    os.environ[_MARK] = "1"
    os.execvp(words[0], [*words, *command])
