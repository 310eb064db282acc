"""Programs that attach volumes: run to their end, or started as processes of their own."""

from __future__ import annotations

import ctypes
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

PACKAGES = {
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "cryptsetup": "cryptsetup-bin",
    "mkfs.ext4": "e2fsprogs",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
}
"""Programs that volumes need, with Debian's packages."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TIMEOUT_S = 120.0
_PR_SET_IO_FLUSHER = 57


class ProgramFailed(Exception):  # noqa: N818 - the name is the fact
    """A program failed; the message is the first line of its errors."""


def missing_packages() -> list[str]:
    """Return the packages of programs that are not installed."""
    import shutil

    return sorted({package for program, package in PACKAGES.items() if shutil.which(program, path=PATH) is None})


def run(argv: list[str], text: str = "") -> str:
    """Run a program with a text as its input and return its output; ProgramFailed."""
    import subprocess  # most services have no volumes

    try:
        done = subprocess.run(
            argv, input=text.encode(), capture_output=True, timeout=_TIMEOUT_S, env={"PATH": PATH}, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramFailed(f"{argv[0]}: {error}") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ProgramFailed(lines[0] if lines else f"{argv[0]} ended with exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def start(argv: list[str], log: str, keep: tuple[int, ...] = ()) -> None:
    """Start a program as a daemon that is no descendant of this process, with these descriptors and its own log.

    The kernel lets it allocate memory without waiting for its own writes (PR_SET_IO_FLUSHER), so that a machine short
    of memory can write to its volumes.
    """
    errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        child = os.fork()
        if child == 0:
            _become(argv, errors, keep)
        os.waitpid(child, 0)
    finally:
        os.close(errors)


def _become(argv: list[str], errors: int, keep: tuple[int, ...]) -> NoReturn:
    try:
        os.setsid()
        leader = os.getpid()
        if os.fork() == 0:
            while os.getppid() == leader:  # a program that asks to end with its parent must not mean this one
                time.sleep(0.001)
            ctypes.CDLL(None).prctl(_PR_SET_IO_FLUSHER, *(ctypes.c_ulong(number) for number in (1, 0, 0, 0)))
            null = os.open(os.devnull, os.O_RDONLY)
            for descriptor, standard in ((null, 0), (errors, 1), (errors, 2)):
                os.dup2(descriptor, standard)
            for descriptor in keep:
                os.set_inheritable(descriptor, True)
            os.chdir("/")
            os.execvpe(argv[0], argv, {"PATH": PATH, "LANG": "C.UTF-8"})
    except BaseException as error:
        os.write(errors, f"{argv[0]}: {error}\n".encode())
    finally:
        os._exit(0)
