"""The back-end on one engine that the settings describe."""

from __future__ import annotations

import logging
from collections.abc import Collection

from zoe_lib.settings.config import Settings
from zoe_master.backends.base import BackendError
from zoe_master.backends.docker.backend import DockerBackend
from zoe_master.backends.docker.connection import examine_engine
from zoe_master.backends.docker.finding import find_engine
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.configured import engine_arguments
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
OWN_IMAGES = ("zoe/*",)
"""Images of the catalogue: `make images` builds them. Others may have this name at a public registry."""


def docker_backend(settings: Settings, waker: TickWaker, users: Collection[str] = ()) -> DockerBackend:
    """Return the back-end, ready to use; it adopts running services. BackendError if the settings do not allow it.

    users: all users of the installation.
    """
    if settings.engine_user or settings.engine_tenant_users:
        raise BackendError(
            f"the back-end {settings.backend} runs components as the system users that Zoe assigns, as the local "
            "back-end does: remove engine_user and engine_tenant_users"
        )
    # It needs no images of Zoe, and hardens each container itself.
    host = examine_engine(find_engine(settings.engine_url, settings.backend))
    if host.rootless and not settings.insecure and (reason := several_users_reason(users)):
        raise BackendError(reason)
    if host.why_unheld:
        _log.warning("%s", host.why_unheld)
    own = DockerSettings(
        **engine_arguments(settings),
        kind=settings.backend,
        rootless=host.rootless,
        why_unheld=host.why_unheld,
        url=settings.engine_url,
        gateway_image="",
        allow_unhardened=True,
        built_images=OWN_IMAGES,
    )
    return DockerBackend(own, waker)


def several_users_reason(users: Collection[str]) -> str | None:
    """Return why an engine without root must not run containers of these users; None if it may."""
    if len(set(users)) < 2:
        return None
    names = sorted(set(users))
    return (
        f"the engine runs without root, so containers of all {len(names)} users ({', '.join(names)}) would run as one "
        "user: run Podman and Zoe as root, keep one user, or use --insecure"
    )
