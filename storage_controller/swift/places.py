"""Find which hosts have a copy of the objects below a name, with Swift's own `list_endpoints`.

Bounded in number and time: for many objects it uses a random sample, and the answer gives its size.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from storage_bridge.model import UNREADABLE, VIEW_PREFIX, View, place_of
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import UNAUTHORIZED, SwiftHttp, check_path
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.store_hosts import host_key
from zoe_lib.domain.values.locality import InputObjects, Places

LISTED_MAX = 10_000
"""Most objects of a listing that are read: one page of Swift's."""
LOOKED_AT_MAX = 200
TIME_S = 1.5
"""Seconds for one answer; the objects examined until then count."""
_FORBIDDEN, _NOT_FOUND = 403, 404
_NOT_TOLD = "Swift does not report where objects are stored: add list_endpoints to the pipeline of its proxy"
_POLICY = "X-Backend-Storage-Policy-Index"
ViewOf = Callable[[str], View | None]
"""Returns the view with an id, or None."""


@dataclass(frozen=True, slots=True)
class _Below:
    """All objects of that name and below it; with an empty name, the whole container."""

    account: str
    container: str
    name: str

    def path(self, name: str) -> str:
        """Return the quoted path of an object, or of the container. Raises RequestRefusedError."""
        path = f"{quote(self.container, safe='')}/{quote(name)}"
        check_path(path)
        return path


