"""Allowed images, and the nodes that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zoe_lib.domain.applications.images import full_name
from zoe_lib.domain.checks.images import image_refusal
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.engine.errors import error_text
from zoe_master.backends.engine.spec.engine_limits import DOCKER


def image_allowed(image: str, allowed: Sequence[str]) -> ImageStatus:
    """Return `present` if the admin's list allows the image, otherwise `unavailable` with the list."""
    refused = image_refusal(image, BackendCapabilities(images=tuple(allowed), engine=DOCKER))
    return ImageStatus(ImageState.PRESENT) if refused is None else ImageStatus(ImageState.UNAVAILABLE, *refused[1:])


BUILD_OR_PULL = "build it with `make images` and load it on every node, or let nodes pull it (ZOE_ENGINE_PULL_IMAGES)"
BUILD = "build it on this machine: `make images` builds those of the catalogue"
CHECK_PULL = "check its name, and that the engine reaches the registry and may pull from it (`docker pull` shows it)"


def image_state(
    image: str,
    images_of_node: Mapping[str, frozenset[str]],
    pulling: Sequence[str],
    failures: Mapping[str, str],
    hint: str = BUILD_OR_PULL,
) -> ImageStatus:
    """Return the state of an image on these nodes (name to the images they have); `pulling` and `failures` are by node,
    too. hint: how to get a missing one.

    An image is not unavailable while any node has it, even if another node can never get it.
    """
    name = full_name(image)
    have = [node for node, images in images_of_node.items() if name in images]
    if pulling:
        return ImageStatus(ImageState.PULLING, f"on {', '.join(sorted(pulling))}")
    if have or not images_of_node:
        return ImageStatus(ImageState.PRESENT)
    why = "; ".join(f"{node}: {error}" for node, error in sorted(failures.items()))
    message, detail = error_text(f"no node has image {image}{' and it cannot be pulled' if why else ''}", why)
    return ImageStatus(ImageState.UNAVAILABLE, message, hint, detail)
