"""Check that the image of a component is allowed, exists, and has a command."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.images import full_name, image_matches, is_reference, spellings
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform

IMAGE_ABSENT = "image_absent"
IMAGE_NOT_ALLOWED = "image_not_allowed"


def check_image(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for an image that is not allowed, that no node has, or that is built for other machines."""
    able, image, name = platform.capabilities, component.image, full_name(component.image)
    if (refused := image_refusal(image, able)) is not None:
        yield Finding(("image",), *refused)
        return
    if able.images_there is None:
        return
    facts = able.images_there.get(name)
    built = image_matches(image, able.built_images)
    if facts is None and (not able.pulls or built or name in able.unavailable):
        message = f"no node has image {image}" + (", and no node could pull it" if able.pulls and not built else "")
        hint = "ask the admin to load it on every node (`make images` builds those of the catalogue)"
        if able.pulls and not built:
            hint = "check its name, or ask the admin whether nodes reach its registry"
        yield Finding(("image",), IMAGE_ABSENT, message, hint, certain=False)
    elif facts is not None and facts.made_for:
        message = f"image {image} is built for {facts.made_for}, and no node with it has that platform"
        hint = "use an image that is also built for the nodes"
        yield Finding(("image",), "image_of_other_platform", message, hint, certain=False)


def image_refusal(image: str, able: BackendCapabilities) -> tuple[str, str, str] | None:
    """Return why an image is not allowed (a code and a sentence), and the allowed ones; None if it is allowed."""
    if able.engine is not None and not is_reference(image):
        hint = "write a name such as zoe/spark or registry.example.org/team/tool:1.2"
        return "image_name_invalid", f"{image} is not a valid image name", hint
    if able.images is None or image_matches(image, able.images):
        return None
    hints = (able.image_hints[name] for name in spellings(image) if name in able.image_hints)
    return (
        IMAGE_NOT_ALLOWED,
        f"image {image} cannot run on this back-end: {able.why_no_image}",
        next(hints, f"allowed images: {', '.join(sorted(able.images)) or 'none'}"),
    )


def check_command(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for a component without a command, if its image defines none either."""
    if component.command:
        return
    able = platform.capabilities
    message = f"component {component.name} has no command, and image {component.image} defines none"
    facts = (able.images_there or {}).get(full_name(component.image))
    if image_matches(component.image, able.commandless):
        yield Finding(("command",), "no_command", message, "set `command`")
    elif facts is not None and not facts.has_command:
        yield Finding(("command",), "no_command", message, "set `command`", certain=False)
