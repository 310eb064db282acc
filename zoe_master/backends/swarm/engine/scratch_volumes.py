"""Removing the volumes that go with services."""

from __future__ import annotations

import contextlib
import time
from datetime import datetime
from typing import Any

from zoe_master.backends.swarm.errors import UNREACHABLE
from zoe_master.backends.swarm.spec import labels

_ABANDONED_S = 120.0  # above what may lie between the making of a volume and the start of its container


def remove_scratch(api: Any, name: str) -> None:
    """Remove the volume of a container that is gone."""
    with contextlib.suppress(*UNREACHABLE):
        api.remove_volume(name)


def sweep_scratch(api: Any, installation: str) -> None:
    """Remove those whose container went while nobody listened, or was never made."""
    wanted = {"label": [f"{labels.INSTALLATION}={installation}", labels.SCRATCH], "dangling": True}
    for volume in api.volumes(filters=wanted)["Volumes"] or []:
        if datetime.fromisoformat(volume["CreatedAt"]).timestamp() < time.time() - _ABANDONED_S:
            remove_scratch(api, volume["Name"])
