"""What a command shares with the processes around it, and where the helper for such commands listens.

The caller imports this: nothing here may import more than Python has loaded when it starts.
"""

import binascii
import os
import sys

# Python and the imported libraries read these once.
_READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_", "OPENSSL_", "PYDANTIC_", "TYPER_", "_TYPER_")
_OF_STATUS = (b"Uid", b"Gid", b"Groups", b"Cap", b"NoNewPrivs", b"Seccomp:", b"Cpus_allowed:", b"Mems_allowed:")
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
_PATH_LENGTH_MAX = 100
"""The kernel's bound for the path of a socket is 107 bytes."""


def read_at_start(name: str) -> bool:
    """Return whether a program reads this variable when it starts, and never again."""
    return name.startswith(_READ_AT_START)


def surroundings() -> bytes:
    """Return all that must be equal for the helper's child to be like a process that the caller starts.

    OSError if this system does not tell.
    """
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if read_at_start(name))
    status = [line for line in _content("status").split(b"\n") if line.startswith(_OF_STATUS)]
    namespaces = [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES]
    places = [_identity(path) for path in ("/", os.path.dirname(__file__), sys.executable)]
    limits = (os.nice(0), _content("limits"), _content("cgroup"))
    return repr((sys.version, sys.executable, places, variables, status, limits, namespaces)).encode(
        "ascii", "backslashreplace"
    )


def socket_path(around: bytes) -> str:
    """Return the path of the socket for callers with these surroundings. OSError if no folder is this user's alone."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = f"{runtime}/zoe" if runtime.startswith("/") else f"/tmp/zoe-{os.geteuid()}"
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(folder)
    if found.st_uid != os.geteuid() or found.st_mode & 0o170077 != 0o040000:
        raise PermissionError(folder)
    path = f"{folder}/{binascii.crc32(around):08x}"
    if len(os.fsencode(path)) > _PATH_LENGTH_MAX:
        raise FileNotFoundError(path)
    return path


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _content(name: str) -> bytes:
    with open(f"/proc/self/{name}", "rb", buffering=0) as file:
        return file.read()
