"""Start the file program: read the task from standard input, become the user, and write the port to standard output."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
from typing import TypedDict

from zoe_files.beneath import CannotResolve, Root
from zoe_files.service import FileServer, Served
from zoe_files.uploads import Bounds, Uploads

_PR_SET_NO_NEW_PRIVS = 38
_BACKLOG = 64
_DESCRIPTORS_MAX = 256


class User(TypedDict):
    """User and group ids to run as."""

    uid: int
    gid: int


class Task(TypedDict):
    """The roots to serve, the socket, and the idle time. `user`: None keeps the present user."""

    roots: dict[str, str]
    host: str
    port: int
    secret: str
    user: User | None
    umask: int
    idle_s: float
    upload_bytes_max: int
    free_bytes_min: int


def main() -> int:
    """Serve until idle. The task is one line. The only line on standard output is `port NUMBER` or `refused
    SENTENCE`.
    """
    task: Task = json.loads(sys.stdin.readline())
    try:
        listening = _listening(task["host"], task["port"])
        _become(task["user"], task["umask"])
        bounds = Bounds(task["upload_bytes_max"], task["free_bytes_min"])
        roots = {name: _open_roots(directory, bounds) for name, directory in task["roots"].items()}
    except (OSError, CannotResolve) as error:
        print(f"refused {error}", flush=True)
        return 1
    for root in roots.values():
        root.sweep()
    server = FileServer(listening, roots, task["secret"], task["idle_s"])
    print(f"port {listening.getsockname()[1]}", flush=True)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
    server.run()
    return 0


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    listening.listen(_BACKLOG)
    return listening


def _become(user: User | None, umask: int) -> None:
    """Drop all privileges, for good."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user["gid"], user["gid"], user["gid"])
        os.setresuid(user["uid"], user["uid"], user["uid"])
    ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    # The user may be unable to read modules that are imported later: import them now, so that the program fails here.
    sys.meta_path.clear()
    os.umask(umask)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_DESCRIPTORS_MAX, hard),) * 2)


def _open_roots(directory: str, bounds: Bounds) -> Served:
    root = Root(directory)
    return Served(root, Uploads(root, bounds))


if __name__ == "__main__":
    sys.exit(main())
