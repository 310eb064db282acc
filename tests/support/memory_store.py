"""A store in memory that follows Swift's semantics by Swift's own library, plain and behind the hosts of filters.

Runs in the environment of Swift: `python tests/support/memory_store.py KEYRING`. Each line of input is a list of
requests, each line of output the answers of both stores.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swift.common.request_helpers import resolve_etag_is_at_header
from swift.common.swob import (
    HeaderKeyDict,
    HTTPAccepted,
    HTTPClientDisconnect,
    HTTPCreated,
    HTTPException,
    HTTPLengthRequired,
    HTTPNoContent,
    HTTPNotFound,
    HTTPPreconditionFailed,
    HTTPServiceUnavailable,
    HTTPUnprocessableEntity,
    Request,
    Response,
    multi_range_iterator,
)
from swift.common.utils import iter_multipart_mime_documents, parse_mime_headers

from storage_filters.filter_host.middleware import FilterHost
from storage_filters.object_host import ObjectHost
from storage_filters.rules.documents import RuleBook, read_book
from storage_filters.rules.file import DamagedRulesError
from storage_filters.rules.placing import MoveReason
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.files import ModuleFiles
from storage_filters.wsgi.headers import DONE, NODE_DONE

_OVERRIDE = "X-Object-Sysmeta-Container-Update-Override-"
_BOUNDARY = re.compile(r"boundary=(\w+)")
_TOLD = ("content-length", "content-range", "content-type", "etag", "x-object-meta-tag", "x-object-meta-a")
_WHY = "x-zoe-why"
_LINE = "a-line-that-no-object-has"
_FOOTERS = "swift.callback.update_footers"
_DEVICE = "/device/0"
_READ_BYTES = 65536
_PIECE_BYTES = 50_000


class _Body:
    """Bytes of which swob may take ranges."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        return self.app_iter_range(0, len(self._content))

    def app_iter_range(self, first: int, end: int) -> Iterator[bytes]:
        for at in range(first, end, _PIECE_BYTES):
            yield self._content[at : min(at + _PIECE_BYTES, end)]

    def app_iter_ranges(self, ranges: Any, content_type: str, boundary: str, size: int) -> Any:
        return multi_range_iterator(ranges, content_type, boundary, size, self.app_iter_range)


class MemoryStore:
    """Objects by path; the WSGI application that Swift's pipeline ends with."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, HeaderKeyDict]] = {}
        self.listing: dict[str, tuple[str, str]] = {}
        self.away: list[bool] = []
        """Whether it is away at the next requests."""

    def has(self, path: str) -> bool:
        """Return whether there is an object at a path."""
        return path in self.objects

    def __call__(self, env: dict[str, Any], start_response: Any) -> Any:
        request = Request(env)
        if self.away and self.away.pop(0):
            return HTTPServiceUnavailable(request=request)(env, start_response)
        try:
            answer = getattr(self, request.method)(request)
        except HTTPException as error:
            answer = error
        return answer(env, start_response)

    def PUT(self, request: Request) -> Response:  # noqa: N802
        if request.content_length is None and request.headers.get("Transfer-Encoding") != "chunked":
            return HTTPLengthRequired(request=request)
        if request.headers.get("If-None-Match") == "*" and request.path in self.objects:
            return HTTPPreconditionFailed(request=request)
        chunks = []
        while chunk := request.environ["wsgi.input"].read(65536):
            chunks.append(chunk)
        content = b"".join(chunks)
        if request.content_length is not None and len(content) < request.content_length:
            raise HTTPClientDisconnect(request=request)
        headers = HeaderKeyDict({k: v for k, v in request.headers.items() if k.lower().startswith("x-object-")})
        headers["Content-Type"] = request.headers.get("Content-Type") or "application/octet-stream"
        footers = HeaderKeyDict()
        if (asked := request.environ.get("swift.callback.update_footers")) is not None:
            asked(footers)
        etag = hashlib.md5(content, usedforsecurity=False).hexdigest()
        wanted = footers.pop("Etag", None) or request.headers.get("Etag")
        if wanted is not None and wanted.strip('"').lower() != etag:
            raise HTTPUnprocessableEntity(request=request)
        headers.update(footers)
        headers["Etag"] = etag
        self.objects[request.path] = content, headers
        listed = headers.get(f"{_OVERRIDE}Etag", etag), headers.get(f"{_OVERRIDE}Size", str(len(content)))
        self.listing[request.path] = listed
        return HTTPCreated(request=request, headers={"Etag": etag})

    def POST(self, request: Request) -> Response:  # noqa: N802
        if request.path not in self.objects:
            return HTTPNotFound(request=request)
        _, headers = self.objects[request.path]
        for name in [name for name in headers if name.startswith("X-Object-Meta-")]:
            del headers[name]
        headers.update({k: v for k, v in request.headers.items() if k.lower().startswith("x-object-meta-")})
        return HTTPAccepted(request=request)

    def DELETE(self, request: Request) -> Response:  # noqa: N802
        self.listing.pop(request.path, None)
        return HTTPNoContent(request=request) if self.objects.pop(request.path, None) else HTTPNotFound(request=request)

    def GET(self, request: Request) -> Response:  # noqa: N802
        if request.path not in self.objects:
            return HTTPNotFound(request=request)
        content, headers = self.objects[request.path]
        answer = Response(
            request=request,
            headers=headers,
            conditional_response=True,
            conditional_etag=resolve_etag_is_at_header(request, headers),
        )
        answer.app_iter = _Body(content)
        answer.content_length = len(content)
        return answer

    HEAD = GET


class MimeStore:
    """The store behind the filters of an object server: takes documents of MIME. store: of `/v1/...`."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __call__(self, env: dict[str, Any], start_response: Any) -> Any:
        """Answer a request for `/device/partition/account/container/object`."""
        request = Request(env | {"PATH_INFO": env["PATH_INFO"].replace(_DEVICE, "/v1", 1)})
        if request.headers.get("X-Backend-Obj-Metadata-Footer") == "yes":
            try:
                self._unpack(request)
            except HTTPException as error:
                return error(env, start_response)
        return self._store(request.environ, start_response)

    def _unpack(self, request: Request) -> None:
        boundary = request.headers["X-Backend-Obj-Multipart-Mime-Boundary"].encode()
        documents = iter_multipart_mime_documents(request.environ["wsgi.input"], boundary, _READ_BYTES)
        content, footers = _document(documents), _document(documents)
        assert next(documents, None) is None
        if footers[1]["Content-MD5"] != hashlib.md5(footers[0], usedforsecurity=False).hexdigest():
            raise HTTPUnprocessableEntity(request=request)
        request.environ["wsgi.input"] = io.BytesIO(content[0])
        request.environ[_FOOTERS] = lambda told: told.update(json.loads(footers[0]))
        request.headers["Content-Length"] = str(len(content[0]))


