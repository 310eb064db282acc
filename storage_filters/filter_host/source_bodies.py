"""Request bodies that Swift reads from another object: of a copy, or of an older version that it keeps.

Swift takes such a body for a client's. If the other object could not be read, Swift would answer 500 with a traceback
in the log, or report that the client disconnected. This body gives the client the reason, and the log one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swift.common.exceptions import ListingIterError, SegmentError
from swift.common.swob import HTTPException, Request, Response

from storage_filters.filter_host.refusals import refusal
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterAway, FilterRefusedError

_OF_OBJECTS = ("SSC", "VW", "OV")
"""Names of Swift's `copy`, `versioned_writes` and object versioning for their requests."""
_UNPROCESSABLE = 422
_OF_SEGMENTS = (SegmentError, ListingIterError)


class SourceBody:
    """Replaces such a body. length: bytes that the head announces. told: is called with the reason of an early end."""

    def __init__(self, request: Request, told: Callable[[str], None]) -> None:
        self._request = request
        self._stream = request.environ["wsgi.input"]
        self._left = request.content_length
        self._told = told
        self._refused = False

    def read(self, size: int = -1, *rest: Any) -> bytes:
        """Return bytes of the other object. Raises swob's HTTPException if it cannot be read to its end."""
        try:
            data: bytes = self._stream.read(size, *rest)
        except HTTPException:
            raise
        except Exception as error:
            raise self._refusal(reason_of(error), isinstance(error, DamagedObjectError)) from None
        if self._left is not None:
            self._left -= len(data)
            if self._left > 0 and not data and size:
                raise self._refusal(DamagedObjectError(f"{self._left} bytes are missing at its end"))
        return data

    def check_stored(self, answer: Response) -> None:
        """Raise DamagedObjectError if the store found that the bytes do not match the other object's ETag."""
        if answer.status_int == _UNPROCESSABLE and not self._refused:
            raise DamagedObjectError("it differs from the original")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _refusal(self, error: Exception, known: bool = False) -> HTTPException:
        """Return the answer. known: whether the reason is in the log already."""
        self._refused = True
        if not known:
            self._told(f"cannot copy to {self._request.path}: {error}")
        return refusal(self._request, error)


def reason_of(error: Exception) -> Exception:
    """Return the reason why an object cannot be read to its end: Raises FilterRefusedError, FilterAway and
    DamagedObjectError.
    """
    if isinstance(error, (FilterRefusedError, DamagedObjectError)):
        return error
    if isinstance(error, _OF_SEGMENTS):
        return FilterRefusedError(f"a segment cannot be read: {error}")
    return FilterAway(f"the store stopped sending the object: {error or type(error).__name__}")


def replace_source_body(request: Request, told: Callable[[str], None]) -> SourceBody | None:
    """Replace a body that comes from another object by a SourceBody, and return that; None for other requests."""
    if request.environ.get("swift.source") not in _OF_OBJECTS:
        return None
    made = request.environ["wsgi.input"] = SourceBody(request, told)
    return made
