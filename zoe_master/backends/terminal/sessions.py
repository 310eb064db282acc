"""The terminals of this master: it starts their processes, and they end with it."""

from __future__ import annotations

import json
import secrets
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zoe_master.backends.base import BackendError, Endpoint

# Time for a client to connect, and for the process to report its port.
ACCEPT_S, _BEGIN_S = 10.0, 10.0
_SECRET_BYTES = 32
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared only
_PROGRAM = "import sys; sys.path.append({path!r}); from zoe_master.backends.terminal.process import main; main()"
BARE = (sys.executable, "-I", "-S", "-c", _PROGRAM.format(path=str(Path(__file__).parents[3])))


def listening_host(master_endpoint: str) -> str:
    """Return the address on which terminals listen: the host of the master's endpoint, where the API reaches it."""
    if not master_endpoint.startswith("tcp://"):
        return "127.0.0.1"
    host = master_endpoint.removeprefix("tcp://").rpartition(":")[0].strip("[]")
    return "0.0.0.0" if host == "*" else host  # noqa: S104 - as the endpoint


class TerminalRequests:
    """Each process holds the end of a pipe, and ends when the master closes it, or is gone. Thread-safe."""

    def __init__(self, host: str, in_all_max: int) -> None:
        self._host = host
        self._in_all_max = in_all_max
        self._lock = threading.Lock()
        self._running: list[subprocess.Popen[bytes]] = []

    def open_terminal(self, order: dict[str, Any], command: Sequence[str] = BARE) -> Endpoint:
        """Return the endpoint of a new terminal for its client; BackendError if there is none."""
        secret = secrets.token_hex(_SECRET_BYTES)
        line = {**order, "host": self._host, "secret": secret, "wait_s": ACCEPT_S}
        process = self._start_process(command)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], _BEGIN_S)
            answer = process.stdout.readline() if ready else b""
            port = json.loads(answer)["port"]
        except (OSError, ValueError, KeyError) as error:
            process.stdin.close()
            raise BackendError("the terminal did not start") from error
        finally:
            process.stdout.close()
        return Endpoint("" if self._host in _ANYWHERE else self._host, port, secret)

    def _start_process(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._lock:
            self._running = [popen for popen in self._running if popen.poll() is None]
            if len(self._running) >= self._in_all_max:
                raise BackendError(f"{self._in_all_max} terminals are open, which is the maximum; close one")
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd="/"
            )
            self._running.append(process)
        threading.Thread(target=_let_end, args=(process,), name="zoe-terminal", daemon=True).start()
        return process

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            for process in self._running:
                if process.stdin is not None and not process.stdin.closed:
                    process.stdin.close()
            for process in self._running:
                try:
                    process.wait(_BEGIN_S + ACCEPT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
            self._running.clear()


def _let_end(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    if process.stdin is not None:
        process.stdin.close()
