"""Requests to an object store that end at a random byte, at every kind of route, by Swift's protocol and by S3's."""

from __future__ import annotations

import io
import json
import random
import socket
import tarfile
from collections.abc import Iterator, Mapping
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
    ]


def requests(person: Person, s3: S3Client, container: str, chance: random.Random, number: int) -> Iterator[bytes]:
    """Yield so many requests that are cut at any byte."""
    native, by_s3 = cases(container), s3_cases(container)
    base = urlsplit(person.account_url)
    for _ in range(number):
        if chance.random() < 0.6:
            method, path, body, more = chance.choice(native)
            headers = {"Host": base.netloc, "X-Auth-Token": person.token, **more}
            target = base.path + path
        else:
            method, name, query, body = chance.choice(by_s3)
            headers = s3._signed(method, f"/{name}", query, body, {})
            target = f"/{name}" + (f"?{query}" if query else "")
        yield _cut(chance, f"{method} {target} HTTP/1.1\r\n", headers, body)


def _cut(chance: random.Random, line: str, headers: Mapping[str, str], body: bytes) -> bytes:
    coding = chance.choice(["length", "chunked", "Chunked"])
    if coding == "length":
        headers = {**headers, "Content-Length": str(len(body) + chance.choice([0, 0, 50]))}
    else:
        headers = {**headers, "Transfer-Encoding": coding}
        half = len(body) // 2
        pieces = [body[:half], body[half:]] if half else [body]
        body = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in pieces if one) + b"0\r\n\r\n"
    head = line + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    whole = head.encode() + b"\r\n" + body
    # Often in the body, which has the more ways to end.
    first = len(head) if chance.random() < 0.7 and body else 1
    return whole[: chance.randint(first, len(whole))]


def send(address: str, sent: bytes, chance: random.Random) -> bytes:
    """Send it, and end the connection: closed, reset, or closed for sending only. Return what came back."""
    at = urlsplit(address)
    with socket.create_connection((at.hostname or "", at.port or 0), timeout=30) as line:
        line.sendall(sent)
        how = chance.choice(["close", "reset", "half"])
        if how == "reset":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        if how != "half":
            return b""
        line.shutdown(socket.SHUT_WR)
        got = b""
        while piece := line.recv(65536):
            got += piece
        return got
