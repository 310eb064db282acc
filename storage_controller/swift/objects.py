"""The objects of a tenant in Swift, page by page, and requests to rewrite one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx

from storage_bridge.model import BOOK_HEADER, DRY_HEADER, RATE_HEADER, REWRITE, REWRITE_HEADER, RewriteOutcome
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import TIMEOUT_S, SwiftHttp
from storage_controller.swift.rewrite_ledger import RewriteJob

PAGE = 1000
_NOT_FOUND, _AWAY = 404, 503
_NOT_HERE = {
    403: "the controller's user at Swift is not a reseller admin, and only these may rewrite objects",
    405: "a proxy does not have the filters, so it cannot rewrite objects",
}
_ANSWER_S = 60.0
"""Seconds for an object beside the time that its rate takes."""
_LOOK_S = 5.0
"""Seconds without an answer after which the proxies are probed, and the timeout of the probe."""
_LOOKS_MAX, _SILENT_MAX = 10_000, 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """A container with its number of objects, or an object with its bytes."""

    name: str
    size: int


class SwiftObjects:
    """Requests as a reseller admin. Raises RequestRefusedError with 503 while Swift is away."""

    def __init__(self, line: SwiftHttp) -> None:
        self._http = line

    def containers(self, tenant: str, after: str) -> list[ListedEntry]:
        """Return the next containers of a tenant, by name; none after the last, or without an account."""
        query = urlencode({"format": "json", "limit": PAGE, "marker": after})
        rows = self._listing(tenant, f"?{query}")
        return [ListedEntry(str(row["name"]), int(row["count"])) for row in rows]

    def objects(self, tenant: str, container: str, after: str) -> list[ListedEntry]:
        """Return the next objects of a container, by name; none after the last, or without that container."""
        query = urlencode({"format": "json", "limit": PAGE, "marker": after})
        rows = self._listing(tenant, f"{quote(container, safe='')}?{query}")
        return [ListedEntry(str(row["name"]), int(row["bytes"])) for row in rows if "name" in row]

    def count(self, tenant: str, container: str) -> int:
        """Return the number of objects of a container. Raises RequestRefusedError with 404 if it does not exist."""
        answer = self._http.ask("HEAD", self._http.account_of(tenant), quote(container, safe=""), {})
        answer.close()
        if answer.status_code == _NOT_FOUND:
            raise RequestRefusedError(404, f"{tenant} has no container {container}")
        if not answer.is_success:
            raise RequestRefusedError(
                503, f"Swift answers {answer.status_code} to a HEAD request for {tenant}/{container}"
            )
        return int(answer.headers.get("X-Container-Object-Count", 0))

    def rewrite(self, job: RewriteJob, container: str, listed: ListedEntry, book: str) -> Mapping[str, Any]:
        """Return the result for an object: `outcome`, `sentence`, `bytes`. book: the digest of the rules. Raises
        Refused.
        """
        path = f"{quote(container, safe='')}/{quote(listed.name)}"
        headers = {
            REWRITE_HEADER: "plain" if job.plain else "rules",
            DRY_HEADER: "yes" if job.dry_run else "no",
            RATE_HEADER: str(job.bytes_per_s),
            BOOK_HEADER: "" if job.plain else book,
        }
        timeout_s = _ANSWER_S + 2 * listed.size / job.bytes_per_s

        def send() -> tuple[httpx.Response, bytes]:
            answer = self._http.ask(REWRITE, self._http.account_of(job.tenant), path, headers, timeout_s)
            return answer, _body(answer)

        answer, text = while_alive(send, lambda: self._http.look(_LOOK_S))
        if (why := _NOT_HERE.get(answer.status_code)) is not None:
            raise RequestRefusedError(409, why)
        if answer.status_code == _AWAY:  # not because of this object
            return {"outcome": RewriteOutcome.LATER, "sentence": text.decode(errors="replace").strip()}
        try:
            found = json.loads(text) if answer.is_success else None
        except ValueError:
            found = None
        if not isinstance(found, dict) or "outcome" not in found:
            raise RequestRefusedError(_AWAY, f"Swift answers {answer.status_code} to the request to rewrite an object")
        if found["outcome"] == RewriteOutcome.AWAY:
            raise RequestRefusedError(_AWAY, str(found.get("sentence")))
        return found

    def _listing(self, tenant: str, path: str) -> list[dict[str, Any]]:
        answer = self._http.ask("GET", self._http.account_of(tenant), path, {}, TIMEOUT_S)
        text = _body(answer)
        if answer.status_code == _NOT_FOUND:
            return []
        try:
            found = json.loads(text or "[]") if answer.is_success else None
        except ValueError:
            found = None
        if not isinstance(found, list):
            raise RequestRefusedError(503, f"Swift answers {answer.status_code} to a listing")
        return found


def while_alive(work: Callable[[], T], look: Callable[[], None], look_s: float = _LOOK_S) -> T:
    """Return the result of the work, or raise its error. Raises RequestRefusedError as soon as two probes in a row
    find the proxies
    silent, however long the work may take; its thread is then left behind, until its own timeout.
    """
    found: Future[T] = Future()
    threading.Thread(target=lambda: _settle(found, work), name="zoe-rewrite", daemon=True).start()
    silent = 0
    for _ in range(_LOOKS_MAX):
        if wait([found], look_s).done:
            break
        try:
            look()
            silent = 0
        except RequestRefusedError:
            silent += 1
            if silent == _SILENT_MAX and not found.done():
                raise
    return found.result(look_s)


def _settle(found: Future[T], work: Callable[[], T]) -> None:
    try:
        found.set_result(work())
    except BaseException as error:  # raised where it is awaited
        found.set_exception(error)


def _body(answer: httpx.Response) -> bytes:
    try:
        return answer.read()
    except httpx.HTTPError as error:
        raise RequestRefusedError(503, f"cannot read from Swift: {error or type(error).__name__}") from None
    finally:
        answer.close()
