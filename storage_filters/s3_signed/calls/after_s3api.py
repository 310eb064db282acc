"""The part of a call of S3 that needs the object: conditions, and checksums in its metadata."""

from __future__ import annotations

import json
from typing import Any

from eventlet import GreenPool
from swift.common.http import HTTP_ACCEPTED, HTTP_NOT_FOUND, HTTP_PARTIAL_CONTENT, HTTP_REQUESTED_RANGE_NOT_SATISFIABLE
from swift.common.middleware.s3api.s3request import CHECKSUMS_BY_HEADER
from swift.common.middleware.s3api.s3response import (
    AccessDenied,
    BadDigest,
    InvalidRequest,
    NoSuchKey,
    PreconditionFailed,
    ServiceUnavailable,
)
from swift.common.swob import Request, Response, str_to_wsgi, wsgi_quote
from swift.common.utils import close_if_possible
from swift.common.wsgi import make_subrequest

from storage_filters.s3_signed.calls import call as kinds
from storage_filters.s3_signed.calls.call import S3Call
from storage_filters.s3_signed.calls.checksums import Checksum, are_same, of_parts
from storage_filters.s3_signed.calls.conditions import fits_range
from storage_filters.wsgi.headers import CHECKSUM, REPLACES, VERSION

_FOOTERS = "swift.callback.update_footers"
_OBJECT_PATH_PARTS = 4
_SEGMENTS = "+segments"
_AT_ONCE = 8
"""Parts that are asked for their checksums concurrently."""


