"""Make names valid: close to the original, unique, and predictable."""

from __future__ import annotations

import re
from collections.abc import Container

from zoe_lib.descriptions.bounds import IMAGE_LENGTH_MAX, NAME_LENGTH_MAX, TITLE_LENGTH_MAX
from zoe_lib.domain.applications.templates import SELF


def legal_label(name: str, default: str, taken: Container[str] = ()) -> str:
    """Return a DNS label close to the name and not taken; `default` when no character of the name is usable."""
    label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:NAME_LENGTH_MAX].strip("-") or default
    label = f"{label}-component" if label == SELF else label
    candidate, number = label, 2
    while candidate in taken:
        suffix = f"-{number}"
        candidate = label[: NAME_LENGTH_MAX - len(suffix)].rstrip("-") + suffix
        number += 1
    return candidate


def legal_title(name: str) -> str:
    """Return an application's name close to the given one."""
    title = re.sub(r"[^A-Za-z0-9 ._@+-]+", "-", name)[:TITLE_LENGTH_MAX]
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", title) or "application"


def legal_image(image: str) -> str:
    """Return an image name close to the given one: without the leading slash that an empty registry left behind."""
    name = re.sub(r"[^A-Za-z0-9._:/@-]+", "-", image.strip())
    return re.sub(r"^[^A-Za-z0-9]+", "", name)[:IMAGE_LENGTH_MAX] or "image"


def legal_variable(name: str) -> str:
    """Return a variable's name close to the given one."""
    variable = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
    return variable if re.match(r"[A-Za-z_]", variable) else f"_{variable}"
