"""Descriptions that ask for a promise."""

from __future__ import annotations

from typing import Any


def asking(application: dict[str, Any], confidence: float | None = None, budget: float | None = None) -> dict[str, Any]:
    """Return a description that asks for a promise to end by its deadline; what is None stays as it is."""
    given = {"confidence": confidence, "budget": budget}
    wished = {**(application.get("promise") or {}), **{name: one for name, one in given.items() if one is not None}}
    return {**application, "promise": wished}
