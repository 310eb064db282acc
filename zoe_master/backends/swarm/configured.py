"""The Swarm back-end that the settings describe."""

from __future__ import annotations

from zoe_lib.domain.values.resources import Resources
from zoe_lib.settings.config import Settings
from zoe_master.backends.engine.configured import engine_arguments
from zoe_master.backends.swarm import SwarmBackend, SwarmSettings
from zoe_master.waker import TickWaker


def swarm_backend(settings: Settings, waker: TickWaker) -> SwarmBackend:
    """Return the back-end, ready to use; it adopts running services. BackendError if the settings do not allow it."""
    return SwarmBackend(_swarm_settings(settings), waker)


def _swarm_settings(settings: Settings) -> SwarmSettings:
    return SwarmSettings(
        **engine_arguments(settings),
        managers=tuple(settings.swarm_managers),
        engines=settings.swarm_engines,
        engine_port=settings.swarm_engine_port,
        tls_dir=settings.swarm_tls_dir,
        publish_ports=settings.swarm_publish_ports,
        gateway_image=settings.swarm_gateway_image,
        gateway_reservation=Resources(round(settings.swarm_gateway_cores * 1000), settings.swarm_gateway_memory_bytes),
        allow_unhardened=settings.swarm_allow_unhardened,
        check_closed=settings.swarm_check_closed,
        fence_command=settings.swarm_fence_command,
        fence_timeout_s=settings.swarm_fence_timeout_s,
    )
