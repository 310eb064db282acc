"""S3 requests through Swift's own filters in the shipped order: unsigned parts are refused, or have no effect."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage_filters.s3_signed.signatures import V2_QUERY
from tests.support.s3_signing import HOST, Signer, Wire
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.environment import ensure_swift
from zoe_embedded.swift.templates import PROXY_PIPELINE

USERS = {"user_acme_ann": "the-key .admin"}
SECRET = "a secret of executions of enough characters"
ANN = Signer("acme:ann", "the-key")
# Elements of the shipped pipeline that act on no request of S3, or need more than this one process.
LEFT_OUT = ("zoe_framing", "healthcheck", "proxy-logging", "cache", "proxy-server")
MORE = {"dlo": "dlo versioned_writes symlink"}
Asked = tuple[int, str, list[Any]]
Ask = Callable[[Wire | str], Any]


def shipped() -> list[str]:
    """The names of the filters, in the order of the embedded Swift's proxy."""
    text = PROXY_PIPELINE.format(
        endpoints="",
        signed="zoe_s3_signed ",
        calls="zoe_s3_calls ",
        listings="",
        s3="s3api ",
        executions="zoe_executions ",
        bandwidth="zoe_bandwidth ",
        views="zoe_views ",
        quotas="zoe_quotas ",
        rules="",
        encryption="",
    )
    return [name for part in text.split() if part not in LEFT_OUT for name in MORE.get(part, part).split()]


