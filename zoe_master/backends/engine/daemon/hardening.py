"""Check container settings that only an engine can make: no new privileges, and process limits.

Docker Engine 20.10 reports neither, and newer ones do not report the limits; so a short-lived container reads its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from docker.errors import APIError

from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.probe_containers import ImageProgram, ask, candidates
from zoe_master.backends.engine.errors import words_of
from zoe_master.backends.engine.settings import EngineSettings

NOT_YET = "its engine's settings have not been checked yet"
NO_IMAGE = "its engine's settings cannot be checked: no allowed image on it has /bin/cat"
LIMITS = {
    "core": "Max core file size",
    "data": "Max data size",
    "fsize": "Max file size",
    "memlock": "Max locked memory",
    "nofile": "Max open files",
    "nproc": "Max processes",
    "stack": "Max stack size",
}
"""Names for dockerd's --default-ulimit, and the kernel's names."""
_FILES = ["/proc/self/status", "/proc/self/limits"]


class EngineHardening:
    """Checks engines; a result holds until the engine restarts."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self.unasked = "" if settings.allow_unhardened else NOT_YET
        """The problem of an engine that was not checked yet."""

    def check(self, engine: Engine, images: Iterable[str]) -> str:
        """Return the problems as a sentence; empty if there are none, or if the admin allows them. Raises if the engine
        does not answer.
        """
        if self._settings.allow_unhardened:
            return ""
        words = ""
        for image in candidates(images, self._settings):
            try:
                code, shown = ask(engine.api, image, self._settings.installation, ImageProgram("/bin/cat", _FILES))
            except APIError as error:
                words = words or f" ({image}: {words_of(error)})"  # this image cannot do it, or this engine
                continue
            if code == 0:
                return "; ".join(problems(shown, self._settings.ulimits_max))
        return NO_IMAGE + words


def problems(shown: str, ulimits_max: Mapping[str, int]) -> Iterator[str]:
    """Compare the kernel's report on a process with the requirements."""
    lines = shown.splitlines()
    if not any(line.split() == ["NoNewPrivs:", "1"] for line in lines):
        yield "its engine runs without --no-new-privileges"
    for name, most in ulimits_max.items():
        row = next((line for line in lines if line.startswith(LIMITS[name])), "")
        hard = row.removeprefix(LIMITS[name]).split()[1:2]
        if not hard or not hard[0].isdigit() or int(hard[0]) > most:
            yield f"its engine allows {name} {hard[0] if hard else 'unknown'}, more than {most} (--default-ulimit)"
