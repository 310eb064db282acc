"""Runtimes that are installed at the first use of their image, by a program that the settings name.

The program prints its progress, and at its end one line of JSON with `path` and `environment` of the runtime. It can be
ended at any time: the next start of it goes on.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import IO

from zoe_lib.domain.applications.images import spellings
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.local.machine.images import image_status
from zoe_master.backends.local.settings import Runtime

LINE_CHARACTERS_MAX = 300
_LINES_MAX = 30
_END_S = 5.0
_log = logging.getLogger(__name__)


class InstallationError(Exception):
    """The program failed; the message has its last line."""


class RuntimeInstallations:
    """The runtimes of this machine. Each program runs once at a time, and serves all images that name it."""

    def __init__(self, runtimes: Mapping[str, Runtime], wake: Callable[[], None]) -> None:
        self._runtimes, self._wake = dict(runtimes), wake
        self._lock = threading.Lock()
        self._running: dict[tuple[str, ...], _Installation] = {}
        self.runtimes: Mapping[str, Runtime] = MappingProxyType(self._runtimes)
        """Present runtimes, and those that can be installed; it follows the installations."""

    def installs(self) -> dict[str, str]:
        """Return what the first use of each image installs, by image name; without those that are there."""
        return {name: runtime.installs for name, runtime in list(self._runtimes.items()) if runtime.install}

    def status(self, image: str) -> ImageStatus:
        """Return `present` or `installing`, beginning a missing installation; `unavailable` with the reason, once, if
        it failed. Another call then tries again.
        """
        with self._lock:
            name = next((name for name in spellings(image) if name in self._runtimes), None)
            if name is None or not self._runtimes[name].install:
                return image_status(image, self._runtimes)
            runtime = self._runtimes[name]
            running = self._running.get(runtime.install)
            if running is None:
                running = self._running[runtime.install] = _Installation(runtime, self._ended)
            if running.problem is None:
                return ImageStatus(ImageState.INSTALLING, running.progress)
            del self._running[runtime.install]
            return ImageStatus(
                ImageState.UNAVAILABLE,
                f"image {image} is not installed: {running.problem}",
                "submit it again to continue the installation",
            )

    def close(self) -> None:
        """End the programs."""
        with self._lock:
            running = list(self._running.values())
        for installation in running:
            installation.end()

    def _ended(self, installation: _Installation) -> None:
        with self._lock:
            if (done := installation.installed) is not None:
                for name, runtime in list(self._runtimes.items()):
                    if runtime.install == installation.command:
                        self._runtimes[name] = done
                self._running.pop(installation.command, None)
        self._wake()


class _Installation:
    """One run of the program, followed by a thread."""

    def __init__(self, runtime: Runtime, ended: Callable[[_Installation], None]) -> None:
        self.command = runtime.install
        self.progress = runtime.installs
        self.problem: str | None = None
        self.installed: Runtime | None = None
        self._runtime, self._ended = runtime, ended
        self._process: subprocess.Popen[str] | None = None
        threading.Thread(target=self._follow, name="zoe-local-install", daemon=True).start()

    def end(self) -> None:
        """Ask the program to end; kill it if it does not."""
        if (process := self._process) is not None:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()

    def _follow(self) -> None:
        _log.info("installing %s", self._runtime.installs)
        try:
            self.installed = self._run()
            _log.info("installed %s", self._runtime.installs)
        except (InstallationError, OSError) as error:
            self.problem = str(error)
            _log.warning("installing %s failed: %s", self._runtime.installs, error)
        self._ended(self)

    def _run(self) -> Runtime:
        with subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        ) as process:  # fmt: skip
            self._process = process
            assert process.stdout is not None
            lines = self._read(process.stdout)
        last = lines[-1] if lines else ""
        if code := process.returncode:
            _log.warning("output of the failed installation:\n%s", "\n".join(lines))
            stated = (line for line in lines if line.lower().startswith("error"))
            raise InstallationError(next(stated, last) or f"exit code {code}")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            answer = json.loads(last)
            return replace(
                self._runtime, path=tuple(answer["path"]), environment=dict(answer["environment"]), install=()
            )
        raise InstallationError(f"the last line of the installer is not a runtime as JSON: {last or 'no output'}")

    def _read(self, output: IO[str]) -> list[str]:
        """Follow the output; return its last lines."""
        lines = deque[str](maxlen=_LINES_MAX)
        for line in output:
            if text := line.strip():
                answer = text.startswith("{")
                lines.append(text if answer else text[:LINE_CHARACTERS_MAX])
                if not answer:
                    self.progress = lines[-1].strip("[]")
        return list(lines)
