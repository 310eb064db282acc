"""Values of two executions, with their units."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.watching.comparing import _short
from zoe_cli.units import clock


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("run_s", 185.25, "3m05s"),
        ("submitted_at_s", 1.5, clock(1.5)),
        ("memory_peak_bytes", 3 << 20, "3 MiB"),
        ("exit_code", 7, "7"),
        ("nodes", ["a", "b"], "a, b"),
        ("/main/environment/LIMIT_S", "90", "90"),
        ("cause", None, ""),
    ],
)
def test_a_value_is_shown_with_its_unit(path: str, value: Any, text: str) -> None:
    assert _short(value, path) == text
