"""Requests by S3's protocol, on a real proxy with `s3api`: held to the same limits, and shown the same views."""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from collections.abc import Iterator

import pytest

from tests.storage.test_bandwidth import account_of
from tests.storage.test_views import HEADER, WANTED, meters
from tests.support.object_store import Person, definition, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.s3 import S3Client, s3_client
from tests.support.s3_calls import check_checksums, check_checksums_of_parts, check_conditions
from tests.support.s3_signing import Signer, Wire
from tests.support.waiting import until
from zoe_embedded.swift.store import ObjectStore

MB = 10**6
SIZE = 8 * MB


@pytest.fixture(scope="module")
def connected() -> Iterator[tuple[ObjectStore, Pusher]]:
    with pushed_store(nodes=1, replicas=1, s3=True) as both:
        yield both


@pytest.fixture
def pusher(connected: tuple[ObjectStore, Pusher]) -> Pusher:
    return connected[1]


@pytest.fixture
def ann(connected: tuple[ObjectStore, Pusher]) -> Iterator[Person]:
    connected[1].push()
    with logged_in(connected[0], "acme:ann") as person:
        yield person


@pytest.fixture
def by_s3(connected: tuple[ObjectStore, Pusher]) -> Iterator[S3Client]:
    with s3_client(connected[0], "acme:ann") as client:
        yield client


def limit(pusher: Pusher, person: Person, **rates: float) -> None:
    pusher.push(**{account_of(person): rates})


def test_reads_and_writes_are_held_to_the_limits_of_the_account(pusher: Pusher, ann: Person, by_s3: S3Client) -> None:
    content = os.urandom(SIZE)
    assert by_s3.call("PUT", "bucket").status_code == 200
    assert by_s3.call("PUT", "bucket/object", content=content).status_code == 200
    limit(pusher, ann, get=2 * MB)
    began_s = time.monotonic()
    assert by_s3.call("GET", "bucket/object").content == content
    assert time.monotonic() - began_s > 3.0, "eight megabytes at two a second, half a second of burst"
    limit(pusher, ann, put=2 * MB)
    began_s = time.monotonic()
    assert by_s3.call("PUT", "bucket/written", content=content).status_code == 200
    assert time.monotonic() - began_s > 3.0
    assert ann.call("GET", "bucket/written").content == content


def test_transfers_count_once_for_the_account(connected: tuple[ObjectStore, Pusher]) -> None:
    """Reports come in sequence: once the last upload is reported, all transfers are."""
    store, pusher = connected
    with s3_client(store, "beta:bob") as bob:
        assert bob.call("PUT", "counted").status_code == 200
        assert bob.call("PUT", "counted/object", content=os.urandom(SIZE)).status_code == 200
        assert len(bob.call("GET", "counted/object").content) == SIZE
        assert bob.call("PUT", "counted/last", content=b"x").status_code == 200

    def told() -> bool:
        pusher.listen()
        return pusher.moved.get(("AUTH_beta", "put"), 0) > SIZE

    until(told)
    assert pusher.moved["AUTH_beta", "put"] == SIZE + 1
    assert SIZE <= pusher.moved["AUTH_beta", "get"] < 1.01 * SIZE
    assert {account for account, _ in pusher.moved} <= {"AUTH_acme", "AUTH_beta"}


def test_parts_of_a_large_upload_are_held_as_well(pusher: Pusher, ann: Person, by_s3: S3Client) -> None:
    by_s3.call("PUT", "parts")
    begun = by_s3.call("POST", "parts/large", "uploads=")
    found = re.search("<UploadId>(.*)</UploadId>", begun.text)
    assert found is not None, begun.text
    content, tags = os.urandom(SIZE), []
    limit(pusher, ann, put=2 * MB)
    began_s = time.monotonic()
    for number, part in enumerate((content[: SIZE - MB], content[SIZE - MB :]), start=1):
        sent = by_s3.call("PUT", "parts/large", f"partNumber={number}&uploadId={found[1]}", part)
        assert sent.status_code == 200, sent.text
        tags.append(f"<Part><PartNumber>{number}</PartNumber><ETag>{sent.headers['ETag']}</ETag></Part>")
    assert time.monotonic() - began_s > 3.0
    whole = f"<CompleteMultipartUpload>{''.join(tags)}</CompleteMultipartUpload>".encode()
    assert by_s3.call("POST", "parts/large", f"uploadId={found[1]}", whole).status_code == 200
    assert by_s3.call("GET", "parts/large").content == content