def _document(documents: Any) -> tuple[bytes, Any]:
    found = next(documents)
    headers = parse_mime_headers(found)
    return b"".join(iter(lambda: found.read(_READ_BYTES), b"")), headers


class MemoryServers:
    """The end of a proxy's pipeline. bare: whether the object servers run no filters. fragments: whether their objects
    are fragments.
    """

    def __init__(self, store: Any, keyring: Keyring) -> None:
        self._has = store.has
        self._plain = MimeStore(store)
        self.host = ObjectHost(self._plain, keyring)
        self.bare = self.fragments = False

    def why_none(self, _request: Request) -> MoveReason | None:
        """Return a proxy's reason under the container's policy."""
        return MoveReason.FRAGMENTS if self.fragments else None

    def __call__(self, env: dict[str, Any], start_response: Any) -> Any:
        """Answer a client's request. As at a real object server, a condition is judged before the body is read."""
        if env["REQUEST_METHOD"] == "PUT" and env.get("HTTP_IF_NONE_MATCH") == "*" and self._has(env["PATH_INFO"]):
            return HTTPPreconditionFailed(request=Request(env))(env, start_response)
        request = Request(env | {"PATH_INFO": env["PATH_INFO"].replace("/v1", _DEVICE, 1)})
        if request.method == "PUT" and (ask := request.environ.pop(_FOOTERS, None)) is not None:
            try:
                self._pack(request, ask)
            except HTTPException as error:
                return error(env, start_response)
        return (self._plain if self.bare else self.host)(request.environ, start_response)

    def _pack(self, request: Request, ask: Any) -> None:
        stream = request.environ["wsgi.input"]
        content = b"".join(iter(lambda: stream.read(_READ_BYTES), b""))
        footers = HeaderKeyDict()
        ask(footers)
        told = json.dumps(footers).encode()
        digest = hashlib.md5(told, usedforsecurity=False).hexdigest().encode()
        line = b"--" + _LINE.encode()
        body = line + b"\r\nX-Document: object body\r\n\r\n" + content + b"\r\n" + line
        body += b"\r\nX-Document: object metadata\r\nContent-MD5: " + digest + b"\r\n\r\n" + told
        body += b"\r\n" + line + b"--\r\n"
        request.headers["X-Backend-Obj-Metadata-Footer"] = "yes"
        request.headers["X-Backend-Obj-Multipart-Mime-Boundary"] = _LINE
        request.environ["wsgi.input"] = io.BytesIO(body)


