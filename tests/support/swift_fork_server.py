"""Run by the interpreter of Swift's environment: import all of Swift, then fork a process for each script asked for.

Its only argument is the descriptor of a socket that keeps messages apart. A message is `{"text", "arguments", "uid",
"gid"}` with the descriptor of a log, answered by a pid; or the pid of an earlier one, answered by its exit code, or
null while it runs.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import warnings
from typing import Any

warnings.filterwarnings("ignore", r"\s*Eventlet is deprecated")

_SERVERS = ("account", "container", "obj", "proxy")
_MIDDLEWARE = (
    *("bulk", "catch_errors", "copy", "dlo", "gatekeeper", "healthcheck", "list_endpoints", "listing_formats"),
    *("memcache", "proxy_logging", "s3api.s3api", "slo", "tempauth", "versioned_writes"),
    *("crypto.decrypter", "crypto.encrypter", "crypto.keymaster"),
)
_FILTERS = (
    "bandwidth",
    "execution_auth",
    "filter_host",
    "object_host",
    "object_pushdown",
    "s3_signed",
    "strict_requests",
    "views",
)
_GATEWAY = ("application", "quotas", "raw_heads")
MESSAGE_BYTES_MAX = 1 << 16


def _import_all() -> None:
    """As the programs do: the servers, then eventlet's patches, then what configurations name.

    Patching searches all imported modules for locks, which takes each process more CPU time than the rest of its start.
    """
    for name in _SERVERS:
        importlib.import_module(f"swift.{name}.server")
    importlib.import_module("swift.common.utils").monkey_patch()
    # Each process makes its own hub, as those that share a descriptor would get each other's events.
    importlib.import_module("eventlet.hubs").use_hub()
    names = [f"swift.common.middleware.{name}" for name in _MIDDLEWARE]
    names += [f"storage_filters.{name}" for name in _FILTERS]
    names += [f"storage_gateway.{name}" for name in _GATEWAY]
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _serve(line: socket.socket) -> dict[str, Any] | None:
    """Serve until the last client is gone, then end running processes; in a forked process, return its program."""
    running: dict[int, int | None] = {}
    while True:
        message, logs, _, _ = socket.recv_fds(line, MESSAGE_BYTES_MAX, 1)
        if not message:
            break
        asked = json.loads(message)
        if isinstance(asked, int):
            if running[asked] is None:
                ended, status = os.waitpid(asked, os.WNOHANG)
                running[asked] = os.waitstatus_to_exitcode(status) if ended else None
            line.send(json.dumps(running[asked]).encode())
            continue
        [log] = logs
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return {**asked, "log": log}
        os.close(log)
        running[pid] = None
        line.send(json.dumps(pid).encode())
    for pid in [pid for pid, code in running.items() if code is None]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    return None


def _become(log: int, uid: int | None, gid: int | None) -> None:
    """Take the identity and the output of the requested process."""
    if uid is not None and gid is not None:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, theirs in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(ours, theirs)
    os.close(nothing)
    os.close(log)


if __name__ == "__main__":
    # Both signals reach whole groups, while tests still need it to end their processes. It ends with its socket.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as line_:  # made before eventlet's patches, which it is to do without
        _import_all()
        asked_ = _serve(line_)
    if asked_ is not None:
        _become(asked_["log"], asked_["uid"], asked_["gid"])
        sys.argv = ["-c", *asked_["arguments"]]
        exec(compile(asked_["text"], "<string>", "exec"), {"__name__": "__main__"})
