"""A call of S3, as both instances of the filter know it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from storage_filters.s3_signed.calls.checksums import ALGORITHMS, HEADER, Checksum, of_upload
from storage_filters.s3_signed.calls.conditions import Conditions
from storage_filters.wsgi.headers import environ_key

PUT, PART, CREATE, COMPLETE, READ, DELETE, OTHER = "put", "part", "create", "complete", "read", "delete", "other"
_TYPE, _ALGORITHM, _SDK, _MODE = f"{HEADER}type", f"{HEADER}algorithm", "x-amz-sdk-checksum-algorithm", f"{HEADER}mode"
_TRAILER = "x-amz-trailer"
_CONDITIONS = ("If-Match", "If-None-Match", "x-amz-if-match-size", "x-amz-if-match-last-modified-time")
_CONDITIONAL = (PUT, COMPLETE, DELETE)


@dataclass(slots=True)
class S3Call:
    """A call. sent: the checksum of its body, or of the whole object that it completes; its value is empty if it comes
    after the body, in `trailers`. upload: the checksum that the parts of its upload are to have. shown: headers for its
    answer; elements: for the document that it returns.
    """

    kind: str
    conditions: Conditions = field(default_factory=Conditions)
    sent: Checksum | None = None
    wants_checksum: bool = False
    upload: Checksum | None = None
    trailers: Mapping[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    elements: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_environ(cls, env: Mapping[str, Any], query: Mapping[str, str]) -> S3Call:
        """Return the call of a request to `s3api`. Raises ValueError if it begins an upload that cannot be."""
        kind = _kind_of(env["REQUEST_METHOD"], query)
        values = [str(env.get(environ_key(name)) or "") for name in _CONDITIONS]
        conditions = Conditions(*values) if kind in _CONDITIONAL else Conditions()
        if kind in (PUT, COMPLETE) and conditions == Conditions(if_none_match="*"):
            conditions = Conditions()  # Swift's servers evaluate it, in one step with the PUT
        call = cls(kind, conditions)
        call.wants_checksum = kind == READ and str(env.get(environ_key(_MODE))).upper() == "ENABLED"
        if kind == CREATE and (algorithm := env.get(environ_key(_ALGORITHM))):
            call.upload = of_upload(algorithm, str(env.get(environ_key(_TYPE)) or ""))
        elif kind in (PUT, PART, COMPLETE):
            call.sent = _sent(env)
        return call

    def take(self, env: MutableMapping[str, Any]) -> None:
        """Remove headers that `s3api` refuses, since this filter evaluates them. `s3api` checks the signature of the
        headers as they were sent.
        """
        if self.conditions:
            for name in _CONDITIONS:
                env.pop(environ_key(name), None)
        if self.kind == COMPLETE:
            for name in (_SDK, *(HEADER + algorithm.lower() for algorithm in ALGORITHMS)):
                env.pop(environ_key(name), None)

    @property
    def needs_length(self) -> bool:
        """Return whether the length of the body has to be known before it, for its checksum."""
        return self.kind in (PUT, PART) and self.sent is not None

    def stored(self) -> Checksum | None:
        """Return the checksum of the body, whose value may have come after it."""
        if self.sent is None or self.sent.value:
            return self.sent
        value = self.trailers.get(self.sent.header, "")
        return Checksum(self.sent.algorithm, self.sent.kind, value) if value else None


def _sent(env: Mapping[str, Any]) -> Checksum | None:
    trailer = str(env.get(environ_key(_TRAILER)) or "").strip().lower()
    for algorithm in ALGORITHMS:
        header = HEADER + algorithm.lower()
        if value := env.get(environ_key(header)):
            return Checksum(algorithm, value=value.strip())
        if trailer == header:
            return Checksum(algorithm)
    return None


def _kind_of(method: str, query: Mapping[str, str]) -> str:
    if query.keys() & {"acl", "tagging"}:
        return OTHER
    if method == "PUT":
        return PART if "partNumber" in query else PUT
    if method == "POST":
        return CREATE if "uploads" in query else COMPLETE if "uploadId" in query else OTHER
    if "uploads" in query or "uploadId" in query:
        return OTHER
    return {"GET": READ, "HEAD": READ, "DELETE": DELETE}.get(method, OTHER)
