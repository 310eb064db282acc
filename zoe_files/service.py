"""HTTP server of the file program: one thread for each request, one request for each connection."""

from __future__ import annotations

import hmac
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs, urlsplit

from zoe_client.words.file_paths import InvalidPath, path_parts
from zoe_files import carried
from zoe_files.beneath import Parts, Root
from zoe_files.changes import delete, make_directory, rename
from zoe_files.contents import requested_range, tag_of
from zoe_files.listing import ENTRIES_MAX, page_at
from zoe_files.matching import matching
from zoe_files.refusal import FileRefused
from zoe_files.trees import TreeWriter
from zoe_files.uploads import Upload, Uploads

REQUESTS_MAX = 32
_WAIT_FOR_PLACE_S = 5.0
_SOCKET_TIMEOUT_S = 120.0
_LOOK_S = 1.0
_SWEEP_INTERVAL_S = 3600.0
_DRAINED_BYTES_MAX = 64 << 20
_DRAIN_TIMEOUT_S = 5.0
_DIGITS_MAX = 18
_NOT_POSSIBLE = FileRefused(405, "method_not_allowed", "this path does not allow the method")


@dataclass(frozen=True, slots=True)
class Served:
    """A root with its uploads."""

    root: Root
    uploads: Uploads

    def sweep(self) -> None:
        """Remove expired uploads, and files that runs took along and no longer use."""
        self.uploads.sweep()
        carried.sweep(self.root)


