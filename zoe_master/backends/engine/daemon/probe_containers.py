"""Short-lived containers that report facts of a node that its engine does not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docker.types import Mount

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import ImageState
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.images import image_allowed
from zoe_master.backends.engine.spec.naming import labels

NOBODY = "65534:65534"
_IMAGES_TRIED_MAX = 5
_MEMORY_BYTES = 32 * 2**20
_PROCESSES_MAX = 64
_ANSWER_S = 20
LONGEST_S = 600.0
_ABANDONED_S = LONGEST_S + 120.0  # more than the difference between two machines' clocks


@dataclass(frozen=True, slots=True)
class ImageProgram:
    """A program of the image, and the settings of its container.

    `sees`: directory inside, to the node's directory. `changes`: a volume, or a directory of the node, that it may
    change with `capabilities`, and its path inside. `errors`: the output includes standard error.
    """

    program: str
    arguments: Sequence[str]
    user: str = NOBODY
    network: str = "none"
    sees: Mapping[str, str] | None = None
    changes: tuple[str, str] | None = None
    timeout_s: float = _ANSWER_S
    capabilities: Sequence[str] = ("CHOWN",)
    errors: bool = False


def candidates(images: Iterable[str], settings: EngineSettings) -> list[str]:
    """Return the images of a node for probes: first the gateway's, which every node should have."""
    gateway_image = full_name(settings.gateway_image)
    there = sorted(images)
    allowed = (name for name in there if name != gateway_image and _is_allowed(name, settings))
    return [*(name for name in there if name == gateway_image), *allowed][:_IMAGES_TRIED_MAX]


def ask(api: Any, image: str, installation: str, question: ImageProgram) -> tuple[int, str]:
    """Run the program; return exit code and output. Raises the client's exceptions; the container is removed
    afterwards.
    """
    made = None
    mounts = [
        Mount(target, source, type="bind", read_only=True) for target, source in sorted((question.sees or {}).items())
    ]
    if question.changes is not None:
        source, target = question.changes
        bind = source.startswith("/")
        mounts.append(Mount(target, source, type="bind") if bind else Mount(target, source, no_copy=True))
    limits = api.create_host_config(
        mem_limit=_MEMORY_BYTES, pids_limit=_PROCESSES_MAX, network_mode=question.network, cap_drop=["ALL"],
        read_only=True, security_opt=["no-new-privileges"] if mounts else None, mounts=mounts,
        cap_add=list(question.capabilities) if question.changes else None,
    )  # fmt: skip
    try:
        made = api.create_container(
            image, list(question.arguments), entrypoint=[question.program], user=question.user, host_config=limits,
            labels={labels.INSTALLATION: installation, labels.OF_A_MOMENT: "true"},
        )  # fmt: skip
        api.start(made)
        code = int(api.wait(made, timeout=question.timeout_s)["StatusCode"])
        return code, str(api.logs(made, stderr=question.errors).decode(errors="replace"))
    finally:
        if made is not None:
            with contextlib.suppress(*UNREACHABLE):
                api.remove_container(made, v=True, force=True)


def sweep_probes(api: Any, installation: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Remove containers of a master that was killed during a check; those of running checks are younger."""
    marks = [f"{labels.INSTALLATION}={installation}", labels.OF_A_MOMENT]
    for container in api.containers(all=True, filters={"label": marks}):
        if container["Created"] < clock.now_s() - _ABANDONED_S:
            with contextlib.suppress(*UNREACHABLE):
                api.remove_container(container["Id"], v=True, force=True)


def _is_allowed(image: str, settings: EngineSettings) -> bool:
    return image_allowed(image, settings.images).state is ImageState.PRESENT
