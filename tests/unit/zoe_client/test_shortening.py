"""Names left out of a text are counted."""

from __future__ import annotations

import pytest

from zoe_client.documents.diagnostics import did_you_mean
from zoe_client.documents.shortening import shortened_list


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c", "d"], "a, b and 2 more")]
)
def test_the_others_are_counted(names: list[str], text: str) -> None:
    assert shortened_list(names, 2) == text


def test_a_hint_says_how_many_known_names_it_leaves_out() -> None:
    known = [f"step-{number:03}" for number in range(50)]
    assert did_you_mean("qqq", known).endswith("step-039 and 10 more")