@dataclass(slots=True)
class Activity:
    """Requests in progress, and the time when the last one ended."""

    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(REQUESTS_MAX))
    open: int = 0
    ended_s: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Count a request as in progress."""
        with self.lock:
            self.open += 1

    def end(self) -> None:
        """Count a request as ended."""
        with self.lock:
            self.open -= 1
            self.ended_s = time.monotonic()
        self.places.release()

    def idle_s(self) -> float:
        """Return for how many seconds no request has been in progress."""
        with self.lock:
            return 0.0 if self.open else time.monotonic() - self.ended_s


class FileServer(ThreadingMixIn, TCPServer):
    """Serve roots on a listening socket to clients that send the secret, until the server is idle."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, roots: Mapping[str, Served], secret: str, idle_s: float) -> None:
        super().__init__(listening.getsockname(), FileRequest, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.roots = roots
        self.secret = f"Bearer {secret}".encode()
        self._idle_s = idle_s
        self._activity = Activity()

    def run(self) -> None:
        """Serve until idle; remove expired uploads each hour."""
        self.timeout = _LOOK_S
        swept_s = time.monotonic()
        while self._activity.idle_s() < self._idle_s:
            self.handle_request()
            if time.monotonic() >= swept_s + _SWEEP_INTERVAL_S:
                swept_s = time.monotonic()
                for root in self.roots.values():
                    root.sweep()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 - the base's signature
        """Reserve a slot for a request; without one, the connection is closed."""
        if not self._activity.places.acquire(timeout=_WAIT_FOR_PLACE_S):
            return False
        self._activity.begin()
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer in this thread, and release the slot."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._activity.end()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log errors, except for clients that disconnect."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class FileRequest(BaseHTTPRequestHandler):
    """One request. The query holds the paths, as `zoe_client.words.file_paths` writes them."""

    server: FileServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "zoe-files", ""
    timeout = _SOCKET_TIMEOUT_S

    def log_message(self, *_: Any) -> None:
        """Log nothing: the API does."""

    def do_GET(self) -> None:
        """Answer."""
        self._answer()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815 - the names of the base

    def _answer(self) -> None:
        self.close_connection = True
        self._unread = _number(self.headers.get("Content-Length"), 0) or 0
        try:
            self._dispatch()
        except FileRefused as refused:
            self._send(refused.status, {"code": refused.code, "detail": str(refused)})
            self._drain()

    def _dispatch(self) -> None:
        given = self.headers.get("Authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, self.server.secret):
            raise FileRefused(401, "no_secret", "a secret is required")
        target = urlsplit(self.path)
        query = parse_qs(target.query, keep_blank_values=True)
        self._query = {name: values[-1] for name, values in query.items()}
        self._patterns = query.get("pattern", [])
        name, _, rest = target.path.removeprefix("/").partition("/")
        served = self.server.roots.get(name)
        if served is None:
            raise FileRefused(404, "not_found", f"there is no directory {name[:100]!r} here")
        what, _, number = rest.partition("/")
        if what == "uploads":
            self._upload(served.uploads, number)
        else:
            self._file(served, rest)

    def _file(self, served: Served, what: str) -> None:
        root = served.root
        match self.command, what:
            case "GET", "":
                self._list(root)
            case "DELETE", "":
                delete(root, self._path(), recursive=self._query.get("recursive") == "true")
                self._send(204)
            case "GET", "content":
                self._content(root)
            case "PUT", "tree":
                self._tree(served)
            case "GET", "matching":
                self._send(
                    200, matching(root, [self._parts(pattern) for pattern in self._patterns if self._parts(pattern)])
                )
            case "POST", "directories":
                self._send(201 if make_directory(root, self._path()) else 200, {})
            case "POST", "rename":
                rename(root, self._path(), self._path("to"))
                self._send(204)
            case _:
                raise _NOT_POSSIBLE

    def _upload(self, uploads: Uploads, number: str) -> None:
        match self.command, bool(number):
            case "POST", False:
                upload = uploads.create(self._path(), self._header_number("Upload-Length"))
                self._send_upload(201, upload, {"Upload-Id": upload.id})
            case "HEAD", True:
                self._send_upload(200, uploads.find(number), {})
            case "PATCH", True:
                offset, length = self._header_number("Upload-Offset"), self._header_number("Content-Length")
                self._send_upload(204, uploads.append(number, offset, length, self._read), {})
            case "DELETE", True:
                uploads.end(number)
                self._send(204)
            case _:
                raise _NOT_POSSIBLE

    def _list(self, root: Root) -> None:
        after = b"/".join(self._parts(self._query.get("after", "")))
        limit = _number(self._query.get("limit"), ENTRIES_MAX) or ENTRIES_MAX
        self._send(200, page_at(root, self._path(), after, limit))

    def _tree(self, served: Served) -> None:
        writer = TreeWriter(served.root, served.uploads.check_room)
        written = writer.write(self._path(), self._header_number("Content-Length"), self._read)
        self._send(200, {"files": written.files, "size_bytes": written.size_bytes})

    def _content(self, root: Root) -> None:
        with root.file(self._path()) as (descriptor, found):
            tag = tag_of(found)
            unchanged = self.headers.get("If-Range", tag) == tag
            part = requested_range(self.headers.get("Range"), found.st_size) if unchanged else None
            headers = {"ETag": tag, "Accept-Ranges": "bytes", "Last-Modified": self.date_time_string(found.st_mtime)}
            if part is not None:
                headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{found.st_size}"
            chosen = range(found.st_size) if part is None else part
            headers["Content-Length"] = str(len(chosen))
            self._head(200 if part is None else 206, headers)
            if chosen:
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    self.connection.sendfile(file, chosen.start, len(chosen))

    def _path(self, name: str = "path") -> Parts:
        return self._parts(self._query.get(name, ""))

    def _parts(self, text: str) -> Parts:
        try:
            return path_parts(text)
        except InvalidPath as error:
            raise FileRefused(422, "invalid_path", str(error)) from None

    def _header_number(self, name: str) -> int:
        number = _number(self.headers.get(name), None)
        if number is None:
            raise FileRefused(422, "invalid_upload", f"the header {name} must be a number")
        return number

    def _read(self, size: int) -> bytes:
        try:
            piece = self.rfile.read1(size)
        except OSError:
            return b""
        self._unread -= len(piece)
        return piece

    def _drain(self) -> None:
        """Read the rest of the request: the client reads the answer only after it has sent everything."""
        self.connection.settimeout(_DRAIN_TIMEOUT_S)
        left = min(self._unread, _DRAINED_BYTES_MAX)
        while left > 0 and (piece := self._read(1 << 16)):
            left -= len(piece)

    def _send_upload(self, status: int, upload: Upload, headers: dict[str, str]) -> None:
        expires = self.date_time_string(upload.expires_at_s)
        length, offset = str(upload.length), str(upload.offset)
        self._send(
            status, None, {"Upload-Offset": offset, "Upload-Length": length, "Upload-Expires": expires, **headers}
        )

    def _send(self, status: int, body: object = None, headers: Mapping[str, str] | None = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        shown = {} if status == 204 else {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self._head(status, {**shown, **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()


def _number(text: str | None, otherwise: int | None) -> int | None:
    return (
        int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX else otherwise
    )
