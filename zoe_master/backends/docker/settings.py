"""Settings of the back-end on one engine."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_master.backends.docker.finding import DOCKER
from zoe_master.backends.engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class DockerSettings(EngineSettings):
    """Settings of the engine of this machine, beside those of any engine.

    url: its Unix socket; empty: as for Docker's own client. start_timeout_s: a container that the engine cannot create
    for this long has failed. `ulimits_max`: the limits of every container. kind: the name of the
    back-end. rootless: the engine's user is root in containers, and ports are published at loopback addresses, since
    the engine's own addresses are not reached from here.
    """

    kind: str = DOCKER
    url: str = ""
    start_timeout_s: float = 30.0
    rootless: bool = False