class _Pair:
    """The same requests for both stores."""

    def __init__(self, keyring: Keyring, files: ModuleFiles) -> None:
        self.book = RuleBook()
        self.plain, self.behind = MemoryStore(), MemoryStore()
        self.files = files
        self.damaged = False
        self.servers = MemoryServers(self.behind, keyring)
        self.host = FilterHost(
            self.servers, self._read_book, keyring, size_max=10**6, modules=self.files, servers=self.servers.why_none
        )

    def _read_book(self) -> RuleBook:
        if self.damaged:
            raise DamagedRulesError("the rules of this proxy are damaged")
        return self.book

    def ask(self, wanted: dict[str, Any]) -> list[Any]:
        if wanted["method"] == "RULES":
            self.book = read_book(wanted["book"])
            return [None, None]
        if wanted["method"] == "MODULE":
            return [None, self.files.keep(base64.b64decode(wanted["body"]))]
        if wanted["method"] == "AWAY":
            self.behind.away = wanted["away"]
            return [None, None]
        if wanted["method"] == "KEYRING":  # of the object servers
            self.servers.host = ObjectHost(MimeStore(self.behind), Keyring(Path(wanted["path"])))
            return [None, None]
        if wanted["method"] == "FRAGMENTS":
            self.servers.fragments = True
            return [None, None]
        if wanted["method"] == "RECORDS":
            names = (DONE, NODE_DONE)
            return [None, {path: [item[1].get(n) for n in names] for path, item in self.behind.objects.items()}]
        if wanted["method"] == "DAMAGE RULES":
            self.damaged = True
            return [None, None]
        if wanted["method"] == "FORGET":
            for path in self.files.directory.glob(f"{wanted['sha256']}.*"):
                path.unlink()
            self.files.forget()
            return [None, self.files.missing(())]
        if wanted["method"] == "LIST":
            return [self.plain.listing, self.behind.listing]
        if wanted["method"] == "DAMAGE":
            for path, (content, headers) in self.behind.objects.items():
                self.behind.objects[path] = content[: len(content) // 2], headers
            return [None, None]
        if wanted["method"] == "LOSE":
            for _, headers in self.behind.objects.values():
                for name in [header for header in headers if wanted["named"] in header.lower()]:
                    del headers[name]
            return [None, None]
        if wanted["method"] == "SWAP":
            first, second = self.behind.objects
            self.behind.objects[first] = self.behind.objects[second]
            return [None, None]
        if wanted["method"] == "STORED":
            return [{path: len(item[0]) for path, item in store.objects.items()} for store in (self.plain, self.behind)]
        self.servers.bare = wanted.get("bare", False)
        return [_answer(Request(_env(wanted)), app) for app in (self.plain, self.host)]


def _env(wanted: dict[str, Any]) -> dict[str, Any]:
    content = base64.b64decode(wanted.get("body", ""))
    request = Request.blank(wanted["path"], method=wanted["method"], headers=wanted.get("headers", {}))
    env = dict(request.environ)
    env["wsgi.input"] = io.BytesIO(content[: wanted.get("cut", len(content))])
    if wanted["method"] == "PUT":
        if wanted.get("chunked"):
            env["HTTP_TRANSFER_ENCODING"] = "chunked"
        else:
            env["CONTENT_LENGTH"] = str(len(content))
    return env


def _answer(request: Request, app: Any) -> dict[str, Any]:
    answer = request.get_response(app)
    content, broken = b"", ""
    try:
        for chunk in answer.app_iter or ():
            content += chunk
    except Exception as error:
        broken = f"{type(error).__name__}: {error}"
    headers = {k.lower(): v for k, v in answer.headers.items()}
    if found := _BOUNDARY.search(headers.get("content-type", "")):
        content = content.replace(found[1].encode(), b"boundary")
        headers["content-type"] = headers["content-type"].replace(found[1], "boundary")
    told = {k: v for k, v in headers.items() if k in _TOLD or "sysmeta" in k or "zoe-node" in k}
    found = {"status": answer.status, "headers": told, "body": base64.b64encode(content).decode(), "broken": broken}
    return found | ({"why": headers[_WHY]} if _WHY in headers else {})


def main() -> None:
    """Answer lines until there are none."""
    with tempfile.TemporaryDirectory() as directory:
        files = ModuleFiles(Path(directory) / "modules")
        for line in sys.stdin:
            pair = _Pair(Keyring(Path(sys.argv[1])), files)
            print(json.dumps([pair.ask(wanted) for wanted in json.loads(line)]), flush=True)


if __name__ == "__main__":
    main()
