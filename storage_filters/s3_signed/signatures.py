"""Check that the signature of an S3 request covers everything that it asks for. Pure: no I/O, no clock, no Swift.

Signature version 4 covers the whole query and the headers that it names; version 2 covers `x-amz-` headers, the content
type and the query names of `V2_QUERY`. `s3api` checks the signature, but acts on headers that it does not cover, and
passes them on to Swift. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import calendar
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from storage_filters.s3_signed.sub_resources import unanswered

CHECKED = "zoe.s3_signed"
"""Key in the environment of requests to which these rules were applied."""
V4 = "AWS4-HMAC-SHA256 "
V2 = "AWS "
AHEAD_MAX_S = 15 * 60
"""How far the signer's clock may be ahead: as far as `s3api` allows for requests signed in a header."""
V2_QUERY = frozenset(
    (
        *("acl", "cors", "delete", "lifecycle", "location", "logging", "notification", "object-lock", "partNumber"),
        *("policy", "publicAccessBlock", "requestPayment", "restore", "tagging", "torrent", "uploadId", "uploads"),
        *("versionId", "versioning", "versions", "website"),
        *(f"response-{name}" for name in ("cache-control", "content-disposition", "content-encoding")),
        *(f"response-{name}" for name in ("content-language", "content-type", "expires")),
    )
)
"""Query names that version 2 signs: `ALLOWED_SUB_RESOURCES` of s3api."""

