"""The program of a terminal as a command that an engine runs in a container."""

from __future__ import annotations

import contextlib
import os
import threading
import time

from zoe_master.backends.terminal import container_shell
from zoe_master.backends.terminal.engine_api import UNREACHABLE, EngineApi, EngineRefused
from zoe_master.backends.terminal.exec_transfer import ExecTransfer
from zoe_master.backends.terminal.program import ProcessStreams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HANGUP_S, _KILL_S = 1.0, 30.0
_CODE_S, _LOOK_S, _RETRY_S = 5.0, 0.02, 0.5
_GONE = (404, 409)  # no such container, or it is not running
# The sequence that detaches from a pseudo-terminal, unless another one is given. This one cannot be typed.
_DETACH_KEYS = ",".join(["ctrl-@"] * 8)
_NO_SHELL = "the image has no /bin/sh, without which nothing ends what a terminal begins"


class ContainerExec(ProcessStreams):
    """A command in a container, and its descendants. `failure`: why it has no exit code.

    `notice` is called from another thread when it has ended.
    """

    def __init__(self, order: dict[str, Any], wakeup: int) -> None:
        self.tty = bool(order["tty"])
        self.exit_code: int | None = None
        self.failure: str | None = None
        self._api = EngineApi(order["url"], order["tls_dir"], order["version"])
        self._container, self._name = order["container"], order["name"]
        self._wakeup = wakeup
        self._exec = ""
        self._pump: ExecTransfer | None = None
        self._size = (order["rows"], order["columns"])
        self._size_changed = threading.Event()
        theirs, self.input = os.pipe()
        pipes = [os.pipe() for _ in range(1 if self.tty else 2)]
        self.outputs = [read for read, _ in pipes]
        for descriptor in (theirs, self.input, *(end for pipe in pipes for end in pipe)):
            os.set_blocking(descriptor, False)
        self._begin(order, theirs, [write for _, write in pipes])

    def resize(self, rows: int, columns: int) -> None:
        """Make the engine resize the window of the program, soon."""
        self._size = (rows, columns)
        self._size_changed.set()

    def reap(self) -> None:
        """Do nothing: another thread notices the end."""

    def end(self) -> None:
        """End it with its descendants: hang up, then kill; retry while its engine is away."""
        if not self._exec:
            return
        # Unread output would keep the engine from noticing that commands in this container have ended.
        for descriptor in {self.input, *self.outputs} - {-1}:
            os.close(descriptor)
        until_s = time.monotonic() + _KILL_S
        if self.exit_code is None and self._signal("HUP", until_s) and self._pump is not None:
            self._pump.join(_HANGUP_S)
        while self._signal("KILL", until_s) and time.monotonic() < until_s:
            pass
        if self._pump is not None:
            self._pump.stop()

    def _begin(self, order: dict[str, Any], theirs: int, outputs: list[int]) -> None:
        size = (order["rows"], order["columns"]) if self.tty else None
        variables = [f"{container_shell.NAME}={self._name}"] + ([f"TERM={order['term']}"] if self.tty else [])
        wanted = {
            "AttachStdin": True, "AttachStdout": True, "AttachStderr": True, "Tty": self.tty,
            "DetachKeys": _DETACH_KEYS, "Env": variables,
            "Cmd": container_shell.begin(self._name, order["command"], size),
        }  # fmt: skip
        try:
            has_shell = self._has_shell()
            self._exec = self._api.ask("POST", f"/containers/{self._container}/exec", wanted)["Id"]
            if not has_shell:
                raise EngineRefused(400, container_shell.SHELL)
            stream = self._api.attach(f"/exec/{self._exec}/start", {"Detach": False, "Tty": self.tty})
        except EngineRefused as refused:
            self.failure = refusal_text(refused)
        except UNREACHABLE:
            self.failure = "the engine of the service's node does not answer"
        if self.failure is not None:
            for descriptor in (theirs, *outputs):
                os.close(descriptor)
            return
        self._pump = ExecTransfer(stream, theirs, outputs)
        self._pump.start()
        threading.Thread(target=self._watch, args=(self._pump,), daemon=True).start()
        if self.tty:
            threading.Thread(target=self._resize_soon, daemon=True).start()

    def _has_shell(self) -> bool:
        """Return whether the shell exists; engines differ in how they refuse a missing command."""
        try:
            self._api.ask("HEAD", f"/containers/{self._container}/archive?path={container_shell.SHELL}")
        except EngineRefused as refused:
            return refused.status != _GONE[0]
        return True

    def _watch(self, pump: ExecTransfer) -> None:
        """Record the exit code after the output has ended."""
        pump.join()
        until_s = time.monotonic() + _CODE_S
        while self.exit_code is None and self.failure is None:
            try:
                found = self._api.ask("GET", f"/exec/{self._exec}/json")
                if not found["Running"]:
                    self.exit_code = found["ExitCode"]
            except EngineRefused:
                self.failure = "the service has ended"
            except (*UNREACHABLE, KeyError):
                pass
            if time.monotonic() > until_s:
                self.failure = "the engine does not say how the command ended"
            time.sleep(_LOOK_S)
        with contextlib.suppress(OSError):
            os.write(self._wakeup, b"x")

    def _resize_soon(self) -> None:
        while self.exit_code is None and self.failure is None:
            if self._size_changed.wait(_RETRY_S):
                self._size_changed.clear()
                rows, columns = self._size
                with contextlib.suppress(EngineRefused, *UNREACHABLE):
                    self._api.ask("POST", f"/exec/{self._exec}/resize?h={rows}&w={columns}")

    def _signal(self, signal: str, until_s: float) -> bool:
        """Send a signal to all its processes; return whether there may be any."""
        while True:
            try:
                return self._ended_by(container_shell.end(self._name, signal)) == container_shell.SOME_LEFT
            except EngineRefused as refused:
                if refused.status in _GONE:
                    return False
            except (*UNREACHABLE, KeyError):
                pass
            if time.monotonic() > until_s:
                return False
            time.sleep(_RETRY_S)

    def _ended_by(self, command: list[str]) -> int:
        """Run a command in the container; return its exit code."""
        made = self._api.ask("POST", f"/containers/{self._container}/exec", {"Cmd": command})["Id"]
        self._api.ask("POST", f"/exec/{made}/start", {"Detach": True, "Tty": False})
        until_s = time.monotonic() + _CODE_S
        while time.monotonic() < until_s:
            found = self._api.ask("GET", f"/exec/{made}/json")
            if not found["Running"]:
                return int(found["ExitCode"])
            time.sleep(_LOOK_S)
        return container_shell.SOME_LEFT


def refusal_text(refused: EngineRefused) -> str:
    """Return why the engine does not run it; the shell is the only program that it starts itself."""
    words = str(refused)
    if refused.status in _GONE:
        return "the service's container is paused" if "paused" in words else "the service has ended"
    return _NO_SHELL if container_shell.SHELL in words else f"the engine refuses the command: {words}"
