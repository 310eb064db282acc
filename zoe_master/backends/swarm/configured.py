"""The Swarm back-end that the settings describe."""

from __future__ import annotations

from pathlib import Path

from zoe_lib.domain.values.resources import Resources
from zoe_lib.settings.config import Settings
from zoe_master.backends.engine.settings import EnvironmentSettings, SourceSettings
from zoe_master.backends.file_task import file_limits
from zoe_master.backends.swarm import SwarmBackend, SwarmSettings
from zoe_master.backends.terminal.sessions import listening_host
from zoe_master.waker import TickWaker


def swarm_backend(settings: Settings, waker: TickWaker) -> SwarmBackend:
    """Return the back-end, ready to use; it adopts running services. BackendError if the settings do not allow it."""
    return SwarmBackend(_swarm_settings(settings), waker)


def _swarm_settings(settings: Settings) -> SwarmSettings:
    return SwarmSettings(
        state_dir=settings.engine_state_dir,
        managers=tuple(settings.swarm_managers),
        engines=settings.swarm_engines,
        engine_port=settings.swarm_engine_port,
        tls_dir=settings.swarm_tls_dir,
        installation=settings.engine_installation,
        images=tuple(settings.engine_images),
        pull_images=settings.engine_pull_images,
        user=settings.engine_user,
        tenant_users=settings.engine_tenant_users,
        workspaces_dir=settings.engine_workspaces_dir,
        host_paths_allowed=tuple(Path(path) for path in settings.engine_host_paths),
        publish_ports=settings.swarm_publish_ports,
        gateway_image=settings.swarm_gateway_image,
        gateway_reservation=Resources(round(settings.swarm_gateway_cores * 1000), settings.swarm_gateway_memory_bytes),
        allow_unhardened=settings.swarm_allow_unhardened,
        check_closed=settings.swarm_check_closed,
        ulimits_max={str(name): most for name, most in settings.engine_ulimits_max.items()},
        fence_command=settings.swarm_fence_command,
        fence_timeout_s=settings.swarm_fence_timeout_s,
        output_bytes_max=settings.engine_log_bytes_max,
        kept_logs_bytes_max=settings.kept_logs_bytes_max,
        kept_logs_age_max_s=settings.kept_logs_age_max_s,
        processes_max=settings.engine_processes_max,
        files=file_limits(settings),
        environments=EnvironmentSettings(
            settings.environment_index_url,
            settings.environment_wheelhouse,
            settings.environment_build_s_max,
            settings.environment_bytes_max,
            settings.environments_bytes_max,
            settings.environments_age_max_s,
        ),
        sources=SourceSettings(settings.source_s_max, settings.source_bytes_max),
        terminals_host=listening_host(settings.master_endpoint),
    )
