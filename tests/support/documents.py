"""Descriptions as users write them."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def part(name: str = "main", *command: str, **changes: Any) -> Document:
    """Return a small component."""
    values: Document = {
        "name": name,
        "image": "zoe/tiny",
        "command": list(command or ("true",)),
        "resources": {"memory": "64MiB", "cores": 0.1},
    }
    return {**values, **changes}


def job(*command: str, **changes: Any) -> Document:
    """One command that ends the application."""
    return document(part("main", *command, ends_application=True), **changes)


def sized(cores: float, *command: str, **changes: Any) -> Document:
    """Return the same with this many cores."""
    resources = {"memory": "64MiB", "cores": round(cores, 3)}
    return document(part("main", *command, ends_application=True, resources=resources), **changes)


def document(*parts: Document, name: str = "job", **changes: Any) -> Document:
    return {"version": 4, "name": name, "components": list(parts), **changes}
