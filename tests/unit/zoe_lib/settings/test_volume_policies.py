from __future__ import annotations

import pytest

from zoe_lib.settings.config import Settings
from zoe_lib.settings.volume_policies import parse_filters, parse_policies


def test_filters_keep_their_order_and_have_amounts_in_bytes() -> None:
    assert parse_filters([" rate = 50MiB/s", "luks"]) == ("rate=52428800", "luks")
    assert parse_policies({"plain": [], "gold": ["luks"]}) == {"plain": (), "gold": ("luks",)}


@pytest.mark.parametrize(
    ("filters", "why"),
    [
        (["xz"], "policy gold: filter 'xz' is unknown; use luks or rate=50MiB/s"),
        (["luks", "rate=1MiB/s", "luks"], "filter luks is there twice"),
        (["luks=aes"], "filter luks takes no amount, but has 'aes'"),
        (["rate"], "'' is not a rate"),
        (["rate=10"], "'10' is not a rate"),
        (["rate=1KiB/s"], "filter rate: 1KiB/s is too slow; use at least 64KiB/s"),
    ],
)
def test_an_odd_stack_is_refused_with_the_reason(filters: list[str], why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", ".")):
        Settings(volume_policies={"gold": filters})
