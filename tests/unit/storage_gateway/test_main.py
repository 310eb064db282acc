"""A gateway that root starts without a user for its processes refuses with a reason."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from storage_gateway.__main__ import unusable_user

NOBODY = "no-such-user"


@pytest.mark.parametrize(
    ("conf", "user_id", "told"),
    [
        ({"user": NOBODY}, 0, True),
        ({"user": NOBODY}, 1000, False),
        ({"user": NOBODY, "workers": "0"}, 0, False),
        ({"user": "root"}, 0, False),
    ],
)
def test_a_user_that_is_missing_is_told(conf: Mapping[str, str], user_id: int, told: bool) -> None:
    found = unusable_user(conf, user_id)
    assert (found is not None and NOBODY in found and "`user`" in found) == told
