"""Headers of middleware go through a store that keeps metadata of users alone, and come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.kept_headers import PART_LENGTH, PARTS_MAX, TooLong, from_store, kept_after_post, to_store

VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=900)
NAMES = {
    "account": ["X-Account-Sysmeta-Core-Access-Control"],
    "container": [
        "X-Container-Read",
        "X-Container-Write",
        "X-Container-Sysmeta-S3Api-Acl",
        "X-Versions-Location",
        "X-Container-Meta-Quota-Bytes",
    ],
    "object": [
        "X-Object-Sysmeta-Slo-Etag",
        "X-Object-Transient-Sysmeta-A",
        "X-Static-Large-Object",
        "X-Object-Manifest",
    ],
}


@given(st.sampled_from(sorted(NAMES)), st.data())
def test_headers_come_back_unchanged(kind: str, data: st.DataObject) -> None:
    kept = data.draw(st.dictionaries(st.sampled_from(NAMES[kind]), VALUES.filter(bool)))
    plain = {f"X-{kind.title()}-Meta-Colour": "blue", "Content-Type": "text/plain"}
    sent = to_store(kind, {**kept, **plain})
    stored = {name: value for name, value in sent.items() if not name.startswith("X-Remove-")}
    for name, value in stored.items():
        if name not in plain:
            assert name.lower().startswith(f"x-{kind}-meta-zoe-gateway-")
            assert len(value) <= PART_LENGTH
            assert value.strip() == value, "a store may strip blanks at the ends"
    found = {name.lower(): value for name, value in from_store(kind, stored).items()}
    assert found == {name.lower(): value for name, value in (kept | plain).items()}


def test_a_shorter_value_removes_the_rest_of_a_longer_one() -> None:
    sent = to_store("container", {"X-Container-Read": "a" * (PART_LENGTH + 1)})
    assert [name for name in sent if not name.startswith("X-Remove")] == [
        "X-Container-Meta-Zoe-Gateway-0-Container-Read",
        "X-Container-Meta-Zoe-Gateway-1-Container-Read",
    ]
    shorter = to_store("container", {"X-Container-Read": "a"})
    assert "X-Remove-Container-Meta-Zoe-Gateway-1-Container-Read" in shorter
    removed = to_store("container", {"X-Container-Read": ""})
    assert len(removed) == PARTS_MAX
    assert all(name.startswith("X-Remove-") for name in removed)


def test_too_long_header_is_refused() -> None:
    with pytest.raises(TooLong, match="X-Container-Read is longer than"):
        to_store("container", {"X-Container-Read": "a" * (PART_LENGTH * PARTS_MAX + 1)})


@pytest.mark.parametrize("prefix", ["X-Object-Meta-Zoe-Gateway-", "x-remove-object-meta-ZOE-gateway-"])
def test_clients_neither_set_nor_remove_what_is_kept(prefix: str) -> None:
    assert to_store("object", {f"{prefix}0-Static-Large-Object": "True"}) == {}


def test_parts_that_nobody_wrote_are_no_headers() -> None:
    odd = {"X-Object-Meta-Zoe-Gateway-": "a", "X-Object-Meta-Zoe-Gateway-x-Y": "b", "X-Object-Meta-Zoe-Gateway-1": "c"}
    assert from_store("object", odd) == {}


def test_headers_of_the_store_itself_are_dropped() -> None:
    assert from_store("object", {"X-Static-Large-Object": "True", "X-Object-Manifest": "c/p", "Etag": "e"}) == {
        "Etag": "e"
    }
    assert from_store("container", {"X-Container-Read": ".r:*"}) == {}


def test_after_a_post_the_notes_of_middleware_stay_and_those_of_users_go() -> None:
    found = {
        "X-Object-Sysmeta-Slo-Etag": "e",
        "X-Object-Transient-Sysmeta-A": "t",
        "X-Static-Large-Object": "True",
        "X-Object-Manifest": "c/p",
        "X-Object-Meta-Colour": "blue",
        "Etag": "x",
    }
    assert kept_after_post(found) == {"X-Object-Sysmeta-Slo-Etag": "e", "X-Static-Large-Object": "True"}
