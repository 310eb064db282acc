"""Which images may run, and on which nodes they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.swarm.names import full_image


def image_allowed(image: str, allowed: Sequence[str]) -> ImageStatus:
    """Present as far as the admin's list is concerned, or unavailable with what the list holds."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    without_tag = head if colon and "/" not in tag else name
    if any(fnmatchcase(name, pattern) or fnmatchcase(without_tag, pattern) for pattern in allowed):
        return ImageStatus(ImageState.PRESENT)
    return ImageStatus(
        ImageState.UNAVAILABLE,
        f"image {image} cannot run on this back-end: it is not on the admin's list",
        f"allowed are: {', '.join(sorted(allowed)) or 'none'}",
    )


def image_state(
    image: str, known: Mapping[str, frozenset[str]], pulling: Sequence[str], failures: Mapping[str, str]
) -> ImageStatus:
    """What the nodes (name to the images they have) say of an image; `pulling` and `failures` are by node, too.

    A node that lacks it for good does not make it unavailable as long as another one has it.
    """
    name = full_image(image)
    have = [node for node, images in known.items() if name in images]
    if pulling:
        return ImageStatus(ImageState.PULLING, f"on {', '.join(sorted(pulling))}")
    if have or not known:
        return ImageStatus(ImageState.PRESENT)
    why = "; ".join(f"{node}: {error}" for node, error in sorted(failures.items()))
    return ImageStatus(
        ImageState.UNAVAILABLE,
        f"image {image} is on no node{f' and cannot be pulled ({why})' if why else ''}",
        "build it with `make images` and load it on every node, or let nodes pull it (ZOE_SWARM_PULL_IMAGES)",
    )
