from __future__ import annotations

from typing import Any

import pytest

from tests.support.documents import job
from zoe_lib.descriptions import parse
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.settings.config import Settings
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.checks.store import (
    note_bandwidth,
    note_plain_inputs,
    refuse_beyond_capacity,
    refuse_without_controller,
)

CONTROLLED = Settings(storage_url="http://controller:6000")
MB = 10**6


def examined(
    guarantee: str | None, settings: Settings = CONTROLLED, capacity: StoreCapacity | None = None, **storage: Any
) -> Examined:
    """A job that asks for 10 MB/s to read, or for no bandwidth."""
    asked = {} if guarantee is None else {"bandwidth": {"read": "10MB/s", "guarantee": guarantee}}
    document = job(storage={**asked, **storage}) if asked or storage else job()
    return Examined(document, parse(document), settings, Platform(storage=capacity))


@pytest.mark.parametrize(("guarantee", "refused"), [("required", True), ("preferred", False), (None, False)])
def test_only_required_bandwidth_needs_a_controller(guarantee: str | None, refused: bool) -> None:
    found = refuse_without_controller(examined(guarantee, Settings()))
    assert (found is not None and found.code == "storage_guarantee_unavailable") is refused
    assert refuse_without_controller(examined(guarantee)) is None


@pytest.mark.parametrize(
    ("guarantee", "capacity", "refused"),
    [
        ("required", StoreCapacity(9 * MB, MB), True),
        ("required", StoreCapacity(10 * MB, MB), False),
        ("required", None, False),
        ("preferred", StoreCapacity(9 * MB, MB), False),
    ],
)
def test_more_than_the_store_can_guarantee_is_refused(
    guarantee: str, capacity: StoreCapacity | None, refused: bool
) -> None:
    found = refuse_beyond_capacity(examined(guarantee, capacity=capacity))
    assert (found is not None and found.code == "never_fits") is refused
    assert refuse_beyond_capacity(examined(guarantee, Settings(), capacity)) is None


@pytest.mark.parametrize(
    ("settings", "capacity", "words"),
    [
        (Settings(), None, "no storage controller is configured"),
        (CONTROLLED, None, None),
        (CONTROLLED, StoreCapacity(9 * MB, MB), "it runs without a guarantee"),
        (CONTROLLED, StoreCapacity(10 * MB, MB), None),
        (CONTROLLED, StoreCapacity(10 * MB, MB, one_proxy=5 * MB), "only services that use several proxies"),
    ],
)
def test_preferred_bandwidth_is_noted(settings: Settings, capacity: StoreCapacity | None, words: str | None) -> None:
    notes = list(note_bandwidth(examined("preferred", settings, capacity)))
    assert len(notes) == (words is not None)
    assert all(words in note for note in notes if words)


def test_inputs_that_are_read_plainly_are_noted() -> None:
    inputs = [
        {"name": "a", "uri": "s3a://b/o", "pushdown": {"columns": ["x"]}},
        {"name": "b", "uri": "swift2d://c.red/o", "pushdown": {"columns": ["x"]}},
        {"name": "c", "uri": "s3a://b/plain"},
    ]
    reads = examined(None, inputs=inputs)
    services = {"red": {"url": "http://swift:8080/v1/AUTH_{tenant}"}}
    known = Settings(storage_url="http://controller:6000", storage_services=services)
    assert [note.partition(":")[0] for note in note_plain_inputs(examined(None, known, inputs=inputs))] == [
        "input a is read plainly"
    ]
    assert [note[:7] for note in note_plain_inputs(reads)] == ["input a", "input b"]
    (note,) = note_plain_inputs(examined(None, Settings(), inputs=inputs))
    assert note.startswith("no storage controller")
    assert list(note_plain_inputs(examined(None, Settings()))) == []
