"""Requests to an object store that end at a random byte, at every kind of route, by Swift's protocol and by S3's."""

from __future__ import annotations

import io
import json
import random
import socket
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from tests.support.object_store import Person
from tests.support.s3 import S3Client

_XML = b"<Delete><Object><Key>x</Key></Object><Object><Key>y</Key></Object></Delete>"
_PARTS = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>"
_RESET = b"\1\0\0\0\0\0\0\0"


def _archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in ("a", "b"):
            member = tarfile.TarInfo(name)
            member.size = 2000
            archive.addfile(member, io.BytesIO(b"x" * 2000))
    return made.getvalue()


def cases(container: str) -> list[tuple[str, str, bytes, Mapping[str, str]]]:
    """Return method, path below the account with its query, body and headers of each kind of request."""
    manifest = json.dumps([{"path": f"/{container}/x"}] * 30).encode()
    names = f"/{container}/x\n/{container}/y\n".encode() * 20
    return [
        ("PUT", f"/{container}/x", b"z" * 200_000, {}),
        ("PUT", f"/{container}/x", b"z" * 2_000, {"ETag": "0" * 32}),
        ("PUT", f"/{container}/m?multipart-manifest=put", manifest, {}),
        ("POST", "?bulk-delete", names, {"Content-Type": "text/plain"}),
        ("DELETE", "?bulk-delete", names, {"Content-Type": "text/plain"}),
        ("PUT", f"/{container}?extract-archive=tar", _archive(), {}),
        ("PUT", f"/{container}", b"z" * 100, {}),
        ("POST", f"/{container}", b"z" * 100, {"X-Container-Meta-A": "b"}),
        ("POST", f"/{container}/x", b"z" * 100, {"X-Object-Meta-A": "b"}),
        ("COPY", f"/{container}/x", b"", {"Destination": f"{container}/copy"}),
        ("GET", f"/{container}/x", b"", {}),
        ("GET", f"/{container}/large", b"", {}),
        ("GET", f"/{container}/large", b"", {"Range": "bytes=5-2000000,7-9"}),
        ("GET", f"/{container}?format=json", b"z" * 100, {}),
        ("REWRITE", f"/{container}/x", b"z" * 100, {}),
    ]


def s3_cases(container: str) -> list[tuple[str, str, str, bytes]]:
    """Return method, path, query and body of each kind of request by S3."""
    return [
        ("PUT", f"{container}/s", "", b"z" * 200_000),
        ("POST", container, "delete=", _XML),
        ("POST", f"{container}/s", "uploadId=none", _PARTS),
        ("PUT", container, "acl=", b"<AccessControlPolicy/>"),
        ("PUT", container, "versioning=", b"<VersioningConfiguration/>"),
        ("PUT", "fresh-bucket", "", b"<CreateBucketConfiguration/>"),
        ("GET", f"{container}/s", "", b""),
        ("GET", f"{container}/large", "", b""),
    ]


_Parts = tuple[str, Mapping[str, str], bytes]
"""First line, headers and body."""


def _native(person: Person, case: tuple[str, str, bytes, Mapping[str, str]]) -> _Parts:
    method, path, body, more = case
    base = urlsplit(person.account_url)
    return f"{method} {base.path}{path} HTTP/1.1\r\n", {"Host": base.netloc, "X-Auth-Token": person.token, **more}, body


def _by_s3(s3: S3Client, case: tuple[str, str, str, bytes]) -> _Parts:
    method, name, query, body = case
    target = f"/{name}" + (f"?{query}" if query else "")
    return f"{method} {target} HTTP/1.1\r\n", s3._signed(method, f"/{name}", query, body, {}), body


def requests(person: Person, s3: S3Client, container: str, chance: random.Random, number: int) -> Iterator[bytes]:
    """Yield this many requests, whole or cut at any byte; `large` is an object beyond any socket's buffer."""
    native, by_s3 = cases(container), s3_cases(container)
    for _ in range(number):
        is_native = chance.random() < 0.6
        parts = _native(person, chance.choice(native)) if is_native else _by_s3(s3, chance.choice(by_s3))
        yield cut(chance, *_written(chance, *parts))


def half_bodies(person: Person, s3: S3Client, container: str) -> Iterator[bytes]:
    """Yield each kind of request that has a body, with half of it."""
    kinds = [_native(person, case) for case in cases(container)] + [_by_s3(s3, case) for case in s3_cases(container)]
    for line, headers, body in kinds:
        if body:
            head = _head(line, {**headers, "Content-Length": str(len(body))})
            yield head + body[: len(body) // 2]


def _head(line: str, headers: Mapping[str, str]) -> bytes:
    return (line + "".join(f"{name}: {value}\r\n" for name, value in headers.items())).encode() + b"\r\n"


def _written(chance: random.Random, line: str, headers: Mapping[str, str], body: bytes) -> tuple[bytes, bytes]:
    coding = chance.choice(["length", "chunked", "Chunked"])
    if coding == "length":
        headers = {**headers, "Content-Length": str(len(body) + chance.choice([0, 0, 50]))}
    else:
        headers = {**headers, "Transfer-Encoding": coding}
        half = len(body) // 2
        pieces = [body[:half], body[half:]] if half else [body]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"
    return _head(line, headers), body


def cut(chance: random.Random, head: bytes, body: bytes) -> bytes:
    """Return a request, a third of the time whole, else up to any byte."""
    whole = head + body
    if chance.random() < 1 / 3:
        return whole
    # Often in the body, which has more ways to end.
    first = len(head) if chance.random() < 0.7 and body else 1
    return whole[: chance.randint(first, len(whole))]


WAYS = ("close", "reset", "reset within", "half")
"""How a connection ends: closed, reset, reset within the answer, closed for sending only."""


def send(address: str, sent: bytes, chance: random.Random, ways: Sequence[str] = WAYS) -> bytes:
    """Send it, and end the connection in one of these ways. Return the response."""
    at = urlsplit(address)
    with socket.create_connection((at.hostname or "", at.port or 0), timeout=30) as line:
        how = chance.choice(ways)
        try:
            line.sendall(sent)
            if how == "half":
                line.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: line.recv(65536), b""))
            if how == "reset within":
                line.settimeout(0.3)  # it may wait for the rest of the request
                line.recv(chance.randint(1, 100_000))
        except (ConnectionError, TimeoutError):
            return b""  # the server refused the beginning and hung up, or waits for more
        if how != "close":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return b""
