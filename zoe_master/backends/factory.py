"""Create the back-end that the settings name."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from zoe_lib.settings.backend import ImageSettings
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_master.backends.base import Backend, BackendError, BackendUnavailable
from zoe_master.backends.file_task import file_limits
from zoe_master.backends.local import LocalBackend, LocalNode, LocalSettings, Runtime, refuse_reason
from zoe_master.waker import TickWaker

ONE_ENGINE = frozenset({"docker", "podman"})
"""Back-ends on the engine of this machine."""
BackendFactory = Callable[[Settings, TickWaker], Backend]
"""Creates the back-end of a plugin; BackendError for unsuitable settings, BackendUnavailable if its platform does not
answer.
"""


class BackendRefused(Exception):  # noqa: N818 - the name is the fact
    """The back-end must not be used with these settings; the message says why and what to do."""


def make_backend(
    settings: Settings, accounts: AccountStore, waker: TickWaker, plugins: Mapping[str, BackendFactory]
) -> Backend:
    """Return the configured back-end, ready to use; BackendRefused, BackendUnavailable.

    `plugins`: those of other distributions.
    """
    tenants = [tenant.name for tenant in accounts.tenants()]
    if settings.backend in ONE_ENGINE and (reason := one_user_reason(tenants, settings.insecure)):
        raise BackendRefused(reason)
    if settings.backend != "local":
        users = [user.name for user in accounts.users()]
        own = {"swarm": _swarm_backend, **{name: _one_engine_backend(users) for name in ONE_ENGINE}}
        return _make_plugin_backend(own.get(settings.backend) or plugins.get(settings.backend), settings, waker)
    reason = refuse_reason(settings.api_host, tenants, settings.insecure)
    if reason := reason or settings.missing_wheelhouse():
        raise BackendRefused(reason)
    return local_backend(settings, waker)


def one_user_reason(tenants: Collection[str], insecure: bool) -> str | None:
    """Return why containers of these tenants must not run as the one user that runs Zoe; None if they may."""
    if os.geteuid() == 0 or insecure or len(set(tenants)) < 2:
        return None
    names = sorted(set(tenants))
    return (
        f"Zoe does not run as root, so containers of all {len(names)} tenants ({', '.join(names)}) would run as one "
        "user: run Zoe as root, keep one tenant, or use --insecure"
    )


def local_backend(settings: Settings, waker: TickWaker) -> LocalBackend:
    """Return the local back-end for these settings; it adopts running services."""
    return LocalBackend(_local_settings(settings), waker)


def machine_backend(settings: Settings, waker: TickWaker) -> Backend:
    """Return the back-end for these settings of a stack on one machine. Raises BackendError."""
    if settings.backend in ONE_ENGINE:
        return _one_engine_backend(())(settings, waker)
    return local_backend(settings, waker)


def _make_plugin_backend(factory: BackendFactory | None, settings: Settings, waker: TickWaker) -> Backend:
    if factory is None:
        raise BackendRefused(f"back-end {settings.backend!r} cannot be used; the log says why it was not loaded")
    try:
        return factory(settings, waker)
    except BackendUnavailable:
        raise
    except BackendError as error:
        raise BackendRefused(str(error)) from error


def _swarm_backend(settings: Settings, waker: TickWaker) -> Backend:
    # Imported only if it is used: Docker's client takes almost as long to load as the rest of the master.
    from zoe_master.backends.swarm.configured import swarm_backend

    return swarm_backend(settings, waker)


def _one_engine_backend(users: Collection[str]) -> BackendFactory:
    def make(settings: Settings, waker: TickWaker) -> Backend:
        from zoe_master.backends.docker.configured import docker_backend

        return docker_backend(settings, waker, users)

    return make


def _runtime(image: ImageSettings) -> Runtime:
    return Runtime(tuple(image.path), image.environment, install=tuple(image.install), installs=image.installs)


def _local_settings(settings: Settings) -> LocalSettings:
    return LocalSettings(
        state_dir=settings.local_state_dir,
        scratch_dir=settings.local_scratch_dir,
        workspaces_dir=settings.local_workspaces_dir,
        volumes_dir=settings.local_volumes_dir,
        block_volumes_dir=settings.local_block_volumes_dir,
        images={name: _runtime(image) for name, image in settings.local_images.items()},
        image_hints=settings.local_image_hints,
        nodes=tuple(
            LocalNode(n.name, round(n.cores * 1000), n.memory_bytes, n.labels, n.devices) for n in settings.local_nodes
        ),
        host_paths_allowed=tuple(Path(path) for path in settings.local_host_paths),
        run_as_user=settings.local_user,
        output_bytes_max=settings.local_log_bytes_max,
        kept_logs_bytes_max=settings.kept_logs_bytes_max,
        kept_logs_age_max_s=settings.kept_logs_age_max_s,
        insecure=settings.insecure,
        files=file_limits(settings),
        environments_dir=settings.local_environments_dir,
        environment_index_url=settings.environment_index_url,
        environment_wheelhouse=settings.environment_wheelhouse,
        environment_build_s_max=settings.environment_build_s_max,
        environment_bytes_max=settings.environment_bytes_max,
        environments_bytes_max=settings.environments_bytes_max,
        environments_age_max_s=settings.environments_age_max_s,
        source_s_max=settings.source_s_max,
        source_bytes_max=settings.source_bytes_max,
    )
