"""Ten kills of the suite `tests.hostile.volumes`, and that it finds what is lost."""

from __future__ import annotations

import pytest

from tests.hostile.volumes.__main__ import kill_often
from tests.local.support import needs_root
from zoe_master.backends.local.backend import why_no_volumes

pytestmark = [
    needs_root,
    pytest.mark.skipif(bool(why_no_volumes()), reason=f"tool: volumes of blocks: {why_no_volumes()}"),
]


def test_flushed_writes_survive_ten_kills() -> None:
    outcome = kill_often(10, seed=1)
    assert outcome.wrong == []
    assert outcome.flushed > 0


def test_lost_writes_are_found() -> None:
    assert kill_often(3, seed=5, lie=True).wrong
