"""Messages for invalid values of parameters."""

from __future__ import annotations

import pytest

from zoe_lib.workflows.parameters import parameters_of

DOCUMENT = {"params": {"rows": {"type": "integer"}, "day": {}, "share": {"type": "number"}}}


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("rows", "many", "'many' is not a whole number"),
        ("rows", "٧", "'٧' is not a whole number"),
        ("rows", "1_000", "'1_000' is not a whole number"),
        ("rows", "9" * 30, " is beyond "),
        ("rows", 10**30, " is beyond "),
        ("day", "a" * 100_000, " is longer than "),
        ("day", "a\0", "is a text with a null character"),
        ("day", 5, "is not a text"),
        ("share", "nan", "is not a number"),
        ("other", "x", "there is no parameter 'other'"),
    ],
)
def test_each_wrong_value_is_named_by_what_is_wrong_with_it(name: str, value: object, why: str) -> None:
    given = {"rows": 1, "day": "monday", "share": 1, name: value}
    (found,) = parameters_of(DOCUMENT, given)[1]
    assert why in found.message
    assert len(found.message) < 200


def test_good_ones_are_read() -> None:
    values, wrong = parameters_of(DOCUMENT, {"rows": " -7", "day": "", "share": "1e-3"})
    assert (values, wrong) == ({"rows": -7, "day": "", "share": 0.001}, [])
