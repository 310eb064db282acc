"""The resource use that `zoe show` tells."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.words.usage_of import ended_before


def service(started_at_s: float | None, ended_at_s: float | None) -> dict[str, Any]:
    return {"started_at_s": started_at_s, "ended_at_s": ended_at_s}


@pytest.mark.parametrize(
    ("services", "short"),
    [
        ([], False),
        ([service(None, None)], False),
        ([service(10.0, None)], False),
        ([service(10.0, 12.0)], True),
        ([service(10.0, 12.0), service(10.0, 17.0)], False),
        ([service(None, 12.0), service(10.0, 14.9)], True),
    ],
)
def test_only_services_that_ran_and_ended_early_were_not_measured(services: list[dict[str, Any]], short: bool) -> None:
    execution: Any = {"services": services}
    assert ended_before(execution, 5.0) is short
