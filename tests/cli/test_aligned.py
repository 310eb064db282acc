"""Output to a pipe: the columns that Rich would draw, without Rich."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoe_cli.aligned import plain_table
from zoe_cli.rows import Rows
from zoe_cli.tables import draw_table

CELLS = st.none() | st.integers() | st.text(st.characters(max_codepoint=0x7E), max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5))
def test_ascii_is_aligned_as_rich_does(rows: list[tuple[object, ...]]) -> None:
    table = Rows(("id", "name", "why"), rows)
    assert plain_table(table) == draw_table(table)


@pytest.mark.parametrize("text", ["é", "中", "e\u0301", "🙂"])
def test_other_characters_are_left_to_rich(text: str) -> None:
    assert plain_table(Rows(("id",), [(text,)])) is None
