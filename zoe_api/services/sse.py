"""The form of server-sent events."""

from __future__ import annotations

import json


def sse(event_id: int | str, kind: str, data: object) -> bytes:
    """Return one server-sent event."""
    return f"id: {event_id}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