def answering(pipeline: list[str], directory: Path, **more: Any) -> Generator[Ask]:
    (directory / "secret").write_text(f"{SECRET}\n")
    settings = {"pipeline": pipeline, "users": USERS, "directory": str(directory), **more}
    python = ensure_swift(Home.find(CLONE).create()) / "bin" / "python"
    command = [str(python), "-P", str(CLONE / "tests/support/s3_pipeline.py"), json.dumps(settings)]
    pipe = subprocess.PIPE
    environment = {"PYTHONPATH": str(CLONE), "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(wanted: Wire | str) -> Any:
            stdin.write(json.dumps(wanted if isinstance(wanted, str) else wanted.document()) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield ask
        stdin.close()
        process.wait(30)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    yield from answering(shipped(), tmp_path_factory.mktemp("swift"))


UPLOAD = Wire("PUT", "/inbox/upload")
EXPLOITS = (
    ("x-amz-copy-source", "/private/secret"),
    ("X-Copy-From", "private/secret"),
    ("X-Object-Manifest", "private/s"),
    ("x-amz-acl", "public-read"),
    ("X-Delete-After", "1"),
    ("x-amz-meta-owner", "mallory"),
    ("X-Object-Meta-Owner", "mallory"),
    ("X-Symlink-Target", "private/secret"),
    ("Content-Type", "text/html"),
)


def test_the_order_that_is_shipped_has_the_filter_before_all_that_reads_queries() -> None:
    names = shipped()
    for later in ("listing_formats", "bulk", "s3api", "zoe_executions", "tempauth"):
        assert names.index("zoe_s3_signed") < names.index(later)


@pytest.mark.parametrize("name", [name for name, _ in EXPLOITS])
def test_a_presigned_upload_does_nothing_that_was_not_signed(ask: Ask, name: str) -> None:
    header = (name, dict(EXPLOITS)[name])
    for wire in (ANN.url(UPLOAD), ANN.header(UPLOAD), ANN.url(Wire("PUT", "/inbox"))):
        status, text, seen = ask(wire)
        assert (status, len(seen) > 0) == (200, True), text
        status, text, seen = ask(wire.plus(header))
        assert (status, seen) == (403, []), (header, text)
        assert "<Code>AccessDenied</Code>" in text
        assert f"<HeadersNotSigned>{name.lower()}</HeadersNotSigned>" in text


def test_a_pipeline_without_the_filter_is_named_once_in_the_log(ask: Ask, tmp_path: Path) -> None:
    def lines(ask: Ask) -> list[str]:
        for wire in (ANN.url(UPLOAD), ANN.header(UPLOAD)):
            assert ask(wire)[0] == 200
        return [line for line in ask("ERRORS") if "put zoe_s3_signed before s3api" in line]

    assert lines(ask) == []
    with closing(answering([name for name in shipped() if name != "zoe_s3_signed"], tmp_path)) as answers:
        assert len(lines(next(answers))) == 1


def test_signed_part_takes_effect(ask: Ask) -> None:
    for name, value in EXPLOITS:
        for wire in (ANN.url(UPLOAD, (name, value)), ANN.header(UPLOAD, (name, value))):
            status, text, _ = ask(wire)
            assert status == 200, (name, text)


def test_version_2_lets_nothing_of_swift_in(ask: Ask) -> None:
    for wire in (ANN.url_v2(UPLOAD), ANN.header_v2(UPLOAD)):
        assert ask(wire)[0] == 200
        for header in (("X-Copy-From", "private/secret"), ("X-Object-Manifest", "private/s"), ("X_Amz_Acl", "private")):
            status, text, seen = ask(wire.plus(header))
            assert (status, seen) == (403, []), (header, text)
        for header in (("x-amz-copy-source", "/private/secret"), ("x-amz-acl", "public-read"), ("Content-Type", "a/b")):
            status, text, seen = ask(wire.plus(header))
            assert (status, "SignatureDoesNotMatch" in text) == (403, True), (header, text)
            assert not [entry for entry in seen if entry[0] != "HEAD"], "version 2 covers these by itself"
        status, text, seen = ask(wire.plus(query=(("multipart-manifest", "put"),)))
        assert (status, seen) == (403, []), text
    assert ask("V2") == sorted(V2_QUERY), "of this Swift"


def test_a_signature_in_a_header_is_not_moved_into_a_url_that_never_ends(ask: Ask) -> None:
    """s3api reads the key from the query, and the date from the header."""
    wire = ANN.header_v2(Wire("GET", "/inbox/upload"))
    line = dict(wire.headers)["Authorization"]
    signature = line.rpartition(":")[2]
    moved = wire.plus(query=(("AWSAccessKeyId", "acme:ann"), ("Expires", "2147483000"), ("Signature", signature)))
    status, text, seen = ask(moved)
    assert (status, seen) == (400, []), text
    assert "<Code>InvalidArgument</Code>" in text


def test_host_date_and_single_parameters(ask: Ask) -> None:
    get = Wire("GET", "/inbox/upload")
    assert ask(ANN.url(get))[0] == 200
    status, text, _ = ask(ANN.url(get, ("x-amz-meta-a", "1"), names="x-amz-meta-a"))
    assert (status, "host must be signed" in text) == (403, True)
    later = Signer("acme:ann", "the-key", at_s=time.time() + 3600)
    status, text, _ = ask(later.url(get))
    assert (status, "not valid yet" in text) == (403, True)
    for query in ((("versionId", "a"), ("versionId", "b")), (("X-Amz-Date", "20260101T000000Z"),)):
        assert ask(ANN.url(get).plus(query=query))[0] == 400
    for header in (("X-Auth-Token", "AUTH_tk1"), ("Authorization", "AWS acme:ann:x"), ("X-Service-Token", "AUTH_tk")):
        assert ask(ANN.url(get).plus(header))[0] == 400, header


def test_a_user_agent_does_not_change_what_the_host_is(ask: Ask) -> None:
    """s3api leaves the port out for old clients; the URL would be valid at each port of the host."""
    url = ANN.url(Wire("GET", "/inbox/upload"))
    moved = replace(url, headers=(("Host", f"{HOST}:8080"), ("User-Agent", "Boto/2.9.2")))
    status, text, seen = ask(moved)
    assert (status, seen) == (403, []), text
    assert "signs the host without its port" in text


def test_an_upload_without_an_id_is_an_error(ask: Ask) -> None:
    for method, query in (("DELETE", ()), ("POST", ()), ("GET", ()), ("PUT", (("partNumber", "1"),))):
        status, text, seen = ask(ANN.url(Wire(method, "/inbox/upload", (*query, ("uploadId", "")))))
        assert (status, seen) == (400, []), text


def chunked(size: str, length: str = "5") -> Wire:
    body = f"{size}\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"
    signed = (
        ("x-amz-decoded-content-length", length),
        ("x-amz-trailer", "x-amz-checksum-crc32"),
        ("content-encoding", "aws-chunked"),
    )
    wire = Wire("PUT", "/inbox/upload", body=body)
    return ANN.header(wire, *signed, digest="STREAMING-UNSIGNED-PAYLOAD-TRAILER")


def test_chunks_have_sizes_as_the_book_says(ask: Ask) -> None:
    status, text, seen = ask(chunked("5"))
    assert (status, seen[-1][4]) == (200, "hello"), text
    for size in ("+5", "0x5", "0X5", "0_5", " 5", "5 ", "-0", "5;" + "a" * 2000):
        status, text, _ = ask(chunked(size))
        assert (status, "<Code>IncompleteBody</Code>" in text) == (400, True), (size, text)
    for length in ("+5", "0_5", " 5"):
        assert ask(chunked("5", length))[0] in (400, 403), length


# How a request travels, under which conditions, and which part of the answer is wanted; and headers of answers.
PLAIN = frozenset(
    (
        *(f"access-control-allow-{name}" for name in ("headers", "methods", "origin")),
        *(f"access-control-{name}" for name in ("expose-headers", "max-age", "request-headers", "request-method")),
        *("accept-ranges", "cache-control", "connection", "content-length", "content-location", "content-md5"),
        *("content-range", "date", "expect", "if-match", "if-modified-since", "if-none-match", "if-range"),
        *("if-unmodified-since", "last-modified", "location", "origin", "range", "referer", "transfer-encoding"),
        *("user-agent", "vary"),
    )
)
# Their values arrive at the store, where nothing reads them in such a request.
ON_THE_WAY = {"x-cluster-client-ip", "x-forwarded-for"}
OF_CONTENTS = {"content-disposition", "content-encoding", "content-language", "content-type", "expires"}


def signed_requests() -> Iterator[Wire]:
    """Yield a request of each kind, signed when it is taken: a signature expires after ten minutes."""
    yield ANN.url(Wire("GET", "/inbox/upload"))
    yield ANN.url(Wire("PUT", "/inbox/upload", body="x"))
    yield ANN.url(Wire("PUT", "/inbox"))
    yield ANN.url(Wire("POST", "/inbox/upload", (("uploads", ""),)))
    yield ANN.url(Wire("DELETE", "/inbox/upload"))
    yield ANN.header(Wire("PUT", "/inbox/upload", body="x"))
    yield ANN.header(Wire("GET", "/inbox"))


def told(seen: list[Any], names: set[str]) -> list[Any]:
    """Return the requests at the store, without the names of an upload, and without the header itself."""
    text = json.dumps([[*entry[:3], {k: v for k, v in entry[3].items() if k not in names}, entry[4]] for entry in seen])
    return list(json.loads(re.sub(r"[\w-]{40,}", "", text)))


def environ_key(name: str) -> str:
    return "CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"


def value_for(name: str) -> str:
    return {"x-amz-copy-source": "/private/secret", "x-copy-from": "private/secret", "host": "other"}.get(name, "1")


def test_unsigned_part_has_no_effect_in_any_filter(ask: Ask) -> None:
    """Names are collected from the filters and from Swift's proxy; each is added to requests of each kind."""
    collected = ask("NAMES")
    headers = sorted({name for name in collected if not name.startswith("?")} - PLAIN)
    parameters = sorted(name[1:] for name in collected if name.startswith("?"))
    assert len(headers) > 150
    assert {"x-zoe-view", "x-copy-from", "x-object-manifest", "x-delete-after", "x-storage-policy"} <= set(headers)
    assert {"multipart-manifest", "extract-archive", "format", "uploadId", "version-id"} <= set(parameters)
    for signed in signed_requests():
        status, text, before = ask(signed)
        assert status < 300, text
        for name in headers:
            status, text, seen = ask(signed.plus((name, value_for(name))))
            may_arrive = ON_THE_WAY | (OF_CONTENTS if signed.method in ("GET", "DELETE") else set())
            without = {environ_key(name)} if name in may_arrive else set()
            assert status in (400, 403) or told(seen, without) == told(before, without), (signed, name, text)
        for name in parameters:
            status, text, seen = ask(signed.plus(query=((name, "1"),)))
            # s3api answers ?tagging of a GET by an empty list of its own, also to strangers.
            done = [entry for entry in seen if entry[0] != "HEAD"]
            assert (status >= 400 or name == "tagging", done) == (True, []), (signed, name, text)


def test_the_host_of_the_test_is_signed() -> None:
    assert ("X-Amz-SignedHeaders", "host") in ANN.url(UPLOAD).query
    assert dict(ANN.url(UPLOAD).headers)["Host"] == HOST
