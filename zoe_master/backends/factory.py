"""The back-end that the settings name."""

from __future__ import annotations

from pathlib import Path

from zoe_lib.config import Settings
from zoe_lib.domain.resources import Resources
from zoe_lib.store.base import Store
from zoe_master.backends.base import Backend, BackendError
from zoe_master.backends.local import LocalBackend, LocalNode, LocalSettings, Runtime, refuse_reason
from zoe_master.backends.swarm import SwarmBackend, SwarmSettings
from zoe_master.waker import Waker


class BackendRefused(Exception):  # noqa: N818 - the name is the fact
    """The back-end must not be used with these settings; the message says why and what helps."""


def make_backend(settings: Settings, store: Store, waker: Waker) -> Backend:
    """The configured back-end, ready to use; BackendRefused."""
    if settings.backend == "swarm":
        return swarm_backend(settings, waker)
    reason = refuse_reason(settings.api_host, [tenant.name for tenant in store.tenants()], settings.insecure)
    if reason is not None:
        raise BackendRefused(reason)
    return local_backend(settings, waker)


def local_backend(settings: Settings, waker: Waker) -> LocalBackend:
    """The local back-end of these settings; it adopts what runs already."""
    return LocalBackend(_local_settings(settings), waker)


def swarm_backend(settings: Settings, waker: Waker) -> SwarmBackend:
    """The Swarm back-end of these settings; it adopts what runs already."""
    try:
        return SwarmBackend(_swarm_settings(settings), waker)
    except BackendError as error:
        raise BackendRefused(str(error)) from error


def _swarm_settings(settings: Settings) -> SwarmSettings:
    return SwarmSettings(
        state_dir=settings.swarm_state_dir,
        managers=tuple(settings.swarm_managers),
        engines=settings.swarm_engines,
        engine_port=settings.swarm_engine_port,
        tls_dir=settings.swarm_tls_dir,
        installation=settings.swarm_installation,
        images=tuple(settings.swarm_images),
        pull_images=settings.swarm_pull_images,
        user=settings.swarm_user,
        tenant_users=settings.swarm_tenant_users,
        workspaces_dir=settings.swarm_workspaces_dir,
        host_paths_allowed=tuple(Path(path) for path in settings.swarm_host_paths),
        publish_ports=settings.swarm_publish_ports,
        gateway_image=settings.swarm_gateway_image,
        gateway_reservation=Resources(round(settings.swarm_gateway_cores * 1000), settings.swarm_gateway_memory_bytes),
        allow_unhardened=settings.swarm_allow_unhardened,
        ulimits_max={str(name): most for name, most in settings.swarm_ulimits_max.items()},
        fence_command=settings.swarm_fence_command,
        fence_timeout_s=settings.swarm_fence_timeout_s,
        output_bytes_max=settings.swarm_log_bytes_max,
        processes_max=settings.swarm_processes_max,
    )


def _local_settings(settings: Settings) -> LocalSettings:
    return LocalSettings(
        state_dir=settings.local_state_dir,
        scratch_dir=settings.local_scratch_dir,
        workspaces_dir=settings.local_workspaces_dir,
        volumes_dir=settings.local_volumes_dir,
        images={n: Runtime(tuple(i.path), i.environment) for n, i in settings.local_images.items()},
        nodes=tuple(
            LocalNode(n.name, round(n.cores * 1000), n.memory_bytes, n.labels, n.devices) for n in settings.local_nodes
        ),
        host_paths_allowed=tuple(Path(path) for path in settings.local_host_paths),
        run_as_user=settings.local_user,
        output_bytes_max=settings.local_log_bytes_max,
        insecure=settings.insecure,
    )
