"""Requests that read another object with a failure before its end: an error message for the client, a line in the
log.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from storage_filters.transforms.encryption import MARK, SEGMENT_BYTES
from tests.storage.test_requests_that_break_off import WRONG
from tests.storage.test_rules import applied
from tests.support.object_store import Person, logged_in
from tests.support.s3 import S3Client, s3_client
from tests.support.stored_files import flip, newest_file, truncate
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole

SIZE = 5 * SEGMENT_BYTES
CUT_BYTES = len(MARK) + 2 * (SEGMENT_BYTES + 16)
"""Of an encrypted object: at the end of a segment, which is not its last one."""
DAMAGED = re.compile(r"is damaged: |cannot copy to ")
TO = {"Destination": "into/copy"}
FROM = {"x-amz-copy-source": "/from/cut"}


@dataclass(frozen=True)
class Site:
    """Ann, with objects that are cut in the middle, and one of two segments of which the second is."""

    whole: Whole
    ann: Person
    s3: S3Client

    def lines(self, before: int) -> list[str]:
        """Return the lines that the proxy has logged since, complete."""
        self.ann.call("HEAD", "into/last")
        until(lambda: "/into/last" in self.whole.store.log_of("proxy")[before:])
        return self.whole.store.log_of("proxy")[before:].splitlines()


@pytest.fixture
def site(shared: Whole) -> Iterator[Site]:
    with (
        httpx.Client(base_url=shared.url, headers={"X-Auth-Token": TOKEN}, timeout=60) as http,
        logged_in(shared.store, "acme:ann") as ann,
        s3_client(shared.store, "acme:ann") as s3,
    ):
        for container in ("from", "into", "into+segments"):
            ann.put(container)
        with applied(http, shared, "FOR CONTAINER acme/from DO SET ENCRYPTION"):
            for name in ("part-0", "part-1", "cut"):
                ann.put(f"from/{name}", os.urandom(SIZE))
                if name != "part-0":
                    truncate(newest_file(shared.store), CUT_BYTES)
            etags = [ann.call("HEAD", f"from/part-{entry}").headers["Etag"] for entry in (0, 1)]
            parts = [{"path": f"from/part-{entry}", "etag": etags[entry]} for entry in (0, 1)]
            ann.put("from/static?multipart-manifest=put", json.dumps(parts).encode())
            ann.put("from/dynamic", **{"X-Object-Manifest": "from/part-"})
            ann.put("into/flipped", bytes(SIZE))
            flip(newest_file(shared.store), SIZE // 2)
            yield Site(shared, ann, s3)


def part_copied(one: Site, **more: str) -> httpx.Response:
    found = re.search("<UploadId>(.*)</UploadId>", one.s3.call("POST", "into/x", "uploads=").text)
    assert found is not None
    return one.s3.call("PUT", "into/x", f"partNumber=1&uploadId={found[1]}", headers=FROM | more)


CASES: dict[str, tuple[int, Callable[[Site], httpx.Response]]] = {
    "COPY": (422, lambda site: site.ann.call("COPY", "from/cut", headers=TO)),
    "a part": (422, lambda site: site.ann.call("COPY", "from/cut", headers=TO | {"Range": f"bytes=5-{SIZE - 9}"})),
    "PUT": (422, lambda site: site.ann.call("PUT", "into/copy", headers={"X-Copy-From": "from/cut"})),
    "with a heartbeat": (202, lambda site: site.ann.call("COPY", "from/cut?heartbeat=on", headers=TO)),
    "to where it is encrypted": (
        422,
        lambda site: site.ann.call("COPY", "from/cut", headers={"Destination": "from/x"}),
    ),
    "segments": (422, lambda site: site.ann.call("COPY", "from/static", headers=TO)),
    "segments by prefix": (422, lambda site: site.ann.call("COPY", "from/dynamic", headers=TO)),
    "S3": (400, lambda site: site.s3.call("PUT", "into/copy", headers=FROM)),
    "S3, a part": (400, part_copied),
    "S3, a range": (400, lambda site: part_copied(site, **{"x-amz-copy-source-range": f"bytes=5-{SIZE - 9}"})),
}


def test_the_client_learns_why_and_the_log_has_a_line(site: Site) -> None:
    """They were answered 500, with a traceback or two in the log."""
    for name, (status, call) in CASES.items():
        before = len(site.whole.store.log_of("proxy"))
        answer, lines = call(site), site.lines(before)
        assert answer.status_code == status, (name, answer.text)
        assert "the stored object is damaged: " in answer.text, (name, answer.text)
        assert not any("500" in line for line in answer.text.splitlines() if "Status" in line), answer.text
        assert [line for line in lines if WRONG.search(line) and "s3:err:" not in line] == [], name
        assert len([line for line in lines if DAMAGED.search(line)]) == 1, (name, lines)
    assert site.ann.call("HEAD", "into/copy").status_code == 404


def test_s3_answers_a_damaged_object_with_a_sentence(site: Site) -> None:
    truncate(newest_file(site.whole.store, "from/cut"), CUT_BYTES // 3)
    for answer in (site.s3.call("GET", "from/cut"), site.s3.call("PUT", "into/copy", headers=FROM)):
        assert (answer.status_code, "<Code>InvalidRequest</Code>" in answer.text) == (400, True), answer.text
        assert "the stored object is damaged: segment 0 has changed since it was encrypted" in answer.text


def test_a_plain_object_that_is_not_what_was_put_is_not_copied(site: Site) -> None:
    """The store compares its checksum; s3api turned its answer into 500."""
    answer = site.s3.call("PUT", "into/copy", headers={"x-amz-copy-source": "/into/flipped"})
    assert (answer.status_code, "it differs from the original" in answer.text) == (400, True), answer.text


def test_a_missing_segment_is_said(site: Site) -> None:
    """It was 499, as if the client had disconnected."""
    site.ann.call("DELETE", "from/part-1")
    answer = site.ann.call("COPY", "from/static", headers=TO)
    assert (answer.status_code, "bytes are missing at its end" in answer.text) == (422, True), answer.text
