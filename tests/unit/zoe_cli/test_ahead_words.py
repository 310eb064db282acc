"""Executions ahead in the queue, as text."""

from __future__ import annotations

import pytest

from zoe_cli.commands.watching.why import ahead_words


@pytest.mark.parametrize(
    ("count", "of_tenant", "ids", "said"),
    [
        (1, 1, ["x1"], "1 execution is ahead of it: 1 of its tenant (x1)."),
        (5, 3, ["x1", "x2"], "5 executions are ahead of it: 3 of its tenant (x1, x2, ...), 2 of other tenants."),
        (2, 2, [], "2 executions are ahead of it: 2 of its tenant."),
        (2, 0, [], "2 executions are ahead of it: 2 of other tenants."),
    ],
)
def test_count_ahead_names_the_visible_ids(count: int, of_tenant: int, ids: list[str], said: str) -> None:
    assert ahead_words(count, of_tenant, ids) == said
