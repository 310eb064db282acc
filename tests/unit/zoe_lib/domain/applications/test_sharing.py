"""Levels, shares and visibilities."""

from __future__ import annotations

import pytest

from zoe_lib.domain.applications.sharing import ALL, ExecutionShares, ShareLevel, Visibility

LOOK, OPEN, CONTROL = ShareLevel
SHARED = ExecutionShares("red", "ada", {"bob": CONTROL, None: LOOK})
PRIVATE = ExecutionShares("red", "ada", {})


def test_each_level_includes_the_ones_before() -> None:
    assert [[level.includes(other) for other in ShareLevel] for level in ShareLevel] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize(
    ("tenant", "user", "level"), [("red", "bob", CONTROL), ("red", "eve", LOOK), ("blue", "bob", None)]
)
def test_a_share_is_for_its_tenant(tenant: str, user: str, level: ShareLevel | None) -> None:
    assert SHARED.level_of(tenant, user) is level
    assert Visibility(tenant, user).includes(SHARED) is (level is not None)
    assert not Visibility(tenant, user).includes(PRIVATE)


def test_owners_see_their_own_and_operators_a_tenant_or_all() -> None:
    assert Visibility("red", "ada").includes(PRIVATE)
    assert not Visibility("blue", "ada").includes(PRIVATE)
    assert Visibility("red").includes(PRIVATE)
    assert not Visibility("blue").includes(PRIVATE)
    assert ALL.includes(PRIVATE)