_V2_PARAMETERS = ("AWSAccessKeyId", "Expires", "Signature")
_V4_PARAMETERS = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Expires", "X-Amz-Signature", "X-Amz-SignedHeaders")
_TEMPORARY_URL = ("temp_url_expires", "temp_url_sig")
_BULK = frozenset(("bulk-delete", "extract-archive"))
_LISTING = frozenset(
    (
        *("continuation-token", "delimiter", "encoding-type", "fetch-owner", "key-marker", "list-type", "marker"),
        *("max-keys", "max-parts", "max-uploads", "part-number-marker", "prefix", "start-after", "upload-id-marker"),
        "version-id-marker",
    )
)
_TOKENS = frozenset(
    ("x-auth-token", "x-storage-token", "x-service-token", "x-auth-user", "x-auth-key", "x-storage-user")
) | {"x-storage-pass", "x-subject-token"}
_OF_ONE = frozenset(("authorization", "content-length", "content-type", "host"))
# Swift stores these with an object. Cache-Control is not among them: browsers add it, and AWS's SDK for JavaScript
# never signs it.
_STORED = frozenset(("content-disposition", "content-encoding", "content-language", "content-type", "expires"))
_INSTRUCTIONS = frozenset(("destination", "destination-account", "etag"))
# Proxies and browsers add these in transit. Swift reads at most the client's address, for its log.
_ADDED_ON_THE_WAY = frozenset(
    ("x-cluster-client-ip", "x-cloud-trace-context", "x-correlation-id", "x-real-ip", "x-request-id", "x-scheme")
) | {"x-requested-with"}
_ADDED_FAMILIES = ("x-forwarded-", "x-amzn-", "x-b3-", "x-datadog-", "x-envoy-")
_SIGNING_DATE = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_AUTHORIZATION = re.compile(r"(Credential|SignedHeaders|Signature)=([^\s,]+)")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_LENGTH = re.compile(r"[0-9]{1,19}")
# As in s3api, which then compares the host without its port.
_WITHOUT_PORT = re.compile(r"Boto/2.[0-9].[0-2]")
_STREAMING = "STREAMING-"
_CHUNKED = "aws-chunked"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusal of a request: the code of an S3 error, a sentence with a remedy, and the names that it concerns."""

    code: str
    sentence: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as the client sent it. headers: names and values in their order, including repeated ones."""

    method: str
    query: Sequence[tuple[str, str]]
    headers: Sequence[tuple[str, str]]

    @classmethod
    def from_query(cls, method: str, query: str, headers: Iterable[tuple[str, str]]) -> SignedRequest:
        """Return the request of a raw query, parsed as Swift does."""
        pairs = parse_qsl(query, keep_blank_values=True, encoding="latin-1")
        return cls(method, pairs, [(name.strip().lower(), value) for name, value in headers])

    def value(self, name: str) -> str | None:
        """Return the first value of a header; None without one."""
        return next((value for text, value in self.headers if text == name), None)


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a signature covers. headers: names; None: those of version 2."""

    in_query: bool
    headers: frozenset[str] | None

    def covers_header(self, header: str) -> bool:
        if self.headers is None:
            return header.startswith("x-amz-") or header in ("content-type", "content-md5", "date")
        return header in self.headers


def access_key_of(request: SignedRequest) -> str | None:
    """Return the access key of an S3 request, as `s3api` reads it; None without one."""
    parameters, authorization = dict(request.query), request.value("authorization") or ""
    if "X-Amz-Credential" in parameters:
        return parameters["X-Amz-Credential"].partition("/")[0]
    if authorization.startswith(V4):
        return authorization.partition("Credential=")[2].partition("/")[0]
    if "AWSAccessKeyId" in parameters:
        return parameters["AWSAccessKeyId"]
    return authorization.removeprefix(V2).rpartition(":")[0] if authorization.startswith(V2) else None


def is_streamed(request: SignedRequest) -> bool:
    """Return whether the body comes in S3 chunks, each with a line before it."""
    return request.method in ("PUT", "POST") and (request.value("x-amz-content-sha256") or "").startswith(_STREAMING)


def why_refused(request: SignedRequest, now_s: float, plain: frozenset[str] = frozenset()) -> Refusal | None:
    """Return why an S3 request is refused; None if it is not refused, or not an S3 request. now_s: since the epoch.

    plain: further headers that need no signature, in lower case.
    """
    parameters = dict(request.query)
    authorization = request.value("authorization") or ""
    if "X-Amz-Credential" in parameters or authorization.startswith(V4):
        in_query, version4 = "X-Amz-Credential" in parameters, True
    elif "AWSAccessKeyId" in parameters or authorization.startswith(V2):
        in_query, version4 = "AWSAccessKeyId" in parameters, False
    else:
        return None
    if (
        refusal := _unprintable(request)
        or _refuse_repeated(request)
        or _second_authorization(request, parameters, in_query, version4)
    ):
        return refusal
    if not version4:
        signature: _Signature | Refusal = _Signature(in_query, None)
    elif in_query:
        signature = _signed_in_query(parameters, now_s)
    else:
        signature = _signed_in_header(authorization)
    if isinstance(signature, Refusal):
        return signature
    return (
        _unsigned_query(request, signature)
        or _unsigned_headers(request, signature, plain)
        or _values(request)
        or _unsigned_port(request, signature)
        or _unanswered(request)
    )


def _unprintable(request: SignedRequest) -> Refusal | None:
    """Refuse headers with control characters: a folded line would become a separate header when it is forwarded."""
    if any(_CONTROL.search(name) or _CONTROL.search(value.strip(" \t\r\n")) for name, value in request.headers):
        return Refusal("InvalidRequest", "A header has a control character or a folded line. Send it in one line.")
    return None


def _refuse_repeated(request: SignedRequest) -> Refusal | None:
    names = _repeated_names(name for name, _ in request.query)
    if names:
        # The signature covers one of the values, and a reader of the query may take the other.
        return Refusal("InvalidArgument", f"{', '.join(names)}: give each query parameter once.", names)
    names = _repeated_names(name for name, _ in request.headers if name in _OF_ONE)
    if names:
        return Refusal("InvalidRequest", f"{', '.join(names)}: send this header once.", names)
    return None


def _repeated_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name, times in Counter(names).items() if times > 1))


def _second_authorization(
    request: SignedRequest, parameters: Mapping[str, str], in_query: bool, version4: bool
) -> Refusal | None:
    """Refuse a request that names two clients: parts of Swift could believe different ones."""
    others = [name for name, _ in request.headers if name.replace("_", "-") in _TOKENS]
    if in_query:
        others += [name for name, _ in request.headers if name == "authorization"]
    foreign = {
        *_TEMPORARY_URL,
        *(_V2_PARAMETERS if version4 or not in_query else ()),
        *(() if version4 and in_query else _V4_PARAMETERS),
    }
    others += [name for name in foreign if name in parameters]
    if not others:
        return None
    names = tuple(sorted(set(others)))
    where = "in the query" if in_query else "in the header Authorization"
    return Refusal("InvalidArgument", f"The request is signed {where}; send it without {', '.join(names)}.", names)


def _signed_in_query(parameters: Mapping[str, str], now_s: float) -> _Signature | Refusal:
    date = parameters.get("X-Amz-Date", "")
    if not _SIGNING_DATE.fullmatch(date):
        return Refusal("AccessDenied", "X-Amz-Date must have the form 20260131T235959Z.", ("X-Amz-Date",))
    try:
        signed_s = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        return Refusal("AccessDenied", "X-Amz-Date is not a date.", ("X-Amz-Date",))
    if signed_s > now_s + AHEAD_MAX_S:
        return Refusal(
            "AccessDenied",
            "Request is not valid yet: X-Amz-Date is more than 15 minutes ahead. Check the clock of the signer.",
            ("X-Amz-Date",),
        )
    return _with_host(parameters.get("X-Amz-SignedHeaders", ""), in_query=True)


def _signed_in_header(authorization: str) -> _Signature | Refusal:
    """Parse the header strictly, so that no other reading exists: `s3api` takes the first `SignedHeaders=` in it."""
    parts = [_AUTHORIZATION.fullmatch(part.strip()) for part in authorization.removeprefix(V4).split(",")]
    found = {part[1]: part[2] for part in parts if part is not None}
    once = all(authorization.count(f"{name}=") == 1 for name in ("Credential", "SignedHeaders", "Signature"))
    if None in parts or not once or len(parts) != len(found):
        return Refusal(
            "AuthorizationHeaderMalformed",
            "The authorization header must consist of Credential, SignedHeaders and Signature, each once.",
        )
    return _with_host(found["SignedHeaders"], in_query=False)


def _with_host(names: str, in_query: bool) -> _Signature | Refusal:
    signature = _Signature(in_query, frozenset(names.split(";")))
    if signature.covers_header("host"):
        return signature
    return Refusal("AccessDenied", "The header host must be signed: add it to the signed headers.", ("host",))


def _unsigned_query(request: SignedRequest, signature: _Signature) -> Refusal | None:
    if names := tuple(sorted({name for name, _ in request.query} & _BULK)):
        # Swift's filter `bulk` comes before s3api, and starts before the signature is checked.
        return Refusal("InvalidArgument", f"{', '.join(names)}: not a parameter of S3. Use Swift's protocol.", names)
    if signature.headers is not None:
        return None
    allowed = V2_QUERY | (set(_V2_PARAMETERS) if signature.in_query else _LISTING)
    if names := tuple(sorted({name for name, _ in request.query if not _is_ignored(name)} - allowed)):
        return Refusal(
            "AccessDenied",
            f"There were query parameters which were not signed: {', '.join(names)}. Use signature version 4.",
            names,
        )
    # Version 2 signs `a=1&b=2` as two parameters, and as one with the value `1&b=2`.
    if names := tuple(sorted(name for name, value in request.query if name in V2_QUERY and "&" in value)):
        return Refusal("AccessDenied", f"{', '.join(names)}: with & in it, use signature version 4.", names)
    return None


def _unanswered(request: SignedRequest) -> Refusal | None:
    known = V2_QUERY | _LISTING | {*_V2_PARAMETERS, "content-md5", "content-type", "x-id"}
    if not (names := unanswered(request.query, known)):
        return None
    return Refusal("S3NotImplemented", f"{', '.join(names)}: this store does not have this sub-resource of S3.", names)


def _is_ignored(name: str) -> bool:
    """Return whether no filter reads a query parameter: SDKs repeat headers and the call's name in the query."""
    return name.startswith("x-amz-") or name in ("content-md5", "content-type", "x-id")


