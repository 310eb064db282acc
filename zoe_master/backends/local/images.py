"""Image names and the runtimes that stand for them here."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.execution import Cause
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.failures import CannotStart
from zoe_master.backends.local.settings import Runtime


def find_runtime(image: str, runtimes: Mapping[str, Runtime]) -> Runtime | None:
    """The runtime of the image's full name, else of its name without the tag."""
    return runtimes.get(image) or runtimes.get(_without_tag(image))


def image_status(image: str, runtimes: Mapping[str, Runtime]) -> ImageStatus:
    """Present when a runtime stands for it; otherwise what is configured."""
    if find_runtime(image, runtimes) is not None:
        return ImageStatus(ImageState.PRESENT)
    configured = ", ".join(sorted(runtimes)) or "none"
    return ImageStatus(
        ImageState.UNAVAILABLE,
        f"image {image} cannot run on this back-end: no runtime is set for it",
        f"runtimes are set for: {configured}",
    )


def runtime_of(image: str, runtimes: Mapping[str, Runtime]) -> Runtime:
    """The runtime, or CannotStart with cause image_unavailable."""
    runtime = find_runtime(image, runtimes)
    if runtime is None:
        status = image_status(image, runtimes)
        raise CannotStart(f"{status.message}; {status.hint}", Cause.IMAGE_UNAVAILABLE)
    return runtime


def _without_tag(image: str) -> str:
    """A colon before the last slash belongs to a registry's port."""
    head, colon, tag = image.rpartition(":")
    return head if colon and "/" not in tag else image
