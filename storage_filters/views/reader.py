"""Read objects with the rights of one request, whole or as selected records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

from swift.common.swob import HTTPServiceUnavailable, HTTPUnprocessableEntity, Request, Response
from swift.common.utils import close_if_possible
from swift.common.wsgi import make_subrequest

from storage_filters.counting.computing import Computing
from storage_filters.counting.cpu_frames import pieces_of
from storage_filters.counting.request_computing import computing_of
from storage_filters.csv.selections import AnySelection, select
from storage_filters.csv.stream import first_byte
from storage_filters.object_pushdown import closing, cooperative
from storage_filters.views.requested import selection_requested
from storage_filters.wsgi.delivery import MEDIA_TYPE, begin, gzip_blocks
from storage_filters.wsgi.headers import FRAMED, OBJECT_BYTES, PUSHDOWN, SELECTED, SELECTION, object_bytes

Get = Callable[[Mapping[str, str]], Response]
"""Reads an object with these headers."""
_KEPT = ("Last-Modified", "X-Timestamp")
BUSY_S = 0.5
"""A query reads plainly rather than wait for so long under the tenant's CPU bound."""
_BYTES_PER_CPU_S = 100e6
"""Measured of selections from quoted CSV, up to its order of magnitude."""


class Refusal(Exception):  # noqa: N818 - it is an answer
    """The request cannot be fulfilled; carries the answer for the reader."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class Reader:
    """Reads for one request."""

    def __init__(self, app: object, request: Request) -> None:
        self._app = app
        self._request = request

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return the answer of the store. Raises Refusal if it is an error."""
        subrequest = make_subrequest(
            self._request.environ, method, path, headers=dict(headers or {}), swift_source="ZOE"
        )
        answer = subrequest.get_response(self._app)
        if answer.is_success:
            return answer
        text = f"the source of this view answers {answer.status}\n"
        if answer.status_int == HTTPUnprocessableEntity().status_int:
            text = answer.body.decode(errors="replace")  # a message of this package
        close_if_possible(answer.app_iter)
        raise Refusal(Response(status=answer.status_int, body=text, request=self._request))

    def records(self, selection: AnySelection, get: Get) -> tuple[Iterator[bytes], Response]:
        """Return the records, selected by the object server if possible, otherwise here, and the source's answer for
        them.
        """
        computing = computing_of(self._request.environ)
        computing.wait()
        answer = get({SELECTION: selection.to_json(), FRAMED: "yes"})
        if answer.headers.get(SELECTED) == "yes":
            framed = answer.headers.get(FRAMED) == "yes"
            return _pieces_at_cpu_pace(answer.app_iter, computing) if framed else iter(answer.app_iter), answer
        close_if_possible(answer.app_iter)
        answer = get({"Range": f"bytes={first_byte(selection)}-"})
        answer.headers[OBJECT_BYTES] = object_bytes(answer.headers)
        made = computing.pieces(
            lambda chunks: gzip_blocks(cooperative(select(chunks, selection), computing.yield_turn)),
            answer.app_iter,
        )
        return begin(made), answer

    def requested(self, text: str) -> Response:
        """Return the records that a request for an object selects. Raises SelectionError, UnreadableRecordError and
        Refusal.
        """
        selection, path = selection_requested(text), quote(self._request.environ["PATH_INFO"])
        expected_s = ((selection.end or selection.start) - selection.start) / _BYTES_PER_CPU_S
        if computing_of(self._request.environ).expected_wait_s(expected_s) > BUSY_S:
            busy = "the CPU bound of the tenant is reached: read the object plainly\n"
            raise Refusal(HTTPServiceUnavailable(body=busy, headers={PUSHDOWN: "busy"}, request=self._request))
        body, answer = self.records(selection, lambda headers: self.ask("GET", path, headers))
        kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        etag = answer.headers.get("Etag", "").strip('"')
        headers = {
            "Content-Type": MEDIA_TYPE,
            "Etag": f"{etag}-{selection.start}",
            PUSHDOWN: "yes",
            OBJECT_BYTES: answer.headers.get(OBJECT_BYTES, ""),
        }
        return Response(app_iter=closing(body, answer.app_iter), headers={**kept, **headers}, request=self._request)


def _pieces_at_cpu_pace(frames: Iterable[bytes], computing: Computing) -> Iterator[bytes]:
    """Yield the object server's pieces, at the pace of the tenant's CPU bound."""
    for piece in pieces_of(frames, computing.add):
        yield piece
        computing.wait()
