"""Image names, and the runtimes that replace them here."""

from __future__ import annotations

from collections.abc import Mapping
from glob import escape

from zoe_lib.domain.applications.images import spellings
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.local.settings import Runtime
from zoe_master.backends.services.failures import CannotStartError

NO_RUNTIME = "no runtime is configured for it"


def find_runtime(image: str, runtimes: Mapping[str, Runtime]) -> Runtime | None:
    """Return the runtime of the image's full name, else of its name without the tag."""
    return next((runtimes[name] for name in spellings(image) if name in runtimes), None)


def runtime_patterns(runtimes: Mapping[str, Runtime]) -> tuple[str, ...]:
    """Return the names of these images as patterns that match only themselves."""
    return tuple(sorted(map(escape, runtimes)))


def image_status(image: str, runtimes: Mapping[str, Runtime]) -> ImageStatus:
    """Return `present` if a runtime replaces the image; otherwise the message lists the configured ones."""
    if find_runtime(image, runtimes) is not None:
        return ImageStatus(ImageState.PRESENT)
    configured = ", ".join(sorted(runtimes)) or "none"
    return ImageStatus(
        ImageState.UNAVAILABLE,
        f"image {image} cannot run on this back-end: {NO_RUNTIME}",
        f"configured runtimes: {configured}",
    )


def runtime_of(image: str, runtimes: Mapping[str, Runtime]) -> Runtime:
    """Return the runtime, or CannotStartError with cause image_unavailable."""
    runtime = find_runtime(image, runtimes)
    if runtime is None:
        status = image_status(image, runtimes)
        raise CannotStartError(f"{status.message.rstrip('.')}; {status.hint}", Cause.IMAGE_UNAVAILABLE)
    return runtime
