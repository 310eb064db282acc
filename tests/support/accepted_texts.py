"""Texts that Zoe accepts and another program parses again, drawn at random; the seed is printed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

from tests.support.long import LONG
from zoe_lib.domain.executions.notifications import TargetRefused

SEED = 20261128
CHECKS = int(os.environ.get("ZOE_TEXT_CHECKS", "10000" if LONG else "200"))
"""10,000 in `make test-all`."""


def drawn(pieces: str, more: list[str], accepted: Callable[[str], object], count: int = CHECKS) -> Iterator[str]:
    """Yield accepted texts made of pieces; `accepted` raises ValueError or TargetRefused for others."""
    print(f"seed {SEED}")
    choice = random.Random(SEED)
    left = count
    for _ in range(1000 * count):
        parts = choice.choices([*pieces, *more], k=choice.randint(1, 14))
        text = "".join(parts)
        try:
            accepted(text)
        except (ValueError, TargetRefused):
            continue
        yield text
        left -= 1
        if not left:
            return
    raise AssertionError(f"{left} texts too few were accepted")
