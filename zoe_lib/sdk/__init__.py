"""Former name of `zoe_client`, until 1.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zoe_client

if TYPE_CHECKING:
    from zoe_client import *  # noqa: F403


def __getattr__(name: str) -> object:
    return getattr(zoe_client, name)
