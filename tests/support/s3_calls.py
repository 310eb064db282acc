"""Checks of conditions and checksums of S3, for each kind of store behind `s3api`."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from concurrent.futures import ThreadPoolExecutor

from tests.support.s3 import S3Client

SHOW = {"x-amz-checksum-mode": "ENABLED"}
PART = 5 * 2**20
_WRITERS = 6


def crc32(content: bytes) -> str:
    return base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def check_checksums(client: S3Client, bucket: str) -> None:
    """A checksum in a header or behind the body is compared, kept, and shown to those who ask, with the whole alone."""
    content = b"content of the object"
    path, sha256 = f"{bucket}/object", base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert client.call("PUT", bucket).status_code == 200
    stored = client.call("PUT", path, content=content, headers={"x-amz-checksum-sha256": sha256})
    assert (stored.status_code, stored.headers["x-amz-checksum-sha256"]) == (200, sha256), stored.text
    for method in ("GET", "HEAD"):
        assert client.call(method, path, headers=SHOW).headers["x-amz-checksum-sha256"] == sha256
        for headers in ({}, {**SHOW, "range": "bytes=1-3"}):
            assert "x-amz-checksum-sha256" not in client.call(method, path, headers=headers).headers
    wrong = client.call("PUT", path, content=content + b"x", headers={"x-amz-checksum-sha256": sha256})
    assert (wrong.status_code, "<Code>BadDigest</Code>" in wrong.text) == (400, True), wrong.text
    assert client.call("GET", path).content == content
    assert put_with_trailer(client, path, content + b"x", "AAAAAA==") == 400
    assert client.call("GET", path).content == content
    assert put_with_trailer(client, path, content + b"x", crc32(content + b"x")) == 200
    found = client.call("GET", path, headers=SHOW)
    assert (found.content, found.headers["x-amz-checksum-crc32"]) == (content + b"x", crc32(content + b"x"))
    assert "x-amz-checksum-sha256" not in found.headers, "it was of the object before"
    copied = client.call("PUT", f"{bucket}/copy", headers={"x-amz-copy-source": f"/{path}"})
    assert copied.status_code == 200, copied.text
    found = client.call("GET", f"{bucket}/copy", headers=SHOW)
    assert (found.content, "x-amz-checksum-crc32" in found.headers) == (content + b"x", False)


def put_with_trailer(client: S3Client, path: str, content: bytes, checksum: str) -> int:
    """Store a body as SDKs do by default, with its CRC32 behind it, and return the status."""
    body = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n" % (len(content), content, checksum.encode())
    headers = {
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "x-amz-decoded-content-length": str(len(content)),
        "x-amz-trailer": "x-amz-checksum-crc32",
        "content-encoding": "aws-chunked",
    }
    return client.call("PUT", path, content=body, headers=headers).status_code


def check_checksums_of_parts(client: S3Client, bucket: str) -> None:
    """The checksum of a large object is made from those of its parts, and compared with the one that is expected."""
    assert client.call("PUT", bucket).status_code == 200
    contents = [b"a" * PART, b"bc"]
    digests = b"".join(base64.b64decode(crc32(content)) for content in contents)
    for kind, value in (("FULL_OBJECT", crc32(b"".join(contents))), ("COMPOSITE", f"{crc32(digests)}-2")):
        path = f"{bucket}/{kind}"
        wanted = {"x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": kind}
        begun = client.call("POST", path, "uploads=", headers=wanted)
        assert (begun.status_code, begun.headers["x-amz-checksum-type"]) == (200, kind), begun.text
        upload = begun.text.partition("<UploadId>")[2].partition("<")[0]
        refused = client.call(
            "PUT",
            path,
            f"partNumber=1&uploadId={upload}",
            b"x",
            {"x-amz-checksum-sha1": "EfatjsUqKYSrqvZPhwu5dOpLO2M="},
        )
        assert (refused.status_code, "expected checksum Type: crc32" in refused.text) == (400, True), refused.text
        body = _parts(client, path, upload, contents)
        for expected, status in (("AAAAAA==", 400), (value, 200), (value, 200)):
            done = client.call("POST", path, f"uploadId={upload}", body, {"x-amz-checksum-crc32": expected})
            assert done.status_code == status, done.text
        assert re.search("<ChecksumCRC32>(.*)</ChecksumCRC32>", done.text)[1] == value  # type: ignore[index]
        shown = client.call("HEAD", path, headers=SHOW).headers
        assert (shown["x-amz-checksum-crc32"], shown["x-amz-checksum-type"]) == (value, kind)


def _parts(client: S3Client, path: str, upload: str, contents: list[bytes]) -> bytes:
    parts = ""
    for number, content in enumerate(contents, start=1):
        sent = client.call(
            "PUT", path, f"partNumber={number}&uploadId={upload}", content, {"x-amz-checksum-crc32": crc32(content)}
        )
        assert (sent.status_code, sent.headers["x-amz-checksum-crc32"]) == (200, crc32(content)), sent.text
        parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{sent.headers['etag']}</ETag></Part>"
    return f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()


def check_conditions(client: S3Client, bucket: str) -> None:
    """Writes under conditions, and `If-Range`."""
    path = f"{bucket}/object"
    assert client.call("PUT", bucket).status_code == 200

    def ask(method: str, content: bytes = b"", **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.call(method, path, content=content, headers=named).status_code

    assert ask("PUT", b"new", if_match='"aa"') == 404
    assert ask("PUT", b"one", if_none_match="*") == 200
    etag = client.call("HEAD", path).headers["etag"]
    assert ask("PUT", b"new", if_none_match="*") == 412
    assert ask("PUT", b"new", if_none_match=etag) == 412
    assert ask("PUT", b"new", if_match='"aa"') == 412
    assert client.call("GET", path).content == b"one"
    assert ask("PUT", b"other", if_match=etag) == 200
    found = client.call("GET", path, headers={"range": "bytes=1-2", "if-range": etag})
    assert (found.status_code, found.content) == (200, b"other"), "the object has changed: all of it is sent"
    for fitting in (found.headers["etag"], found.headers["last-modified"]):
        found = client.call("GET", path, headers={"range": "bytes=1-2", "if-range": fitting})
        assert (found.status_code, found.content) == (206, b"th")
    assert client.call("GET", path, headers={"range": "bytes=90-", "if-range": etag}).status_code == 200
    assert ask("DELETE", if_match=etag) == 412
    assert ask("DELETE", x_amz_if_match_size="4") == 412
    assert ask("DELETE", if_match=client.call("HEAD", path).headers["etag"], x_amz_if_match_size="5") == 204
    assert ask("DELETE", if_match=etag) == 204, "there is nothing to remove"


def writers_that_succeed(client: S3Client, bucket: str) -> int:
    """Return how many of several concurrent writers that know the same object replace it."""
    path = f"{bucket}/contended"
    client.call("PUT", bucket)
    client.call("PUT", path, content=b"first")
    etag = client.call("HEAD", path).headers["etag"]

    def replace(number: int) -> int:
        return client.call("PUT", path, content=b"%d" % number, headers={"if-match": etag}).status_code

    with ThreadPoolExecutor(_WRITERS) as pool:
        statuses = list(pool.map(replace, range(_WRITERS)))
    assert set(statuses) <= {200, 412}, statuses
    return statuses.count(200)
