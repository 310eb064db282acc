"""Texts for events about the object store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def store_words(kind: str, data: Mapping[str, Any]) -> str:
    """Return how inputs are read, or which way of using the store failed; empty if neither."""
    match kind:
        case "inputs_decided":
            return "; ".join(f"input {read.get('name')}: {read.get('why')}" for read in data.get("inputs", ()))
        case "storage_declined" | "storage_withdrawn":
            return f"the bandwidth that it asks for is not granted: {data.get('why', '')}"
        case "tenant_credential_used":
            return "it uses the credential of its tenant: none of its own came in time"
    return ""
