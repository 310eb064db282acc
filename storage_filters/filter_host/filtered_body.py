"""The body of a request to store an object, as the store reads it: through filters, with what is known only at its end.

What is stored has another length than what is sent, so it is sent in chunks. Whether all was sent, and as its ETag
says, is judged here, since the store cannot. Swift asks for the metadata that depend on the body when it has read all
of it (`swift.callback.update_footers`), as for its own encryption.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from swift.common.swob import HTTPClientDisconnect, HTTPRequestEntityTooLarge, HTTPUnprocessableEntity, Request

from storage_filters.counting.request_computing import computing_of
from storage_filters.filter_host.records import Step, written
from storage_filters.transforms.stream_filters import PIECE_BYTES, FilterRefused, stored
from storage_filters.wsgi.headers import DONE, NODE_MARK, PUT_ETAG, PUT_SIZE

_FOOTERS = "swift.callback.update_footers"


class FilteredBody:
    """Takes the place of a request's body. `make` gives the filters when the first byte is wanted: the request has been
    authorised by then. overrides: headers of ETag and size in listings. goes_on: whether object servers filter it, too.
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
        self._chunks = self._filtered()
        self._rest = b""
        self.refused: FilterRefused | None = None
        """Why it could not be filtered."""
        self.etag = ""
        """Of what was put, when all of it is stored."""
        self.differs = False
        """Whether it is not as its ETag says."""
        request.headers.pop("Content-Length", None)
        request.headers["Transfer-Encoding"] = "chunked"
        env["wsgi.input"] = self
        env[_FOOTERS] = self._footers

    def read(self, size: int = -1, *_rest: Any) -> bytes:
        """Return some bytes of what is to be stored; none at the end."""
        while not self._rest:
            if (chunk := next(self._chunks, None)) is None:
                return b""
            self._rest = chunk
        size = len(self._rest) if size is None or size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def __getattr__(self, name: str) -> Any:
        # Swift uses further methods of the server's own stream, such as for answers to `Expect: 100-continue`.
        return getattr(self._stream, name)

    def _filtered(self) -> Iterator[bytes]:
        try:
            self._steps = self._make()
            filters = [step.filter for step in self._steps]
            computing = computing_of(self._request.environ)
            received = iter(lambda: self._stream.read(PIECE_BYTES), b"")
            yield from filter(None, computing.pieces(lambda sent: stored(filters, self._judged(sent)), received))
        except FilterRefused as error:
            self.refused = error
            # As of a client that hangs up: of another error, Swift writes a traceback.
            raise HTTPUnprocessableEntity(body=f"{error}\n", request=self._request) from None

    def _judged(self, sent: Iterable[bytes]) -> Iterator[bytes]:
        """Yield what the client sends. swob's HTTPException if it hangs up, or sends too much."""
        for chunk in sent:
            self._size += len(chunk)
            if self._size > self._size_max:
                raise HTTPRequestEntityTooLarge(request=self._request)
            self._put_md5.update(chunk)
            yield chunk
        if self._length is not None and self._size < self._length:
            raise HTTPClientDisconnect(request=self._request)

    def _footers(self, footers: Any) -> None:
        """Add the metadata that are known now; swob's HTTPException if the body is not as its ETag says."""
        if self._before is not None:
            self._before(footers)
        etag = self._put_md5.hexdigest()
        wanted = footers.get("Etag") or self._wanted_etag
        if wanted is not None and wanted.strip('"').lower() != etag:
            self.differs = True
            raise HTTPUnprocessableEntity(request=self._request)
        self.etag = etag
        # The object servers compute that of what they store. What comes back is checked by each filter's own format.
        footers.pop("Etag", None)
        if self._goes_on:
            footers["Etag"] = NODE_MARK
        footers[DONE] = written(self._steps)
        footers[PUT_ETAG] = etag
        footers[PUT_SIZE] = str(self._size)
        listed_etag, listed_size = self._overrides
        for name, value in ((listed_etag, etag), (listed_size, str(self._size))):
            if self._request.headers.get(name) is None and footers.get(name) is None:
                footers[name] = value
