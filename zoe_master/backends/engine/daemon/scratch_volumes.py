"""Remove the scratch volumes of services."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.engine.spec.naming import labels

_ABANDONED_S = 120.0  # above the time between creating a volume and starting its container


def remove_scratch(api: Any, name: str) -> None:
    """Remove the volume of a container that is gone."""
    with contextlib.suppress(*UNREACHABLE):
        api.remove_volume(name)


def sweep_scratch(api: Any, installation: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Remove volumes whose container was removed unnoticed, or was never created."""
    wanted = {"label": [f"{labels.INSTALLATION}={installation}", labels.SCRATCH], "dangling": True}
    for volume in api.volumes(filters=wanted)["Volumes"] or []:
        if datetime.fromisoformat(volume["CreatedAt"]).timestamp() < clock.now_s() - _ABANDONED_S:
            remove_scratch(api, volume["Name"])