def test_parts_are_removed_with_their_object(pusher: Pusher, ann: Person, by_s3: S3Client) -> None:
    by_s3.call("PUT", "removed")
    upload = re.search("<UploadId>(.*)</UploadId>", by_s3.call("POST", "removed/object", "uploads=").text)
    assert upload is not None
    part = by_s3.call("PUT", "removed/object", f"partNumber=1&uploadId={upload[1]}", os.urandom(MB))
    body = (
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>"
        f"<ETag>{part.headers['ETag']}</ETag></Part></CompleteMultipartUpload>"
    )
    assert by_s3.call("POST", "removed/object", f"uploadId={upload[1]}", body.encode()).status_code == 200
    assert len(ann.listing("removed+segments")) == 1
    assert by_s3.call("DELETE", "removed/object").status_code == 204
    assert ann.listing("removed+segments") == []


def test_a_large_object_has_up_to_ten_thousand_parts(ann: Person, by_s3: S3Client) -> None:
    by_s3.call("PUT", "many")
    upload = re.search("<UploadId>(.*)</UploadId>", by_s3.call("POST", "many/object", "uploads=").text)
    assert upload is not None
    statuses = [
        by_s3.call("PUT", "many/object", f"partNumber={number}&uploadId={upload[1]}", b"x").status_code
        for number in (1001, 10_000, 10_001)
    ]
    assert statuses == [200, 200, 400]
    ann.put("many/part", b"x")
    manifest = json.dumps([{"path": "/many/part"}] * 1001).encode()
    assert ann.call("PUT", "many/whole?multipart-manifest=put", content=manifest).status_code == 201
    assert by_s3.call("HEAD", "many/whole").headers["Content-Length"] == "1001", "reads of tiny parts are slowed down"


def test_a_sub_resource_without_an_answer_is_never_the_object(by_s3: S3Client) -> None:
    by_s3.call("PUT", "settings")
    assert by_s3.call("PUT", "settings/object", content=b"content").status_code == 200
    for method, path, query in (
        ("GET", "settings/object", "attributes="),
        ("PUT", "settings/object", "retention="),
        ("DELETE", "settings", "lifecycle="),
    ):
        answer = by_s3.call(method, path, query, b"<Retention/>" if method == "PUT" else b"")
        assert (answer.status_code, "<Code>NotImplemented</Code>" in answer.text) == (501, True), answer.text
    assert by_s3.call("GET", "settings/object").content == b"content"


def test_checksums_are_kept_and_shown(by_s3: S3Client) -> None:
    check_checksums(by_s3, "sums")


def test_checksums_of_parts_make_that_of_the_whole(by_s3: S3Client) -> None:
    check_checksums_of_parts(by_s3, "part-sums")