def answer_call(request: Request, call: S3Call, app: Any) -> Response:
    """Return the answer to a request that `s3api` makes for a call. Raises errors of S3, which `s3api` answers."""
    parts = request.environ["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
    forget_copied(request.environ)
    if len(parts) <= _OBJECT_PATH_PARTS or not parts[4]:
        return request.get_response(app)
    in_upload = parts[3].endswith(_SEGMENTS)
    match call.kind, request.method:
        case ((kinds.PUT | kinds.PART), "PUT") if "X-Copy-From" not in request.headers:
            return _store(request, call, app)
        case ((kinds.PUT | kinds.DELETE), ("PUT" | "DELETE")):
            return _replace(request, call, app)
        case ((kinds.PART | kinds.COMPLETE), "HEAD"):
            return _begun(request, call, app, in_upload)
        case kinds.CREATE, "PUT" if in_upload and call.upload is not None:
            request.headers[CHECKSUM] = call.upload.text
            call.shown |= {"x-amz-checksum-algorithm": call.upload.algorithm, "x-amz-checksum-type": call.upload.kind}
        case kinds.COMPLETE, "PUT" if not in_upload:
            _check(request, call, app)
            _complete(request, call, app)
        case kinds.READ, ("GET" | "HEAD"):
            return _read(request, call, app)
    return request.get_response(app)


def answer_ranged(request: Request, app: Any) -> Response:
    """Return the answer to a GET; all of the object if it is no longer the one of its `If-Range`."""
    condition = request.headers.get("If-Range")
    if request.method != "GET" or condition is None or "Range" not in request.headers:
        return request.get_response(app)
    env = request.environ.copy()
    answer = request.get_response(app)
    if answer.status_int not in (HTTP_PARTIAL_CONTENT, HTTP_REQUESTED_RANGE_NOT_SATISFIABLE):
        return answer
    if fits_range(condition, answer.headers):
        return answer
    close_if_possible(answer.app_iter)
    whole = Request(env)
    del whole.headers["Range"]
    return whole.get_response(app)


def forget_copied(env: dict[str, Any]) -> None:
    """Make a copy have no checksum: it may be a range, or what a filter makes of the object."""
    if "HTTP_X_COPY_FROM" in env or env["REQUEST_METHOD"] == "COPY":
        Request(env).headers[CHECKSUM] = ""


def _begun(request: Request, call: S3Call, app: Any, in_upload: bool) -> Response:
    """Return the answer about an upload; `s3api` asks for the object itself if a client completes an upload again."""
    answer = request.get_response(app)
    found = Checksum.from_text(answer.headers.get(CHECKSUM))
    if in_upload:
        call.upload = found
    elif found is not None and found.value:
        call.elements = _elements(found)
    return answer


def _store(request: Request, call: S3Call, app: Any) -> Response:
    """Store a body, with its checksum."""
    if call.sent is None:
        return _replace(request, call, app)
    if call.kind == kinds.PART and call.upload is not None and call.upload.algorithm != call.sent.algorithm:
        raise InvalidRequest(
            f"Checksum Type mismatch occurred, expected checksum Type: {call.upload.algorithm.lower()}, actual "
            f"checksum Type: {call.sent.algorithm.lower()}"
        )
    if call.sent.value:
        request.headers[CHECKSUM] = call.sent.text
    else:
        before = request.environ.get(_FOOTERS)

        def add_checksum(footers: Any) -> None:
            if before is not None:
                before(footers)
            if (found := call.stored()) is not None:
                footers[CHECKSUM] = found.text

        request.environ[_FOOTERS] = add_checksum
    answer = _replace(request, call, app)
    if answer.is_success and (found := call.stored()) is not None:
        call.shown[found.header] = found.value
        if call.kind == kinds.PUT:
            call.shown["x-amz-checksum-type"] = found.kind
    return answer


def _replace(request: Request, call: S3Call, app: Any) -> Response:
    """Change an object under the conditions of a call. A gateway with locks repeats the comparison of versions."""
    there = _check(request, call, app)
    version = "" if there is None or request.method != "PUT" else there.headers.get(VERSION, "")
    if version:
        request.headers[REPLACES] = version
    answer = request.get_response(app)
    if version and answer.status_int == HTTP_ACCEPTED:
        raise PreconditionFailed()
    return answer


def _check(request: Request, call: S3Call, app: Any) -> Response | None:
    """Return the answer to a HEAD of the object; None without conditions, or without the object. Raises
    PreconditionFailed.
    """
    if not call.conditions:
        return None
    asked = {"X-Newest": "true"}
    there = make_subrequest(request.environ, "HEAD", wsgi_quote(request.path_info), headers=asked, swift_source="ZOE")
    answer = there.get_response(app)
    if answer.status_int == HTTP_NOT_FOUND:
        if request.method == "PUT" and call.conditions.if_match:
            raise NoSuchKey(request.path_info.split("/", _OBJECT_PATH_PARTS)[-1])
        return None
    if answer.status_int in (401, 403):
        raise AccessDenied(reason="forbidden")
    if not answer.is_success:
        raise ServiceUnavailable()
    if not call.conditions.are_met(answer.headers):
        raise PreconditionFailed()
    return answer


def _complete(request: Request, call: S3Call, app: Any) -> None:
    """Add the checksum of a large object to the list of its parts. Raises BadDigest if the client expects another."""
    call.elements = {}
    if "multipart-manifest=put" not in (request.query_string or "") or (call.upload is None and call.sent is None):
        return
    made = _checksum_of_parts(request, call.upload, app) if call.upload is not None else None
    if call.sent is not None and (made is None or made.algorithm != call.sent.algorithm):
        raise InvalidRequest(f"The parts of this upload have no {call.sent.algorithm} checksums.")
    if made is None:
        return
    if call.sent is not None and not are_same(call.sent.value, made.value):
        raise BadDigest(f"The {made.algorithm} you specified did not match the calculated checksum.")
    request.headers[CHECKSUM] = made.text
    call.elements = _elements(made)


def _elements(found: Checksum) -> dict[str, str]:
    return {f"Checksum{found.algorithm}": found.value, "ChecksumType": found.kind}


def _checksum_of_parts(request: Request, upload: Checksum, app: Any) -> Checksum | None:
    account = wsgi_quote("/".join(request.environ["PATH_INFO"].split("/", 3)[:3]))

    def ask(part: dict[str, Any]) -> tuple[str, int]:
        path = account + wsgi_quote(str_to_wsgi(part["path"]))
        answer = make_subrequest(request.environ, "HEAD", path, swift_source="ZOE").get_response(app)
        found = Checksum.from_text(answer.headers.get(CHECKSUM))
        value = found.value if found is not None and found.algorithm == upload.algorithm else ""
        return value, int(answer.content_length or 0)

    found = list(GreenPool(_AT_ONCE).imap(ask, json.loads(request.body)))
    if not all(value for value, _ in found):
        return None  # parts without checksums: the object has none
    return of_parts(upload, found, CHECKSUMS_BY_HEADER[upload.header])


def _read(request: Request, call: S3Call, app: Any) -> Response:
    ranged = "Range" in request.headers
    answer = answer_ranged(request, app)
    found = Checksum.from_text(answer.headers.get(CHECKSUM))
    if call.wants_checksum and found is not None and found.value and answer.status_int == 200 and not ranged:
        call.shown |= {found.header: found.value, "x-amz-checksum-type": found.kind}
    return answer
