"""The body of a PUT as the store reads it: filtered, followed by the metadata that are known only at its end.

The stored bytes differ in length from the sent ones, so they are sent in chunks. The filter host checks that the body
is complete and matches its ETag, since the store cannot. Swift asks for metadata that depend on the body once it has
read all of it (`swift.callback.update_footers`), as for its encryption.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from swift.common.swob import HTTPClientDisconnect, HTTPRequestEntityTooLarge, HTTPUnprocessableEntity, Request

from storage_filters.counting.request_computing import computing_of
from storage_filters.filter_host.records import Step, record_text
from storage_filters.transforms.stream_filters import PIECE_BYTES, FilterRefusedError, run_forward
from storage_filters.wsgi.headers import DONE, NODE_MARK, PUT_ETAG, PUT_SIZE

_FOOTERS = "swift.callback.update_footers"


class FilteredBody:
    """Replaces a request's body. make: returns the filters when the first byte is read; the request is authorised by
    then. overrides: headers of ETag and size in listings. goes_on: whether object servers filter it too.
    """

    def __init__(
        self,
        request: Request,
        make: Callable[[], Sequence[Step]],
        size_max: int,
        overrides: tuple[str, str],
        goes_on: bool = False,
    ) -> None:
        env = request.environ
        self._request = request
        self._stream = env["wsgi.input"]
        self._make = make
        self._size_max = size_max
        self._overrides = overrides
        self._goes_on = goes_on
        self._length = request.content_length
        self._wanted_etag = request.headers.pop("Etag", None)
        self._before = env.get(_FOOTERS)
        self._put_md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0
        self._steps: Sequence[Step] = ()
        self._chunks = self._filtered_pieces()
        self._rest = b""
        self.refused: FilterRefusedError | None = None
        """Why the body could not be filtered."""
        self.etag = ""
        """ETag of the body as sent, once all of it is stored."""
        self.differs = False
        """Whether the body does not match its ETag."""
        request.headers.pop("Content-Length", None)
        request.headers["Transfer-Encoding"] = "chunked"
        env["wsgi.input"] = self
        env[_FOOTERS] = self._footers

    def read(self, size: int = -1, *_rest: Any) -> bytes:
        """Return some bytes for the store; none at the end."""
        while not self._rest:
            if (chunk := next(self._chunks, None)) is None:
                return b""
            self._rest = chunk
        size = len(self._rest) if size is None or size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def __getattr__(self, name: str) -> Any:
        # Swift uses other methods of the server's stream, such as for answers to `Expect: 100-continue`.
        return getattr(self._stream, name)

    def _filtered_pieces(self) -> Iterator[bytes]:
        try:
            self._steps = self._make()
            filters = [step.filter for step in self._steps]
            computing = computing_of(self._request.environ)
            received = iter(lambda: self._stream.read(PIECE_BYTES), b"")
            yield from filter(
                None, computing.pieces(lambda sent: run_forward(filters, self._checked_pieces(sent)), received)
            )
        except FilterRefusedError as error:
            self.refused = error
            # An error as of a client that disconnects: for any other error, Swift logs a traceback.
            raise HTTPUnprocessableEntity(body=f"{error}\n", request=self._request) from None

    def _checked_pieces(self, sent: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the body as sent. Raises swob's HTTPException if the client disconnects or sends too much."""
        for chunk in sent:
            self._size += len(chunk)
            if self._size > self._size_max:
                raise HTTPRequestEntityTooLarge(request=self._request)
            self._put_md5.update(chunk)
            yield chunk
        if self._length is not None and self._size < self._length:
            raise HTTPClientDisconnect(request=self._request)

    def _footers(self, footers: Any) -> None:
        """Add the metadata that are known now. Raises swob's HTTPException if the body does not match its ETag."""
        if self._before is not None:
            self._before(footers)
        etag = self._put_md5.hexdigest()
        wanted = footers.get("Etag") or self._wanted_etag
        if wanted is not None and wanted.strip('"').lower() != etag:
            self.differs = True
            raise HTTPUnprocessableEntity(request=self._request)
        self.etag = etag
        # The object servers compute the ETag of the stored bytes. Each filter's format checks the bytes that are read
        # back.
        footers.pop("Etag", None)
        if self._goes_on:
            footers["Etag"] = NODE_MARK
        footers[DONE] = record_text(self._steps)
        footers[PUT_ETAG] = etag
        footers[PUT_SIZE] = str(self._size)
        listed_etag, listed_size = self._overrides
        for name, value in ((listed_etag, etag), (listed_size, str(self._size))):
            if self._request.headers.get(name) is None and footers.get(name) is None:
                footers[name] = value
