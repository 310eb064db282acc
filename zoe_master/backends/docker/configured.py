"""The back-end on one engine that the settings describe."""

from __future__ import annotations

from zoe_lib.settings.config import Settings
from zoe_master.backends.base import BackendError
from zoe_master.backends.docker import DockerBackend, DockerSettings
from zoe_master.backends.engine.configured import engine_arguments
from zoe_master.waker import TickWaker

OWN_IMAGES = ("zoe/*",)
"""Images of the catalogue: `make images` builds them. Others may have this name at a public registry."""


def docker_backend(settings: Settings, waker: TickWaker) -> DockerBackend:
    """Return the back-end, ready to use; it adopts running services. BackendError if the settings do not allow it."""
    if settings.engine_user or settings.engine_tenant_users:
        raise BackendError(
            "the back-end docker runs components as the system users that Zoe assigns, as the local back-end does: "
            "remove engine_user and engine_tenant_users"
        )
    # It needs no images of Zoe, and hardens each container itself.
    own = DockerSettings(
        **engine_arguments(settings),
        url=settings.engine_url,
        gateway_image="",
        allow_unhardened=True,
        built_images=OWN_IMAGES,
    )
    return DockerBackend(own, waker)
