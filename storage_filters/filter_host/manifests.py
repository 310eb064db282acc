"""Manifests of static large objects: lists of segments, which are objects with filters of their own.

Swift's `slo` has read and checked one before it comes here. It is stored as it is, since `slo` has to read it. Bytes of
an object that it holds by itself would be stored as they are, too, whatever the rules say.
"""

from __future__ import annotations

import io
import json

from swift.common.swob import Request

from storage_filters.transforms.stream_filters import FilterRefused

_BYTES_MAX = 64 * 2**20
"""More than `slo` takes: 8 MiB by default."""
_PIECE_BYTES = 64 * 1024


def check_manifest(request: Request) -> None:
    """Let a manifest pass that only lists segments; FilterRefused for one with bytes of the object in it."""
    stream, body = request.environ["wsgi.input"], b""
    while len(body) < _BYTES_MAX and (piece := stream.read(_PIECE_BYTES)):
        body += piece
    request.environ["wsgi.input"] = io.BytesIO(body)
    try:
        inline = any("data" in one for one in json.loads(body))
    except (ValueError, TypeError):
        raise FilterRefused("this manifest cannot be read, so nobody knows whether it has bytes to filter") from None
    if inline:
        raise FilterRefused(
            "a manifest with `data` of its own is not filtered as the rules for it say: store these bytes as a segment"
        )
