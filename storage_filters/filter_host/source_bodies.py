"""The body of a request that Swift reads from another object: of a copy, or of an older version that it keeps.

Swift takes such a body for a client's. Where the other object could not be read, it answered 500 with a traceback in
the log, or said that the client had gone. Here the client learns why, and the log has one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swift.common.exceptions import ListingIterError, SegmentError
from swift.common.swob import HTTPException, Request, Response

from storage_filters.filter_host.refusals import refusal
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterAway, FilterRefused

_OF_OBJECTS = ("SSC", "VW", "OV")
"""What Swift's `copy`, `versioned_writes` and object versioning call their requests."""
_UNPROCESSABLE = 422
_OF_SEGMENTS = (SegmentError, ListingIterError)


class SourceBody:
    """Takes the place of such a body. length: bytes that the head announces. told: hears why it ended too early."""

    def __init__(self, request: Request, told: Callable[[str], None]) -> None:
        self._request = request
        self._stream = request.environ["wsgi.input"]
        self._left = request.content_length
        self._told = told
        self._refused = False

    def read(self, size: int = -1, *rest: Any) -> bytes:
        """Return bytes of the other object; swob's HTTPException if it cannot be read to its end."""
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
        """Raise DamagedObjectError if the store found that the bytes are not those of the other object's ETag."""
        if answer.status_int == _UNPROCESSABLE and not self._refused:
            raise DamagedObjectError("it is not what was put")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _refusal(self, error: Exception, known: bool = False) -> HTTPException:
        """Return the answer. known: whether who reads the other object has said in the log why it ended."""
        self._refused = True
        if not known:
            self._told(f"cannot copy to {self._request.path}: {error}")
        return refusal(self._request, error)


def reason_of(error: Exception) -> Exception:
    """Return why an object cannot be read to its end: FilterRefused, FilterAway or DamagedObjectError."""
    if isinstance(error, (FilterRefused, DamagedObjectError)):
        return error
    if isinstance(error, _OF_SEGMENTS):
        return FilterRefused(f"a segment cannot be read: {error}")
    return FilterAway(f"the store stopped sending the object: {error or type(error).__name__}")


def of_source(request: Request, told: Callable[[str], None]) -> SourceBody | None:
    """Let the body of a request be read by SourceBody, and return that, if it is another object's."""
    if request.environ.get("swift.source") not in _OF_OBJECTS:
        return None
    made = request.environ["wsgi.input"] = SourceBody(request, told)
    return made
