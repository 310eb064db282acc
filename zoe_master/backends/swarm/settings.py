"""Settings of the Swarm back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.engine.settings import EngineSettings

_GATEWAY = Resources(50, 64 * 2**20)


@dataclass(frozen=True, slots=True)
class SwarmSettings(EngineSettings):
    """Settings of the Swarm back-end, beside those of its engines.

    managers: URLs of the managers' engines, tried in turn if one does not answer. engines: node name to the URL of its
    engine; other nodes are reached at their own address on `engine_port`. publish_ports: publish ports on their node,
    for a network whose members are all trusted; proxied ports are not published. `gateway_image`: empty: no gateways,
    and proxied ports are like any other. gateway_reservation: what each reserves on its node. check_closed: check from
    inside whether containers reach control ports and metadata, and report it for the node. fence_command: run with a
    node's name when the node is lost; its services are lost only once it has succeeded. gather_s: how long the first of
    several starts waits for others. place_timeout_s: a task for which Swarm finds no room for this long has failed.
    """

    managers: tuple[str, ...] = ("unix:///var/run/docker.sock",)
    engines: Mapping[str, str] = field(default_factory=dict)
    engine_port: int = 2376
    publish_ports: bool = False
    gateway_reservation: Resources = _GATEWAY
    check_closed: bool = True
    fence_command: Path | None = None
    fence_timeout_s: float = 60.0
    fence_retry_s: float = 10.0
    gather_s: float = 0.005
    place_timeout_s: float = 30.0

    @property
    def gateway_taken(self) -> Resources:
        """Return the reservation of a gateway; nothing without gateways."""
        return self.gateway_reservation if self.gateway_image else Resources()

    def url_of(self, node: str, address: str) -> str:
        """Return the URL of a node's engine."""
        return self.engines.get(node) or f"tcp://{address}:{self.engine_port}"
