"""Cache of stored objects on the proxy's disk, between the filter host and the store.

Rules with SET CACHING select the objects, at each GET. An entry is served only while it has the store's version: a
HEAD, which the store authorises and answers like the GET, must name the version of the entry. With a fence
(`fence.py`), a version that was the newest may be served for a short time without asking the store, after the same
authorisation. Only the bytes come from an entry; headers are the store's.

Objects without bytes of their own (manifests, symlinks), and requests that the store treats in a special way (versions,
views, `X-Newest`), bypass the cache.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from swift.common.http import HTTP_PRECONDITION_FAILED
from swift.common.request_helpers import resolve_etag_is_at_header
from swift.common.swob import HeaderKeyDict, Request, Response, multi_range_iterator
from swift.common.utils import close_if_possible, config_true_value
from swift.proxy.controllers.base import get_container_info

from storage_filters.cache.entry import DamagedEntryError, Entry
from storage_filters.cache.fence import Fence, name_of
from storage_filters.cache.files import CacheFiles, Fill
from storage_filters.counting.computing import Computing
from storage_filters.counting.request_computing import computing_of
from storage_filters.rules.chains import chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.file import DamagedRulesError
from storage_filters.rules.rules import CACHING
from storage_filters.wsgi.headers import PUT_SIZE, UNDONE
from storage_filters.wsgi.object_requests import object_of, tags_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Count = Callable[[str, int, int], None]
"""Adds to a counter: its name, the number of events, and bytes."""
_OBJECT_PATH_PARTS = 4
_LEASES_MAX = 10_000
# An answer with one of these headers is not cached: the object has no bytes of its own at this path.
_OTHERS = ("X-Static-Large-Object", "X-Object-Manifest", "X-Symlink-Target", "Content-Location", "X-Object-Version-Id")
# Query parameters that do not change the store's answer: those of temporary URLs.
_QUERY = frozenset(("temp_url_sig", "temp_url_expires", "temp_url_prefix", "temp_url_ip_range", "filename", "inline"))
_BACKEND = "HTTP_X_BACKEND_"
_BACKEND_KNOWN = frozenset(("HTTP_X_BACKEND_ETAG_IS_AT", "HTTP_X_BACKEND_IGNORE_RANGE_IF_METADATA_PRESENT"))
_CONDITIONS = ("Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")
_OK, _PARTIAL, _NOT_FOUND = 200, 206, 404


def _nothing(_name: str, _times: int, _bytes: int) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class _Lease:
    """A version that was the newest when the store was asked."""

    at_s: float
    generation: int
    container: tuple[Any, Any]
    headers: HeaderKeyDict

    @property
    def is_expired(self) -> bool:
        """Return whether the object's deletion time has passed."""
        return float(self.headers.get("X-Delete-At", "inf")) <= time.time()


