"""No request stores bytes in another form than the rules say: at a real Swift whose rule encrypts one container."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.storage.test_rules import applied
from tests.support.object_store import Person, logged_in
from tests.support.s3 import S3Client, s3_client
from tests.support.whole_storage import TOKEN, Whole

SECRET = b"attack at dawn " * 20_000
RULE = "FOR CONTAINER acme/sealed DO SET ENCRYPTION MANDATORY"


@pytest.fixture
def whole(shared: Whole) -> Iterator[Whole]:
    headers = {"X-Auth-Token": TOKEN}
    with (
        httpx.Client(base_url=shared.url, headers=headers, timeout=60) as http,
        logged_in(shared.store, "acme:ann") as ann,
        applied(http, shared, RULE),
    ):
        for container in ("sealed", "open"):
            ann.put(container)
        yield shared


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


@pytest.fixture
def s3(whole: Whole) -> Iterator[S3Client]:
    with s3_client(whole.store, "acme:ann") as client:
        yield client


def plain_files(whole: Whole) -> set[Path]:
    """The files of the store in which the secret can be read."""
    at = Path(whole.store.directory).rglob("*.data")
    told = SECRET[:60], base64.b64encode(SECRET[:60])
    return {file for file in at if any(data in file.read_bytes() for data in told)}


def large(s3: S3Client, name: str, *, copied_from: str = "") -> None:
    """Upload in two parts; the second is a copy if so."""
    upload = s3.call("POST", name, "uploads=").text.partition("<UploadId>")[2].partition("</UploadId>")[0]
    listed = ""
    for number, body in ((1, SECRET * 18), (2, b"" if copied_from else SECRET)):  # parts have 5 MiB at least
        headers = {"x-amz-copy-source": copied_from} if number == 2 and copied_from else {}
        sent = s3.call("PUT", name, f"partNumber={number}&uploadId={upload}", body, headers)
        assert sent.status_code == 200, sent.text
        etag = sent.headers.get("ETag") or sent.text.partition("<ETag>")[2].partition("</ETag>")[0]
        listed += f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
    whole = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    assert s3.call("POST", name, f"uploadId={upload}", whole).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"X-Symlink-Target": "open/x"}, {"X-Symlink-Target": ""}, {"X-Object-Manifest": "open/none"}]
)
def test_a_header_that_refers_to_others_hides_no_bytes(whole: Whole, ann: Person, headers: dict[str, str]) -> None:
    ann.put("sealed/referring", SECRET, **headers)
    assert plain_files(whole) == set()
    assert ann.call("GET", "sealed/referring?multipart-manifest=get").content == SECRET


def test_a_manifest_with_bytes_of_its_own_is_refused(whole: Whole, ann: Person) -> None:
    ann.put("open/part", b"x" * 2000)
    segments = [{"path": "/open/part"}, {"data": base64.b64encode(SECRET[:600]).decode()}]
    refused = ann.call("PUT", "sealed/inline?multipart-manifest=put", content=json.dumps(segments))
    assert (refused.status_code, "store these bytes as a segment" in refused.text) == (409, True)
    assert plain_files(whole) == set()
    assert ann.call("PUT", "open/inline?multipart-manifest=put", content=json.dumps(segments)).status_code == 201
    assert ann.call("PUT", "sealed/list?multipart-manifest=put", content=json.dumps(segments[:1])).status_code == 201
    copied = ann.call("COPY", "open/inline?multipart-manifest=get", headers={"Destination": "sealed/copied"})
    assert copied.status_code == 409


def test_copies_of_large_objects_are_filtered_as_what_they_are_now(whole: Whole, ann: Person, s3: S3Client) -> None:
    ann.put("open/part", SECRET)
    made = ann.call("PUT", "open/large?multipart-manifest=put", content=json.dumps([{"path": "/open/part"}] * 2))
    assert made.status_code == 201
    large(s3, "open/by-s3")
    before = plain_files(whole)
    assert ann.call("COPY", "open/large", headers={"Destination": "sealed/copy"}).status_code == 201
    assert ann.call("COPY", "sealed/copy", headers={"Destination": "sealed/again"}).status_code == 201
    copied = s3.call("PUT", "sealed/by-s3", headers={"x-amz-copy-source": "/open/by-s3"})
    assert copied.status_code == 200, copied.text
    assert plain_files(whole) == before
    assert ann.call("GET", "sealed/again").content == SECRET * 2
    assert ann.call("GET", "sealed/by-s3").content == SECRET * 19


def test_parts_of_multipart_uploads_follow_the_rules_of_their_bucket(whole: Whole, ann: Person, s3: S3Client) -> None:
    ann.put("open/small", SECRET)
    before = plain_files(whole)
    large(s3, "sealed/one")
    large(s3, "sealed/two", copied_from="/open/small")
    assert plain_files(whole) == before
    assert s3.call("GET", "sealed/one").content == s3.call("GET", "sealed/two").content == SECRET * 19


def test_only_owners_learn_how_an_object_is_stored(ann: Person) -> None:
    ann.put("sealed", **{"X-Container-Read": ".r:*"})
    ann.put("sealed/x", SECRET)
    asked = {"X-Zoe-Why": "yes"}
    assert "acme-" in ann.call("HEAD", "sealed/x", headers=asked).headers["X-Zoe-Why"]
    anybody = httpx.head(f"{ann.account_url}/sealed/x", headers=asked)
    assert anybody.status_code == 200
    assert not {"x-zoe-why", "x-zoe-stored-bytes"} & anybody.headers.keys()
