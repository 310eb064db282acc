"""Views of objects of other kinds: no plain CSV, in several parts, encrypted, erasure-coded."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
from collections.abc import Sequence

import pytest

from tests.storage.test_views import HEADER, WANTED, meters
from tests.support.object_store import Person, definition, logged_in, object_store
from tests.support.waiting import until

KINDS = {
    "gzip": (gzip.compress(HEADER), ".csv.gz", "is compressed (gzip)"),
    "gzip by its bytes": (gzip.compress(HEADER), ".csv", "is compressed (gzip)"),
    "bzip2": (bz2.compress(HEADER), ".csv", "is compressed (bzip2)"),
    "xz": (lzma.compress(HEADER), ".csv", "is compressed (xz)"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", ".csv", "is compressed (zstd)"),
    "parquet": (b"PAR1\x15\x04", ".csv", "is Parquet: Spark itself reads only the columns"),
    "orc": (b"ORC\x0a\x03", ".csv", "is ORC"),
    "avro": (b"Obj\x01\x04", ".csv", "is Avro"),
    "of two bytes": ("a,b\n".encode("utf-16"), ".csv", "is UTF-16"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [(), ("id", "city", "kwh", "note")])
def test_object_of_another_kind_is_refused_a_view_with_the_reason(
    ann: Person, admin: Person, kind: str, names: Sequence[str]
) -> None:
    content, suffix, words = KINDS[kind]
    container = f"odd-{os.urandom(4).hex()}"
    ann.put(container)
    ann.put(f"{container}/a{suffix}", content)
    refused = admin.call("PUT", f"zoe-view-{container}", headers=definition(container, names=list(names)))
    assert (refused.status_code, words in refused.text) == (422, True), refused.text


def test_an_object_that_is_no_csv_beside_others_fails_the_read_and_not_silently(ann: Person, admin: Person) -> None:
    ann.put("beside")
    ann.put("beside/a.csv", HEADER + b"1,Nice,95,x\n")
    ann.put("beside/b.csv", gzip.compress(HEADER))
    admin.put("zoe-view-beside", **definition("beside", **WANTED))
    [b] = [entry["name"] for entry in ann.listing("zoe-view-beside") if "b.csv" in entry["name"]]
    answer = ann.call("GET", f"zoe-view-beside/{b}")
    assert (answer.status_code, "is compressed (gzip)" in answer.text) == (422, True)
    ann.put("beside/c.csv.gz", gzip.compress(HEADER))
    until(lambda: ann.call("GET", "zoe-view-beside?format=json").status_code == 422)


def test_a_text_that_begins_like_another_format_is_csv(ann: Person, admin: Person) -> None:
    ann.put("like")
    ann.put("like/a.csv", b"ORCHARD,PAR1\n1,2\n")
    ann.put("like/b.csv", b"PAR1,ORC\n3,4\n")
    admin.put("zoe-view-like", **definition("like"))
    assert ann.view("zoe-view-like") == b"1,2\n3,4\n"


def test_two_attempts_of_one_part_are_not_guessed_at(ann: Person, admin: Person) -> None:
    ann.put("attempts")
    for attempt in (0, 1):
        ann.put(f"attempts/out/part-00000-uuid-attempt_20261121_0001_m_000000_{attempt}.csv", HEADER + b"1,Nice,91,x\n")
    answer = admin.call("PUT", "zoe-view-attempts", headers=definition("attempts", prefix="out", **WANTED))
    assert answer.status_code == 422
    assert "two attempts" in answer.text


def test_segmented_objects_are_filtered_by_the_proxy(ann: Person, admin: Person) -> None:
    content, wanted = meters(3, 3000)
    half = len(content) // 2
    ann.put("segments")
    ann.put("large")
    pieces = {"1": content[:half], "2": content[half:]}
    for name, piece in pieces.items():
        ann.put(f"segments/{name}", piece)
    manifest = [{"path": f"/segments/{name}", "size_bytes": len(piece)} for name, piece in pieces.items()]
    ann.put("large/static.csv?multipart-manifest=put", json.dumps(manifest).encode())
    admin.put("zoe-view-large", **definition("large", split_bytes=2**16, **WANTED))
    assert ann.view("zoe-view-large") == wanted


def test_encrypted_objects_are_filtered_by_the_proxy() -> None:
    content, wanted = meters(6, 5000)
    with object_store(nodes=1, replicas=1, encrypted=True) as store, logged_in(store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/a.csv", content)
        with logged_in(store, "controller:controller", ann.account_url) as admin:
            admin.put("zoe-view-1", **definition("meters", split_bytes=2**16, **WANTED))
        assert ann.view("zoe-view-1") == wanted
        kept = [path.read_bytes() for path in (store.directory / "devices").rglob("*.data")]
    assert kept
    assert not any(b"Nice" in entry for entry in kept)


def test_erasure_coded_objects_are_filtered_by_the_proxy_also_with_a_node_less() -> None:
    """A node has fragments only: none of them is taken for the object, which consists of all of them."""
    content, wanted = meters(7, 40_000)  # more than one segment of a MiB
    with object_store(nodes=3, erasure_coded=True) as store, logged_in(store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/a.csv", content)
        with logged_in(store, "controller:controller", ann.account_url) as admin:
            admin.put("zoe-view-1", **definition("meters", split_bytes=2**18, **WANTED))
        kept = [path.stat().st_size for path in (store.directory / "devices").rglob("*.data")]
        assert len(kept) == 3
        assert max(kept) < 0.6 * len(content)
        assert ann.view("zoe-view-1") == wanted
        os.kill(store.processes["object-2"], signal.SIGKILL)
        assert ann.view("zoe-view-1") == wanted


def test_without_the_filter_of_the_nodes_the_proxy_does_the_work() -> None:
    content, wanted = meters(4, 5000)
    with object_store(filter_at_nodes=False, nodes=1, replicas=1) as store, logged_in(store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/a.csv", content)
        with logged_in(store, "controller:controller", ann.account_url) as admin:
            admin.put("zoe-view-1", **definition("meters", split_bytes=2**16, **WANTED))
        assert ann.view("zoe-view-1") == wanted