def _unsigned_headers(request: SignedRequest, signature: _Signature, plain: frozenset[str]) -> Refusal | None:
    stores = request.method == "PUT" or any(name == "uploads" for name, _ in request.query)
    encodings = [value for name, value in request.headers if name.replace("_", "-") == "content-encoding"]
    if is_streamed(request) and encodings == [_CHUNKED]:
        plain |= {"content-encoding"}  # of the body in transit: s3api removes it
    names = sorted({n for n, _ in request.headers if not signature.covers_header(n) and _has_effect(n, stores, plain)})
    if not names:
        return None
    way = "Sign them" if signature.headers is not None else "Use signature version 4"
    return Refusal(
        "AccessDenied",
        f"There were headers present in the request which were not signed: {', '.join(names)}. "
        f"{way}, or send the request without them.",
        tuple(names),
    )


def _has_effect(name: str, stores: bool, plain: frozenset[str]) -> bool:
    """Return whether a header affects the effect of a request, and not only its transport or its condition."""
    name = name.replace("_", "-")  # some servers treat both alike
    if name in plain:
        return False
    if not name.startswith("x-"):
        return name in _INSTRUCTIONS or (stores and name in _STORED)
    return name not in _ADDED_ON_THE_WAY and not name.startswith(_ADDED_FAMILIES)


def _unsigned_port(request: SignedRequest, signature: _Signature) -> Refusal | None:
    of_boto = any(name == "user-agent" and _WITHOUT_PORT.search(value) for name, value in request.headers)
    if signature.headers is None or not of_boto or ":" not in (request.value("host") or ""):
        return None
    return Refusal("AccessDenied", "Boto before 2.9.3 signs the host without its port: use a newer client.", ("host",))


def _values(request: SignedRequest) -> Refusal | None:
    """Refuse values that `s3api` would read differently."""
    for name, value in request.query:
        if name in ("uploadId", "versionId") and not value:
            # s3api would take an empty id for all uploads of the object.
            return Refusal("InvalidArgument", f"{name} must not be empty.", (name,))
    length = request.value("x-amz-decoded-content-length")
    if length is not None and _only_python_reads(length):
        name = "x-amz-decoded-content-length"
        return Refusal("InvalidArgument", f"{name} must be a number of bytes in decimal digits.", (name,))
    return None


def _only_python_reads(number: str) -> bool:
    """Return whether only Python accepts a text as a number; `s3api` refuses texts that Python does not accept
    either.
    """
    try:
        return int(number) >= 0 and not _LENGTH.fullmatch(number)
    except ValueError:
        return False
