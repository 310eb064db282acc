"""The body of a PUT to an object server, as the server reads it: filtered.

A proxy sends the bytes, followed by metadata that depend on them, as two MIME documents (Swift's `MIMEPutter`). This
body filters the first document, and adds the metadata of its filters to the second.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from swift.common.swob import HTTPBadRequest, HTTPUnprocessableEntity, Request
from swift.common.utils import iter_multipart_mime_documents, parse_mime_headers

from storage_filters.counting.request_computing import computing_of
from storage_filters.filter_host.records import Step, record_text
from storage_filters.transforms.stream_filters import PIECE_BYTES, run_forward
from storage_filters.wsgi.headers import NODE_DONE, NODE_ETAG, NODE_MARK, NODE_SIZE

_BOUNDARY = "X-Backend-Obj-Multipart-Mime-Boundary"
_FOOTERS_BYTES_MAX = 1 << 20


def has_documents(request: Request) -> bool:
    """Return whether the body has the two documents of a proxy with a filter host."""
    return bool(request.headers.get(_BOUNDARY)) and "X-Backend-Obj-Multiphase-Commit" not in request.headers


class NodeBody:
    """Replaces the body. steps: the filters, in their order."""

    def __init__(self, request: Request, steps: Sequence[Step]) -> None:
        self._request = request
        self._stream = request.environ["wsgi.input"]
        self._boundary = request.headers[_BOUNDARY].encode()
        self._steps = steps
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0
        self._pieces = self._documents()
        self._rest = b""
        request.headers.pop("X-Backend-Obj-Content-Length", None)  # the stored bytes have another length
        request.environ["wsgi.input"] = self

    @property
    def etag(self) -> str:
        """Return the MD5 of the sent bytes, once all of them are read."""
        return self._md5.hexdigest()

    def read(self, size: int = -1, *_rest: Any) -> bytes:
        """Return some bytes; none at the end."""
        while not self._rest:
            if (piece := next(self._pieces, None)) is None:
                return b""
            self._rest = piece
        size = len(self._rest) if size is None or size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def readline(self, size: int = -1) -> bytes:
        """Return bytes up to the end of a line, or at most `size`; Swift reads boundaries so."""
        line = b""
        while not line.endswith(b"\n") and (size is None or size < 0 or len(line) < size):
            self._rest = self._rest or self.read()
            if not self._rest:
                break
            wanted = self._rest.find(b"\n") + 1 or len(self._rest)
            if size is not None and size >= 0:
                wanted = min(wanted, size - len(line))
            line, self._rest = line + self._rest[:wanted], self._rest[wanted:]
        return line

    def __getattr__(self, name: str) -> Any:
        # The server passes its answer to `Expect: 100-continue` to its stream.
        return getattr(self._stream, name)

    def _documents(self) -> Iterator[bytes]:
        """Yield both documents. Raises swob's HTTPException for a malformed or incomplete body."""
        documents = iter_multipart_mime_documents(self._stream, self._boundary, PIECE_BYTES)
        begin = b"--" + self._boundary + b"\r\n"
        body = self._next_document(documents)
        yield begin + b"X-Document: object body\r\n\r\n"
        filters = [step.filter for step in self._steps]
        received = self._received_chunks(body)
        yield from filter(
            None, computing_of(self._request.environ).pieces(lambda entry: run_forward(filters, entry), received)
        )
        yield b"\r\n" + begin + self._footers(documents) + b"\r\n--" + self._boundary + b"--\r\n"

    def _next_document(self, documents: Iterator[Any]) -> Any:
        if (found := next(documents, None)) is None:
            raise HTTPBadRequest(body="a part of the body is missing\n", request=self._request)
        self._headers = parse_mime_headers(found)
        return found

    def _received_chunks(self, body: Any) -> Iterator[bytes]:
        while chunk := body.read(PIECE_BYTES):
            self._md5.update(chunk)
            self._size += len(chunk)
            yield chunk

    def _footers(self, documents: Iterator[Any]) -> bytes:
        body = self._next_document(documents)
        text = b""
        while (chunk := body.read(PIECE_BYTES)) and len(text) <= _FOOTERS_BYTES_MAX:
            text += chunk
        if _md5(text) != self._headers.get("Content-MD5"):
            raise HTTPUnprocessableEntity(body="the metadata were changed in transit\n", request=self._request)
        footers = json.loads(text)
        marked = {name for name in footers if name.lower() == "etag" and footers[name] == NODE_MARK}
        kept = {name: value for name, value in footers.items() if name not in marked}
        done = {NODE_DONE: record_text(self._steps), NODE_ETAG: self.etag, NODE_SIZE: str(self._size)}
        made = json.dumps({**kept, **done}).encode()
        return b"X-Document: object metadata\r\nContent-MD5: " + _md5(made).encode() + b"\r\n\r\n" + made


def _md5(text: bytes) -> str:
    return hashlib.md5(text, usedforsecurity=False).hexdigest()
