"""A view of more objects than Swift lists at once."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.storage.test_views import HEADER, WANTED
from tests.support.long import of_storage
from tests.support.object_store import Person, definition, logged_in, object_store

MANY = 10_050  # Swift lists ten thousand at once
AS_JSON = {"Accept": "application/json"}


@of_storage
def test_more_objects_than_one_listing_has_are_all_shown(of_many: Person) -> None:
    ann, names = of_many, [f"data/{number:05d}.csv." for number in range(MANY)]
    # Like clients' paging: first by the default size, then by smaller steps from some marker, then below a name.
    for query, marker, wanted in (
        ("", "", names),
        ("&limit=4000", "", names),
        ("&limit=30", f"{names[-70]}~", names[-69:]),
    ):
        listed = [entry["name"] for entry in pages(ann, f"zoe-view-many?format=json{query}", marker)]
        assert len(listed) == len(wanted)
        assert all(name.startswith(start) for name, start in zip(listed, wanted, strict=True))
    below = pages(ann, "zoe-view-many?format=json&prefix=data/1004")
    assert len(below) == 10
    last = ann.call("GET", f"zoe-view-many/{below[-1]['name']}")
    assert gzip.decompress(last.content) == b"10049,99\n"


@pytest.fixture
def of_many() -> Iterator[Person]:
    """Ann, with a view of many objects, in a store that writes each once only."""
    with object_store(nodes=1, replicas=1) as store, logged_in(store, "acme:ann") as ann:
        ann.put("many")
        answer = ann.call("PUT", "many/2015?extract-archive=tar", content=archive(MANY), headers=AS_JSON, timeout=600)
        assert answer.json()["Number Files Created"] == MANY, answer.text
        with logged_in(store, "controller:controller", ann.account_url) as admin:
            admin.put("zoe-view-many", **definition("many", prefix="2015/", **WANTED))
        yield ann


def archive(total: int) -> bytes:
    """So many small objects."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for number in range(total):
            content = HEADER + f"{number},Nice,99,x\n".encode()
            member = tarfile.TarInfo(f"{number:05d}.csv")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


def pages(person: Person, query: str, marker: str = "") -> list[dict[str, Any]]:
    """All entries after the marker, page by page."""
    found: list[dict[str, Any]] = []
    while page := person.call("GET", f"{query}&marker={marker}").json():
        found += page
        marker = page[-1]["name"]
    return found
