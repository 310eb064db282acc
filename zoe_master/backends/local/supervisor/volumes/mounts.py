"""Mounts and loop devices of a volume, as the kernel reports them."""

from __future__ import annotations

import ctypes
import errno
import os

_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def mounts_below(directory: str) -> list[tuple[str, str]]:
    """Return mount points at or below a directory in this namespace, the newest first, with the devices."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        found = [read_mount(line) for line in file]
    return [(point, device) for point, device in reversed(found) if f"{point}/".startswith(f"{directory}/")]


def read_mount(line: str) -> tuple[str, str]:
    """Return the mount point and the device of a line of mountinfo."""
    fields = line.split()
    return _unescaped(fields[4]), _unescaped(fields[fields.index("-") + 2])


def unmount(path: str, *, lazily: bool = False) -> bool:
    """Unmount what is mounted here; return False while it is in use."""
    if _libc.umount2(os.fsencode(path), _MNT_DETACH if lazily else 0) == 0:
        return True
    code = ctypes.get_errno()
    if code == errno.EBUSY:
        return False
    if code in (errno.EINVAL, errno.ENOENT):  # nothing is mounted there any more
        return True
    raise OSError(code, os.strerror(code), path)


def loops_of(file: str) -> list[str]:
    """Return the loop devices of a file."""
    found = []
    for name in os.listdir("/sys/block"):
        try:
            with open(f"/sys/block/{name}/loop/backing_file", "rb") as entry:
                backing = entry.read().rstrip(b"\n")
        except OSError:
            continue
        if backing.removesuffix(b" (deleted)") == os.fsencode(file):
            found.append(name)
    return found


def is_in_use(loop: str) -> bool:
    """Return whether ext4 of a loop device is mounted in any namespace."""
    return os.path.exists(f"/sys/fs/ext4/{loop}")


def hide_below(base: str, kept: list[str]) -> None:
    """Drop mounts below a directory from the mount namespace of this process, except these.

    Otherwise the copies in the namespace of a service would keep volumes of other services mounted.
    """
    for point, _ in mounts_below(base):
        if point not in kept:
            unmount(point, lazily=True)


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
