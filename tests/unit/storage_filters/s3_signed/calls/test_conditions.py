from __future__ import annotations

import pytest

from storage_filters.s3_signed.calls.conditions import Conditions, fits_range, seconds_of

DATE = "Mon, 21 Sep 2026 14:13:20 GMT"
PLAIN = {"Etag": '"aa"', "Last-Modified": DATE, "Content-Length": "7"}
LARGE = {"Etag": "bb", "X-Object-Sysmeta-S3api-Etag": "cc-2", "X-Static-Large-Object": "True"}


@pytest.mark.parametrize(
    ("conditions", "met"),
    [
        (Conditions(if_match='"aa"'), True),
        (Conditions(if_match="aa"), True),
        (Conditions(if_match='"zz", "aa"'), True),
        (Conditions(if_match="*"), True),
        (Conditions(if_match='"zz"'), False),
        (Conditions(if_none_match='"zz"'), True),
        (Conditions(if_none_match='"aa"'), False),
        (Conditions(if_none_match="*"), False),
        (Conditions(size="7"), True),
        (Conditions(size="8"), False),
        (Conditions(modified=DATE), True),
        (Conditions(modified="2026-09-21T14:13:20Z"), True),
        (Conditions(modified="2026-09-21T14:13:21Z"), False),
        (Conditions(if_match="aa", size="8"), False),
    ],
)
def test_conditions_are_about_the_object_that_is_there(conditions: Conditions, met: bool) -> None:
    assert conditions
    assert conditions.are_met(PLAIN) is met


@pytest.mark.parametrize("etag", ["bb", "cc-2", "bb-N"])
def test_an_object_of_parts_has_the_etags_of_both_protocols(etag: str) -> None:
    assert Conditions(if_match=etag).are_met(LARGE)
    assert not Conditions(if_match=etag).are_met(PLAIN)


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ('"aa"', True),
        ('W/"aa"', False),
        ('"bb"', False),
        (DATE, True),
        ("Mon, 21 Sep 2026 14:13:21 GMT", False),
        ("Mon, 21 Sep 2026 14:13:19 GMT", False),
        ("no date", False),
    ],
)
def test_a_range_is_sent_only_of_the_object_that_the_client_knows(condition: str, fits: bool) -> None:
    assert fits_range(condition, PLAIN) is fits


def test_no_condition_is_none() -> None:
    assert not Conditions()
    assert seconds_of('"aa"') is None
