"""Checks a server of Swift: `/healthcheck`, then its recon middleware, all within one timeout."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import httpx

from storage_controller.nodes.health import Disk, Findings
from storage_controller.settings import NodeKind
from zoe_lib.clock import SYSTEM_CLOCK, Clock

HEALTH_PATH = "/zoe-filters"
"""Served by `storage_filters/object_host.py`."""
S3_FILTER = "zoe_s3_signed"
"""Listed in `/info` by proxies with `storage_filters/s3_signed/middleware.py`."""
FRAMING_FILTER = "zoe_framing"
"""Listed in `/info` by proxies with `storage_filters/strict_requests.py`."""
_ANSWER_BYTES_MAX = 1 << 20
_OK, _BROKEN = 200, 500
_TEXT_MAX = 80
_DISKS_MAX = 1000
_QUARANTINE = {NodeKind.OBJECT: "objects", NodeKind.CONTAINER: "containers", NodeKind.ACCOUNT: "accounts"}


class _LateError(Exception):
    """A node did not answer in time."""


def ask(http: httpx.Client, kind: NodeKind, url: str, timeout_s: float, clock: Clock = SYSTEM_CLOCK) -> Findings:
    """Return the answers of a node; its requests take `timeout_s` together. Raises nothing.

    A node without `healthcheck` in its pipeline answers 4xx, which is an answer; one without recon reports no disks.
    """
    began_s = clock.monotonic_s()
    asked = _Requests(http, url.rstrip("/"), began_s + timeout_s, clock)
    try:
        status, text = asked.get("/healthcheck")
    except _LateError:
        return Findings(away=f"no answer within {timeout_s:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return Findings(away=_plainly(error))
    found = Findings(took_s=clock.monotonic_s() - began_s)
    if status >= _BROKEN:
        return replace(found, wrong=f"it answers {status} to /healthcheck: {_printable(text)}".rstrip(": "))
    if kind is NodeKind.PROXY:
        told = _features(asked)
        unsigned = "s3api" in told and S3_FILTER not in told
        return replace(found, unsigned_s3=unsigned, two_readings="swift" in told and FRAMING_FILTER not in told)
    found = _recon(asked, kind, found)
    return found if kind is not NodeKind.OBJECT or found.late else replace(found, filters=_filters(asked))


class _Requests:
    def __init__(self, http: httpx.Client, url: str, give_up_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._http = http
        self._url = url
        self._give_up_s = give_up_s

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body. Raises _LateError and httpx.HTTPError."""
        try:
            with self._http.stream("GET", self._url + path, timeout=self._left_s()) as answer:
                body = bytearray()
                for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > _ANSWER_BYTES_MAX:
                        raise httpx.DecodingError("it answers with too many bytes")
                    self._left_s()
                return answer.status_code, bytes(body)
        except httpx.TimeoutException:
            raise _LateError from None

    def _left_s(self) -> float:
        left_s = self._give_up_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise _LateError
        return left_s


def _recon(asked: _Requests, kind: NodeKind, found: Findings) -> Findings:
    """Add the answers of recon; a node without it answers the first request with 4xx."""
    for path, read in _questions(kind):
        try:
            status, body = asked.get(path)
        except _LateError:
            return replace(found, late=path)
        except (httpx.HTTPError, OSError) as error:
            return replace(found, wrong=f"{path}: {_plainly(error)}")
        if status != _OK:
            if status < _BROKEN and not found.recon:
                return found
            return replace(found, recon=True, wrong=f"it answers {status} to {path}")
        try:
            found = replace(found, recon=True, **read(json.loads(body)))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return replace(found, recon=True, wrong=f"its answer to {path} is invalid")
    return found


def _features(asked: _Requests) -> Mapping[str, Any]:
    """Return the features that a proxy lists, by name; empty if it lists none."""
    try:
        status, body = asked.get("/info")
        told = json.loads(body) if status == _OK else {}
    except (_LateError, httpx.HTTPError, OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _filters(asked: _Requests) -> str:
    """Return why an object server does not store as rules say; empty if it does, or has no filters."""
    try:
        status, body = asked.get(HEALTH_PATH)
        return _printable(str(json.loads(body)["problem"])) if status == _OK else ""
    except (_LateError, httpx.HTTPError, OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def _questions(kind: NodeKind) -> list[tuple[str, Callable[[Any], Mapping[str, Any]]]]:
    pending = [("/recon/async", _pending)] if kind is NodeKind.OBJECT else []
    return [
        ("/recon/diskusage", _disks),
        ("/recon/quarantined", lambda told: {"quarantined": int(told[_QUARANTINE[kind]])}),
        (f"/recon/replication/{kind}", _replication),
        *pending,
    ]


def _disks(told: Any) -> Mapping[str, Any]:
    return {"disks": tuple(_disk(entry) for entry in told[:_DISKS_MAX])}


def _disk(told: Mapping[str, Any]) -> Disk:
    if told["mounted"] is not True:  # false, or the text of an error
        return Disk(str(told["device"]), None)
    used, available = int(told["used"]), int(told["avail"])
    # Space reserved for root counts as used, unlike in `df`.
    return Disk(str(told["device"]), used / (used + available) if used + available > 0 else 1.0)


def _replication(told: Mapping[str, Any]) -> Mapping[str, Any]:
    last = told.get("object_replication_last") or told.get("replication_last")
    return {"replicated_s": None if last is None else float(last)}


def _pending(told: Mapping[str, Any]) -> Mapping[str, Any]:
    pending = told.get("async_pending")
    return {"pending": None if pending is None else int(pending)}


def _plainly(error: Exception) -> str:
    """Return a network error in words: `[Errno 111] Connection refused` is `connection refused`."""
    text = str(error).rpartition("] ")[2] or type(error).__name__
    return _printable(text[:1].lower() + text[1:])


def _printable(text: str | bytes) -> str:
    plain = text.decode(errors="replace") if isinstance(text, bytes) else text
    return " ".join("".join(c if c.isprintable() else " " for c in plain).split())[:_TEXT_MAX]
