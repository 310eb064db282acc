"""Convert requests for the store, and its answers for the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swift.common.http import HTTP_BAD_REQUEST, HTTP_NOT_MODIFIED, HTTP_PRECONDITION_FAILED
from swift.common.request_helpers import resolve_etag_is_at_header
from swift.common.swob import Request, Response

from storage_gateway import content_types
from storage_gateway.connections import StoreAnswer
from storage_gateway.kept_headers import TooLong, to_store

# Headers between client and gateway only, or between Swift's proxy and its servers.
_STEPS = """
    accept accept-encoding authorization connection cookie expect host referer transfer-encoding user-agent
    x-account-device x-account-host x-account-partition x-auth-token x-container-device x-container-host
    x-container-partition x-container-root-db-state x-delete-at-container x-delete-at-device x-delete-at-host
    x-delete-at-partition x-openstack-request-id x-service-token x-storage-policy x-storage-token
    x-timestamp x-trans-id x-trans-id-extra
"""
_NOT_SENT = frozenset(_STEPS.split())
_NOT_TAKEN = frozenset(
    ("connection", "date", "keep-alive", "transfer-encoding", "x-openstack-request-id", "x-trans-id")
)
_META = "x-object-meta-"
COUNTS = "ZQ"
"""Source of requests for listings that count for quotas, in Swift's logs."""
_ON_ETAGS = ("If-Match", "If-None-Match")
_ON_DATES = ("If-Modified-Since", "If-Unmodified-Since")


def kind_of(path: str) -> str:
    """Return the kind of `/account`, `/account/container` and `/account/container/object`."""
    return ("account", "container", "object")[min(path.strip("/").count("/"), 2)]


def request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request that go to the store."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _NOT_SENT
        and not name.lower().startswith(("x-backend-", "x-amz-"))
        and value is not None
        and (value or name.lower() != "content-type")  # an empty one changes nothing
    }


def change_headers(kind: str, headers: Mapping[str, str], metadata_bytes: int) -> dict[str, str]:
    """Return the headers of a changing request, for the store. Raises TooLong. metadata_bytes: most metadata of an
    object at the store; beyond it, the store would fail as if it were away, and a client would retry for ever.
    """
    found = to_store(kind, request_headers(headers))
    if kind != "object":
        return found
    size = sum(len(name) + len(value) for name, value in found.items() if name.lower().startswith(_META))
    if size > metadata_bytes:
        raise TooLong(
            f"the object's metadata take {size} bytes, including those of the gateway, and the store keeps at most "
            f"{metadata_bytes}"
        )
    return {
        name: content_types.to_store(value, headers) if name.lower() == "content-type" else value
        for name, value in found.items()
    }


def gateway_conditions(req: Request, judged_there: bool) -> tuple[str, ...]:
    """Return the conditions that the gateway evaluates: on an ETag that middleware keeps elsewhere, and all of them if
    the store does not evaluate them as Swift does.
    """
    if judged_there and "X-Backend-Etag-Is-At" not in req.headers:
        return ()
    names = _ON_ETAGS if judged_there else (*_ON_ETAGS, *_ON_DATES)
    return tuple(name for name in names if name in req.headers)


def response(req: Request, kind: str, answer: StoreAnswer, found: Mapping[str, str], held: Sequence[str]) -> Response:
    """Return the answer to a GET or HEAD. found: its headers from `from_store`; held: from `gateway_conditions`."""
    conditions: dict[str, Any] = {}
    if held:
        conditions = {"conditional_response": True, "conditional_etag": resolve_etag_is_at_header(req, found)}
    made = Response(request=req, status=f"{answer.status} {answer.reason}", **conditions)
    made.headers.update({name: value for name, value in found.items() if name.lower() not in _NOT_TAKEN})
    made.environ["swift_x_timestamp"] = found.get("X-Timestamp")
    made.accept_ranges = "bytes"
    # Swift adds its text to an error without one.
    has_text = answer.status < HTTP_BAD_REQUEST or answer.headers.get("Content-Length") != "0"
    if req.method == "GET" and kind == "container" and has_text:
        made.body = content_types.listing_from_store(answer.body(), req.environ.get("swift.source") == COUNTS)
    elif req.method == "GET" and has_text:
        made.app_iter = answer.pieces()
        made.content_length = answer.headers.get("Content-Length")
    else:
        answer.close()
        if req.method == "HEAD":
            made.content_length = answer.headers.get("Content-Length")
    if answer.headers.get("Content-Type"):
        made.charset = None
        made.content_type = content_types.from_store(answer.headers["Content-Type"])
    if held and "Content-Range" in made.headers:
        made.fix_conditional_response()
        if made.status_int in (HTTP_NOT_MODIFIED, HTTP_PRECONDITION_FAILED):
            del made.headers["Content-Range"]  # a range under a condition is not part of the object
    return made


def query(req: Request) -> str:
    """Return the query of a listing; for objects, parameters are instructions to middleware."""
    return "" if kind_of(req.swift_entity_path) == "object" else str(req.query_string or "")