def test_what_cannot_be_read_is_refused_with_its_name(by_s3: S3Client) -> None:
    by_s3.call("PUT", "refused")
    for query in ("continuation-token=%21&list-type=2", "list-type=x"):
        answer = by_s3.call("GET", "refused", query)
        assert (answer.status_code, "<Code>InvalidArgument</Code>" in answer.text) == (400, True), answer.text
        assert f"<ArgumentName>{query.partition('=')[0]}</ArgumentName>" in answer.text
    headers = {"x-amz-checksum-crc32": "AAAAAA==", "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
    answer = by_s3.call("PUT", "refused/object", content=iter([b"without a length"]), headers=headers)
    assert answer.status_code == 411, answer.text


def test_writes_and_ranges_have_conditions(by_s3: S3Client) -> None:
    check_conditions(by_s3, "conditions")


def test_a_view_is_filtered_or_refused_and_never_plain(
    connected: tuple[ObjectStore, Pusher], ann: Person, by_s3: S3Client
) -> None:
    content, wanted = meters(8, 8000)
    ann.put("meters")
    ann.put("meters/2015/a.csv", content)
    with logged_in(connected[0], "controller:controller", ann.account_url) as admin:
        admin.put("zoe-view-s3", **definition("meters", prefix="2015/", split_bytes=2**16, **WANTED))
    listed = by_s3.call("GET", "zoe-view-s3")
    names = re.findall("<Key>(.*?)</Key>", listed.text)
    assert names == [entry["name"] for entry in ann.listing("zoe-view-s3")]
    parts = [by_s3.call("GET", f"zoe-view-s3/{name}") for name in names]
    assert {part.status_code for part in parts} == {200}
    assert b"".join(gzip.decompress(part.content) for part in parts) == wanted
    rest = by_s3.call("GET", f"zoe-view-s3/{names[0]}", headers={"Range": "bytes=10-"})
    assert (rest.status_code, rest.content) == (206, parts[0].content[10:])
    assert by_s3.call("HEAD", f"zoe-view-s3/{names[0]}").status_code == 200
    for method, path, headers in (
        ("GET", "zoe-view-s3/data/2015/a.csv", {}),
        ("GET", "zoe-view-s3/2015/a.csv", {}),
        ("PUT", f"zoe-view-s3/{names[0]}", {}),
        ("DELETE", f"zoe-view-s3/{names[0]}", {}),
        ("PUT", "meters/copy", {"x-amz-copy-source": "/zoe-view-s3/2015/a.csv"}),
    ):
        refused = by_s3.call(method, path, headers=headers)
        assert refused.status_code in (400, 404), (method, path, refused.status_code, refused.text)
        assert refused.status_code == 404 or "views are read-only" in refused.text
    selection = {"X-Backend-Zoe-Selection": "{}", "X-Zoe-View": '{"container": "meters"}'}
    assert by_s3.call("GET", "meters/2015/a.csv", headers=selection).content == content
    with s3_client(connected[0], "beta:bob") as bob:
        assert bob.call("GET", f"zoe-view-s3/{names[0]}").status_code == 404, "it is looked for in his own account"
    ann.put("meters/2015/a.csv", meters(9, 10)[0])
    changed = by_s3.call("GET", f"zoe-view-s3/{names[0]}")
    assert (changed.status_code, "the object has changed since it was listed" in changed.text) == (400, True)
    ann.put("meters/2015/a.csv", gzip.compress(HEADER))
    [broken] = re.findall("<Key>(.*?)</Key>", by_s3.call("GET", "zoe-view-s3").text)
    refused = by_s3.call("GET", f"zoe-view-s3/{broken}")
    assert (refused.status_code, "the object is compressed (gzip)" in refused.text) == (400, True)


def test_a_url_to_upload_does_nothing_else(by_s3: S3Client, ann: Person) -> None:
    """The rules are those of `test_s3_signed.py`; here they stand before a real proxy's own server."""
    place = by_s3.address.partition("//")[2]
    for bucket in ("private", "inbox"):
        assert by_s3.call("PUT", bucket).status_code == 200
    ann.put("private/secret", b"secret")
    wire = Wire("PUT", "/inbox/upload", headers=(("Host", place),))
    url = Signer(by_s3.access_key, by_s3.secret).url(wire).target
    for header in (("x-amz-copy-source", "/private/secret"), ("X-Copy-From", "private/secret")):
        refused = by_s3.http.put(f"{by_s3.address}{url}", headers=[header])
        assert (refused.status_code, "<HeadersNotSigned>" in refused.text) == (403, True), refused.text
    assert by_s3.http.put(f"{by_s3.address}{url}", content=b"hello").status_code == 200
    assert by_s3.call("GET", "inbox/upload").content == b"hello"
