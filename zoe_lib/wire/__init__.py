"""Former name of `zoe_client.wire`, until 1.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zoe_client.wire

if TYPE_CHECKING:
    from zoe_client.wire import *  # noqa: F403


def __getattr__(name: str) -> object:
    return getattr(zoe_client.wire, name)
