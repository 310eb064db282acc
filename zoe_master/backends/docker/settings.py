"""Settings of the back-end on one engine."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_master.backends.engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class DockerSettings(EngineSettings):
    """Settings of the engine of this machine, beside those of any engine.

    url: its Unix socket; empty: as for Docker's own client. start_timeout_s: a container that the engine cannot create
    for this long has failed. `ulimits_max`: the limits of every container.
    """

    url: str = ""
    start_timeout_s: float = 30.0