class SwiftPlaces:
    """Finds the hosts of objects. `endpoints_url`: URL of list_endpoints, if it is not `/endpoints/` of the proxy.

    Under the storage policies `fragmented` (indexes), hosts have only fragments of objects, so they count as having
    none.
    """

    def __init__(
        self,
        line: SwiftHttp,
        view_of: ViewOf,
        endpoints_url: str | None = None,
        fragmented: Iterable[int] = (),
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._http = line
        self._view_of = view_of
        self._endpoints_url = endpoints_url
        self._fragmented = frozenset(map(str, fragmented))

    def endpoints(self, account: str, path: str) -> Mapping[str, Any]:
        """Return Swift's endpoints of an object or a container: `endpoints` and `headers`. Raises RequestRefusedError.

        They say where an object of that name would be, even if it does not exist. For a view, they are those of its
        source.
        """
        container, _, name = path.partition("/")
        below = self._source(account, container, name)
        give_up_s = self._clock.monotonic_s() + TIME_S
        with self._asking() as http:
            answer = self._endpoints_answer(
                http, f"{quote(below.account, safe='')}/{below.path(below.name)}".rstrip("/"), give_up_s
            )
        return {"endpoints": list(_urls(answer)), "headers": dict(answer.get("headers") or {})}

    def storage_policies(self) -> list[Mapping[str, Any]]:
        """Return Swift's storage policies: name, aliases, and which is the default. Raises RequestRefusedError."""
        return self._http.storage_policies()

    def places(self, tenant: str, source: str, token: str) -> Places:
        """Return the places of all objects of a URI that its tenant may list. Raises RequestRefusedError, with
        UNREADABLE if it may
        not.
        """
        place = place_of(source)
        below = self._source(self._http.account_of(tenant), place.container, place.prefix)
        give_up_s = self._clock.monotonic_s() + TIME_S
        objects, complete = self._objects(below, token, give_up_s)
        # In random order, so that any part is a fair sample; the same order each time.
        candidates = [object_ for object_ in objects if object_[2]]
        random.Random(0).shuffle(candidates)
        hosts: dict[str, InputObjects] = defaultdict(InputObjects)
        looked_at = InputObjects()
        with self._asking() as http:
            for name, size, _ in candidates[:LOOKED_AT_MAX]:
                if looked_at.objects and self._clock.monotonic_s() > give_up_s:
                    break
                answer = self._endpoints_answer(http, f"{quote(below.account, safe='')}/{below.path(name)}", give_up_s)
                counted = InputObjects(1, size)
                looked_at += counted
                for host in self._hosts(answer):
                    hosts[host] += counted
        return Places(InputObjects(len(objects), sum(size for _, size, _ in objects)), looked_at, dict(hosts), complete)

    def _hosts(self, answer: Mapping[str, Any]) -> frozenset[str]:
        """Return the hosts that have a copy."""
        if (answer.get("headers") or {}).get(_POLICY) in self._fragmented:
            return frozenset()
        return frozenset(host_key(urlsplit(url).hostname or "") for url in _urls(answer))

    def _source(self, account: str, container: str, name: str) -> _Below:
        """Return the objects that are finally read: for a view of that account, its source."""
        view = self._view_of(container.removeprefix(VIEW_PREFIX)) if container.startswith(VIEW_PREFIX) else None
        if view is None or self._http.account_of(view.tenant) != account:
            return _Below(account, container, name)
        return _Below(account, view.place.container, view.place.prefix)

    def _objects(self, below: _Below, token: str, give_up_s: float) -> tuple[list[tuple[str, int, bool]], bool]:
        """Return name, bytes, and whether the data are stored under that name; and whether the list is complete."""
        if not token:
            raise RequestRefusedError(403, UNREADABLE)
        directory = below.name if not below.name or below.name.endswith("/") else f"{below.name}/"
        query = f"{quote(below.container, safe='')}?format=json&limit={LISTED_MAX}&prefix={quote(directory)}"
        listing = self._read("GET", below.account, query, token, give_up_s).json()
        shown = (row for row in listing if "name" in row and row["bytes"])
        rows = [row for row in shown if not _is_hidden(str(row["name"]).removeprefix(directory))]
        objects = [(str(row["name"]), int(row["bytes"]), "slo_etag" not in row) for row in rows]
        if objects or not directory or below.name.endswith("/"):
            return objects, len(listing) < LISTED_MAX
        answer = self._read("HEAD", below.account, below.path(below.name), token, give_up_s, absent=True)
        if answer.status_code == _NOT_FOUND:
            return [], True
        segmented = bool({"x-static-large-object", "x-object-manifest"} & {name.lower() for name in answer.headers})
        return [(below.name, int(answer.headers.get("Content-Length", 0)), not segmented)], True

    def _read(
        self, method: str, account: str, path: str, token: str, give_up_s: float, absent: bool = False
    ) -> httpx.Response:
        """Return a complete answer. Raises RequestRefusedError, in the same way for everything that the tenant may
        not read.
        """
        answer = self._http.ask(method, account, path, {}, self._left_s(give_up_s), token)
        try:
            answer.read()
        except httpx.HTTPError as error:
            raise RequestRefusedError(503, f"cannot read from Swift: {error or type(error).__name__}") from None
        finally:
            answer.close()
        if answer.status_code in (UNAUTHORIZED, _FORBIDDEN):
            raise RequestRefusedError(403, UNREADABLE)
        if answer.status_code == _NOT_FOUND and not absent:
            raise RequestRefusedError(_NOT_FOUND, "the source answers 404: there is no such container")
        if not answer.is_success and answer.status_code != _NOT_FOUND:
            raise RequestRefusedError(503, f"Swift answers {answer.status_code} to a listing")
        return answer

    def _asking(self) -> httpx.Client:
        """Return a client that sends many short requests over one connection."""
        base = self._endpoints_url or f"{self._http.site(TIME_S)}/endpoints/"
        return httpx.Client(base_url=base, limits=httpx.Limits(max_connections=1), timeout=TIME_S)

    def _endpoints_answer(self, http: httpx.Client, path: str, give_up_s: float) -> Mapping[str, Any]:
        try:
            answer = http.get(f"v2/{path}", timeout=self._left_s(give_up_s))
            document = answer.json() if answer.is_success else None
        except (httpx.HTTPError, ValueError) as error:
            raise RequestRefusedError(
                503, f"cannot get the places of objects from Swift: {error or type(error).__name__}"
            ) from None
        if not isinstance(document, dict):
            raise RequestRefusedError(409, _NOT_TOLD)
        return document

    def _left_s(self, give_up_s: float) -> float:
        return max(give_up_s - self._clock.monotonic_s(), 0.1)


def _urls(answer: Mapping[str, Any]) -> Iterator[str]:
    return (str(url) for url in answer.get("endpoints") or ())


def _is_hidden(name: str) -> bool:
    """Return whether readers of a directory skip an object of that name below it.

    Like Spark, which reads among subdirectories only partitions, named `column=value`.
    """
    *directories, last = name.split("/")
    return not last or last.startswith(("_", ".")) or any("=" not in directory for directory in directories)
