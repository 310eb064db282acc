from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.applications import execution
from zoe_lib.store.documents.cursors import decode_cursor, encode_cursor, encode_position
from zoe_lib.store.errors import InvalidCursor, StoreError


@given(at_s=st.floats(allow_nan=False, allow_infinity=False))
def test_cursors_come_back(at_s: float) -> None:
    last = execution(submitted_at_s=at_s)
    assert decode_cursor(encode_cursor(last)) == (at_s, last.id)


@given(cursor=st.text())
@example("W1tb" * 500_000)
@example("MWU5OTk")
def test_anything_else_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        decode_cursor(cursor)
    assert isinstance(caught.value, StoreError)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["a\x00b", "\x00"])
def test_ids_that_no_database_stores_are_refused(name: str) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(encode_position((1.0, name)))
