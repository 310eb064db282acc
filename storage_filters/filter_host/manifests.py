"""Manifests of static large objects: lists of segments, which are objects with filters of their own.

Swift's `slo` reads and checks a manifest before it arrives here. It is stored unfiltered, since `slo` has to read it.
Contents inside a manifest would be stored unfiltered too, against the rules, so they are refused.
"""

from __future__ import annotations

import io
import json

from swift.common.swob import Request

from storage_filters.transforms.stream_filters import FilterRefusedError

_BYTES_MAX = 64 * 2**20
"""More than the limit of `slo`, which is 8 MiB by default."""
_PIECE_BYTES = 64 * 1024


def check_manifest(request: Request) -> None:
    """Accept a manifest that only lists segments. Raises FilterRefusedError for one with contents of the object."""
    stream, body = request.environ["wsgi.input"], b""
    while len(body) < _BYTES_MAX and (piece := stream.read(_PIECE_BYTES)):
        body += piece
    request.environ["wsgi.input"] = io.BytesIO(body)
    try:
        inline = any("data" in load for load in json.loads(body))
    except (ValueError, TypeError):
        raise FilterRefusedError("cannot read this manifest, so it cannot be checked for inline data") from None
    if inline:
        raise FilterRefusedError(
            "the rules for this object cannot filter `data` in a manifest: store these bytes as a segment"
        )
