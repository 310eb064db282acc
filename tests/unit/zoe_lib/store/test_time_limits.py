"""The time limit of an execution that is submitted without one."""

from __future__ import annotations

import pytest

from tests.support.applications import application
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.store.errors import TimeLimitTooLong
from zoe_lib.store.quotas import with_time_limit

LONGEST = {"red": {"time_limit_s": 7200.0}}


@pytest.mark.parametrize(
    ("default_s", "longest", "given_s", "note"),
    [
        (0.0, {}, None, ""),
        (3600.0, {}, 3600.0, "it gets the default, 3600 s (1 h)"),
        (3600.0, LONGEST, 3600.0, "it gets the default, 3600 s (1 h)"),
        (9000.0, LONGEST, 7200.0, "it gets the longest that red may have, 7200 s (2 h)"),
        (0.0, LONGEST, 7200.0, "it gets the longest that red may have, 7200 s (2 h)"),
    ],
)
def test_application_without_time_limit_gets_one(
    default_s: float, longest: dict[str, dict[str, float]], given_s: float | None, note: str
) -> None:
    limits = Policy(default_time_limit_s=default_s, tenant_limits=longest).limits
    limited, notes = with_time_limit(application(), "red", limits)
    assert limited.time_limit_s == given_s
    assert [text.partition(": ")[2] for text in notes] == ([note] if note else [])


def test_default_changes_no_time_limit_that_is_set() -> None:
    limits = Policy(default_time_limit_s=10.0, tenant_limits=LONGEST).limits
    assert with_time_limit(application(time_limit_s=60.0), "red", limits)[0].time_limit_s == 60.0
    with pytest.raises(TimeLimitTooLong):
        with_time_limit(application(time_limit_s=7201.0), "red", limits)
