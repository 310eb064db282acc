"""Whether an engine gives containers what only it can set: no new privileges, and limits for each process.

On 20.10 an engine tells neither, and newer ones not the limits; so a container of a moment says what it was given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from docker.errors import APIError

from zoe_master.backends.base import ImageState
from zoe_master.backends.swarm import labels
from zoe_master.backends.swarm.engines import UNREACHABLE, Engine
from zoe_master.backends.swarm.images import image_allowed
from zoe_master.backends.swarm.names import full_image
from zoe_master.backends.swarm.settings import SwarmSettings

NOT_YET = "its engine's settings have not been checked yet"
NO_IMAGE = "its engine's settings cannot be checked: no image that may run there has /bin/cat"
LIMITS = {
    "core": "Max core file size",
    "data": "Max data size",
    "fsize": "Max file size",
    "memlock": "Max locked memory",
    "nofile": "Max open files",
    "nproc": "Max processes",
    "stack": "Max stack size",
}
"""Names of dockerd's --default-ulimit, and what the kernel calls them."""
_FILES = ["/proc/self/status", "/proc/self/limits"]
_IMAGES_TRIED_MAX = 5
_MEMORY_BYTES = 16 * 2**20
_ANSWER_S = 20


class Hardening:
    """Asks engines; the answer is for as long as an engine runs."""

    def __init__(self, settings: SwarmSettings) -> None:
        self._settings = settings
        self.unasked = "" if settings.allow_unhardened else NOT_YET
        """What is wrong with an engine that was not asked yet."""

    def check(self, engine: Engine, images: Iterable[str]) -> str:
        """What is wrong, in words; empty when nothing is, or the admin does not mind. Raises when nobody answers."""
        if self._settings.allow_unhardened:
            return ""
        for image in self._candidates(images):
            shown = _shown(engine.api, image, self._settings.installation)
            if shown is not None:
                return "; ".join(problems(shown, self._settings.ulimits_max))
        return NO_IMAGE

    def _candidates(self, images: Iterable[str]) -> Sequence[str]:
        ours = full_image(self._settings.gateway_image)
        allowed = (name for name in sorted(images) if name != ours and self._allowed(name))
        return [*(name for name in images if name == ours), *allowed][:_IMAGES_TRIED_MAX]

    def _allowed(self, image: str) -> bool:
        return image_allowed(image, self._settings.images).state is ImageState.PRESENT


def problems(shown: str, ulimits_max: Mapping[str, int]) -> Iterator[str]:
    """What the kernel says of a process, held against what must be."""
    lines = shown.splitlines()
    if not any(line.split() == ["NoNewPrivs:", "1"] for line in lines):
        yield "its engine runs without --no-new-privileges"
    for name, most in ulimits_max.items():
        row = next((line for line in lines if line.startswith(LIMITS[name])), "")
        hard = row.removeprefix(LIMITS[name]).split()[1:2]
        if not hard or not hard[0].isdigit() or int(hard[0]) > most:
            yield f"its engine allows {name} {hard[0] if hard else 'unknown'}, more than {most} (--default-ulimit)"


def _shown(api: Any, image: str, installation: str) -> str | None:
    """The files as a container of this image sees them; None when it has no /bin/cat."""
    made = None
    limits = api.create_host_config(mem_limit=_MEMORY_BYTES, network_mode="none", cap_drop=["ALL"], read_only=True)
    try:
        made = api.create_container(
            image, _FILES, entrypoint=["/bin/cat"], user="65534:65534", host_config=limits,
            labels={labels.INSTALLATION: installation},
        )  # fmt: skip
        api.start(made)
        if api.wait(made, timeout=_ANSWER_S)["StatusCode"] != 0:
            return None
        return str(api.logs(made).decode())
    except APIError:
        return None  # this image does not do
    finally:
        if made is not None:
            with contextlib.suppress(*UNREACHABLE):
                api.remove_container(made, v=True, force=True)