def now_s() -> float:
    """Return seconds of a clock that also runs while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ObjectCache:
    """The WSGI application before the store. prefix: of accounts. object_bytes_max: size of the largest cached object.
    count: is called for each `hit` with its bytes, for hits without a request to the store (`unasked`), for each
    `miss`, and for `stale` entries.
    """

    def __init__(
        self,
        app: Any,
        book: Callable[[], RuleBook],
        files: CacheFiles,
        prefix: str = "AUTH_",
        fence: Fence | None = None,
        object_bytes_max: int = 2**60,
        count: Count = _nothing,
        clock: Callable[[], float] = now_s,
    ) -> None:
        self._app = app
        self._book = book
        self._files = files
        self._prefix = prefix
        self._fence = fence
        self._object_bytes_max = object_bytes_max
        self._count = count
        self._clock = clock
        self._leases: OrderedDict[str, _Lease] = OrderedDict()

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer reads of objects that a rule caches; pass all other requests on."""
        parts = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
        method = env["REQUEST_METHOD"]
        answered: Iterable[bytes]
        if len(parts) <= _OBJECT_PATH_PARTS or not parts[4]:
            answered = self._app(env, start_response)
        elif method in ("GET", "HEAD") and self._may_be_cached(env, parts):
            answered = self._read(Request(env), parts)(env, start_response)
        else:
            answered = self._app(env, start_response)
        return answered

    def _may_be_cached(self, env: Environ, parts: Sequence[str]) -> bool:
        special = any(key.startswith(_BACKEND) and key not in _BACKEND_KNOWN for key in env)
        if special or config_true_value(env.get("HTTP_X_NEWEST", "f")) or "HTTP_X_OPEN_EXPIRED" in env:
            return False
        query = env.get("QUERY_STRING", "")
        if query and not {name for name, _ in parse_qsl(query, keep_blank_values=True)} <= _QUERY:
            return False
        try:
            place = object_of(parts, self._prefix)
            rules = self._book().rules_for(place.tenant, place.container, place.object)
        except DamagedRulesError:
            return False
        return any(action.kind == CACHING and action.verb == "SET" for _, rule in rules for action in rule.actions)

    def _read(self, request: Request, parts: Sequence[str]) -> Response:
        name = name_of(parts)
        lease = self._lease(name, request)
        if request.method == "HEAD":
            if lease is None or not self._is_cacheable(parts, lease.headers):
                return request.get_response(self._app)
            return _answer(request, lease.headers, int(lease.headers["Content-Length"]), ())
        entry = self._files.entry(name)
        if entry is None:
            return self._from_store(request, parts, name)
        headers = lease.headers if lease is not None and _version(lease.headers) == entry.about["version"] else None
        if not self._is_cacheable(parts, headers or HeaderKeyDict(entry.about["headers"])):
            entry.close()
            return request.get_response(self._app)
        if headers is not None:
            self._count("unasked", 1, 0)
        elif (headers := self._confirmed_headers(request, name, entry)) is None:
            entry.close()
            return self._from_store(request, parts, name)
        self._files.touch(name)
        return _answer(request, headers, entry.length, _EntryBytes(self, request, name, entry))

    def _lease(self, name: str, request: Request) -> _Lease | None:
        """Return a lease that answers the request without the store, if the store would authorise the client."""
        lease = self._leases.get(name)
        if lease is None or self._fence is None or "Origin" in request.headers:
            return None
        if (
            self._clock() - lease.at_s >= self._fence.lease_s
            or lease.is_expired
            or self._fence.generation(name) != lease.generation
        ):
            self._leases.pop(name, None)  # another request may have removed it meanwhile
            return None
        # like Swift's own GET: a client that neither the owner nor the container's access list allows is refused
        container = get_container_info(request.environ, self._app, swift_source="ZOE")
        request.acl = container["read_acl"]
        authorize = request.environ.get("swift.authorize")
        if _access_of(container) != lease.container or (authorize is not None and authorize(request) is not None):
            return None
        self._keep(name, lease)
        return lease

    def _confirmed_headers(self, request: Request, name: str, entry: Entry) -> HeaderKeyDict | None:
        """Return the store's headers of the object if it has the entry's version; None otherwise."""
        at_s = self._clock()
        generation = self._fence.generation(name) if self._fence is not None else None
        head = _plain_request(request, "HEAD")
        if generation is not None:
            head.headers["X-Newest"] = "true"  # not an older version of a lagging replica
        answer = head.get_response(self._app)
        close_if_possible(answer.app_iter)
        of_another = any(header in answer.headers for header in _OTHERS)
        if answer.is_success and not of_another and _version(answer.headers) == entry.about["version"]:
            if generation is not None and "Origin" not in request.headers:
                container = get_container_info(request.environ, self._app, swift_source="ZOE")
                self._keep(name, _Lease(at_s, generation, _access_of(container), HeaderKeyDict(answer.headers)))
            return HeaderKeyDict(answer.headers)
        if answer.is_success or answer.status_int == _NOT_FOUND:
            self._count("stale", 1, 0)
            self._files.remove(name)
        return None

    def _keep(self, name: str, lease: _Lease) -> None:
        self._leases[name] = lease
        self._leases.move_to_end(name)
        if len(self._leases) > _LEASES_MAX:
            self._leases.popitem(last=False)

    def _from_store(self, request: Request, parts: Sequence[str], name: str) -> Response:
        """Return the store's answer; its body becomes an entry if a rule caches the object."""
        answer = request.get_response(self._app)
        length = answer.content_length
        if answer.status_int != _OK or length is None or length > self._object_bytes_max:
            return answer
        if any(header in answer.headers for header in _OTHERS) or not self._is_cacheable(parts, answer.headers):
            return answer
        if "ENCRYPTION" in answer.headers.get(UNDONE, ""):  # no clear text on a proxy's disk
            return answer
        self._count("miss", 1, 0)
        told = {key: answer.headers[key] for key in (PUT_SIZE, "X-Object-Meta-Tag") if key in answer.headers}
        about = {"version": _version(answer.headers), "headers": {"Content-Length": str(length), **told}}
        fill = self._files.fill(name, about, length)
        if fill is None:
            return answer
        made = Response(request=request, headers=answer.headers)  # swob would close the response that it replaces
        made.app_iter = _Filling(answer.app_iter, fill, computing_of(request.environ))
        made.content_length = length
        return made

    def _is_cacheable(self, parts: Sequence[str], headers: HeaderKeyDict) -> bool:
        """Return whether a rule caches the object, by its size and tags at its upload."""
        if any(header in headers for header in _OTHERS):
            return False
        size = headers.get(PUT_SIZE, headers.get("Content-Length"))
        place = object_of(parts, self._prefix)
        wanted = replace(place, size=int(size) if size else None, tags=tags_of(headers))
        try:
            return chain_of(self._book(), wanted).is_cached
        except DamagedRulesError:
            return False

    def rest_of(self, request: Request, name: str, version: Sequence[str], first: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from the store that a damaged entry lacks. Raises DamagedEntryError if the store has another
        version.
        """
        self._files.remove(name)
        again = _plain_request(request, "GET")
        again.headers["Range"] = f"bytes={first}-{end - 1}"
        answer = again.get_response(self._app)
        try:
            if answer.status_int != _PARTIAL or _version(answer.headers)[::2] != list(version)[::2]:
                raise DamagedEntryError(f"the rest cannot be read: {answer.status}")
            yield from answer.app_iter
        finally:
            close_if_possible(answer.app_iter)

    def count_served(self, length: int) -> None:
        """Count bytes read from an entry."""
        self._count("hit", 1, length)


class _EntryBytes:
    """The bytes of an entry, whole or in ranges, for swob."""

    def __init__(self, cache: ObjectCache, request: Request, name: str, entry: Entry) -> None:
        self._cache = cache
        self._request = request
        self._name = name
        self._entry = entry

    def __iter__(self) -> Iterator[bytes]:
        return self.app_iter_range(0, self._entry.length)

    def app_iter_range(self, first: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `first` to before `end`; from the store if the entry is damaged."""
        at = first
        try:
            for piece in computing_of(self._request.environ).pieces(lambda _: self._entry.read(first, end)):
                at += len(piece)
                yield piece
        except (DamagedEntryError, OSError):
            yield from self._cache.rest_of(self._request, self._name, self._entry.about["version"], at, end)
        finally:
            self._cache.count_served(at - first)

    def app_iter_ranges(
        self, ranges: Sequence[tuple[int, int]], content_type: str, boundary: str, size: int
    ) -> Iterator[bytes]:
        """Yield several ranges, as Swift answers them."""
        yield from multi_range_iterator(ranges, content_type, boundary, size, self.app_iter_range)

    def close(self) -> None:
        """Close the file."""
        self._entry.close()


class _Filling:
    """The store's body, cached on its way. A client that disconnects ends the fill."""

    def __init__(self, chunks: Iterable[bytes], fill: Fill, computing: Computing) -> None:
        self._chunks = chunks
        self._fill = fill
        self._computing = computing

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._chunks:
                self._computing.run(lambda entry=chunk: self._fill.write(entry))  # type: ignore[misc]
                yield chunk
        finally:
            self._fill.end()

    def close(self) -> None:
        """Close both."""
        close_if_possible(self._chunks)
        self._fill.end()


class _Conditional(Response):  # type: ignore[misc]
    """Answers a failed condition as Swift's proxy does: without the object's headers."""

    def _response_iter(self, app_iter: Any, body: Any) -> Any:
        found = super()._response_iter(app_iter, body)
        if self.status_int == HTTP_PRECONDITION_FAILED:
            self.headers["Content-Type"] = "text/html; charset=UTF-8"
            self.headers.pop("Accept-Ranges", None)
        return found


def _answer(request: Request, headers: HeaderKeyDict, length: int, body: Any) -> Response:
    """Return the answer to a request for these bytes: whole, a range, or a failed condition."""
    made = _Conditional(
        request=request,
        headers={key: value for key, value in headers.items() if key.lower() != "content-length"},
        conditional_response=True,
        conditional_etag=resolve_etag_is_at_header(request, headers),
    )
    made.app_iter = body
    made.content_length = length
    return made


def _plain_request(request: Request, method: str) -> Request:
    """Return a request for the same object, without range and conditions."""
    again = Request(request.environ.copy())
    again.method = method
    for name in _CONDITIONS:
        again.headers.pop(name, None)
    return again


def _version(headers: HeaderKeyDict) -> list[str]:
    """Return the identity of an object's version: MD5, length, and the time of the upload, or of the last change if the
    store reports no other.
    """
    stored = headers.get("X-Backend-Data-Timestamp") or headers.get("Last-Modified", "")
    return [str(headers.get("Etag", "")), str(headers.get("Content-Length", "")), str(stored)]


def _access_of(container: Any) -> tuple[Any, Any]:
    return container["status"], container["storage_policy"]
