"""Object server filter that delivers only the selected records of an object of CSV or JSON lines.

    [pipeline:main]
    pipeline = ... zoe_pushdown object-server
    [filter:zoe_pushdown]
    paste.filter_factory = storage_filters.object_pushdown:filter_factory

Only the proxy's `zoe_views` uses it. Objects that cannot be filtered here (segmented, erasure-coded, encrypted,
compressed, filtered) are sent unchanged, without the mark, and the proxy filters them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from eventlet import sleep
from swift.common.swob import HTTPBadRequest, HTTPServiceUnavailable, HTTPUnprocessableEntity, Request, Response
from swift.common.utils import close_if_possible, get_logger

from storage_filters.counting.computing import Computing
from storage_filters.counting.cpu_frames import CpuRecord, frames_of
from storage_filters.csv.parser import UnreadableRecordError
from storage_filters.csv.selection import SelectionError
from storage_filters.csv.selections import AnySelection, select, selection_of
from storage_filters.csv.stream import first_byte
from storage_filters.wsgi.delivery import MEDIA_TYPE, begin, gzip_blocks
from storage_filters.wsgi.headers import (
    DONE,
    FRAMED,
    NODE_DONE,
    OBJECT_BYTES,
    SELECTED,
    SELECTION,
    environ_key,
    object_bytes,
)

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

_NOT_PLAIN = ("X-Static-Large-Object", "X-Object-Manifest", "Content-Encoding")
_NOT_PLAIN_PREFIXES = (
    "X-Object-Sysmeta-Crypto",
    "X-Object-Transient-Sysmeta-Crypto",
    "X-Object-Sysmeta-Ec",
    "X-Object-Sysmeta-Symlink",
    "X-Object-Sysmeta-Slo",
    DONE,
    NODE_DONE,
)


class ObjectPushdown:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._logger = get_logger(conf, log_route="zoe-pushdown")

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Handle a request of the proxy."""
        selection, frames = env.pop(environ_key(SELECTION), None), env.pop(environ_key(FRAMED), None) is not None
        if selection is None or env["REQUEST_METHOD"] != "GET":
            answer: Iterable[bytes] = self._app(env, start_response)
            return answer
        answered: Iterable[bytes] = self._answer(env, selection, frames)(env, start_response)
        return answered

    def _answer(self, env: Environ, selection_json: str, frames: bool) -> Response:
        if "HTTP_RANGE" in env:
            # After a failure the proxy would continue on another server, with a range of the filtered bytes; refuse
            # that, so that the reader starts again.
            return HTTPServiceUnavailable(body="ranges of selected records are not supported")
        try:
            selection = selection_of(selection_json)
        except SelectionError as error:
            return HTTPBadRequest(body=str(error))
        plain = self._read(env, first_byte(selection))
        if not _is_plain(plain):  # also if the range is behind the end: a fragment is shorter than its object
            close_if_possible(plain.app_iter)
            return Request(env).get_response(self._app)
        if plain.status_int not in (200, 206):
            return plain
        try:
            body = begin(
                _framed_selection(plain.app_iter, selection) if frames else _packed_selection(plain.app_iter, selection)
            )
        except UnreadableRecordError as error:
            close_if_possible(plain.app_iter)
            return HTTPUnprocessableEntity(body=str(error))
        headers = {name: value for name, value in plain.headers.items() if not _of_length(name)}
        told = {SELECTED: "yes", "Content-Type": MEDIA_TYPE, **({FRAMED: "yes"} if frames else {})}
        told |= {OBJECT_BYTES: object_bytes(plain.headers)}
        return Response(app_iter=closing(body, plain.app_iter), headers={**headers, **told})

    def _read(self, env: Environ, first: int) -> Response:
        wanted = dict(env)
        if first:
            wanted["HTTP_RANGE"] = f"bytes={first}-"
        return Request(wanted).get_response(self._app)


def _packed_selection(
    chunks: Iterable[bytes], selection: AnySelection, rest: Callable[[], Any] = sleep
) -> Iterator[bytes]:
    return gzip_blocks(cooperative(select(chunks, selection), rest))


def _framed_selection(chunks: Iterable[bytes], selection: AnySelection) -> Iterator[bytes]:
    record = CpuRecord()
    computing = Computing(record, sleep)

    def told_us() -> int:
        computing.close()
        return record.take_us()

    return frames_of(
        computing.pieces(lambda entry: _packed_selection(entry, selection, computing.yield_turn), chunks), told_us
    )


def cooperative(blocks: Iterator[bytes], rest: Callable[[], Any] = sleep) -> Iterator[bytes]:
    """Yield the same blocks; other requests of this process run after each block."""
    for block in blocks:
        yield block
        rest()


def closing(chunks: Iterator[bytes], source: Any) -> Iterator[bytes]:
    """Yield the same chunks; close the source at the end, also if the reader disconnects."""
    try:
        yield from chunks
    finally:
        close_if_possible(source)


def _is_plain(response: Response) -> bool:
    names = {name.title() for name in response.headers}
    if response.headers.get(DONE) == "[]":  # no filter of the proxy; those of the object server are undone below
        names.discard(DONE.title())
    return not any(name in _NOT_PLAIN or name.startswith(_NOT_PLAIN_PREFIXES) for name in names)


def _of_length(name: str) -> bool:
    return name.lower() in ("content-length", "content-range", "content-type", "accept-ranges")


def filter_factory(_global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], ObjectPushdown]:
    """Return the filter, for paste."""
    return lambda app: ObjectPushdown(app, local_conf)
