from __future__ import annotations

import pytest

from storage_filters.s3_signed.calls.listing import wrong_parameter


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({}, None),
        ({"prefix": "a"}, None),
        ({"list-type": "2"}, None),
        ({"list-type": "2", "continuation-token": "Yi8x"}, None),
        ({"continuation-token": "!"}, None),
        ({"list-type": "x"}, "list-type"),
        ({"list-type": "3"}, "list-type"),
        ({"list-type": "2", "continuation-token": ""}, "continuation-token"),
        ({"list-type": "2", "continuation-token": "notbase64!!"}, "continuation-token"),
        ({"list-type": "2", "continuation-token": "//8="}, "continuation-token"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_named(query: dict[str, str], name: str | None) -> None:
    wrong = wrong_parameter(query)
    assert (wrong[0] if wrong else None) == name
