"""The users of components: one for all of a tenant if the settings name one, else the user of each owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from zoe_master.backends.base import SystemUser
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.workspaces.layout import NO_NUMBER


class UserOfTenant(Protocol):
    """The owner of a service or a workspace."""

    @property
    def tenant(self) -> str: ...  # noqa: D102

    @property
    def user(self) -> str: ...  # noqa: D102

    @property
    def system_user(self) -> SystemUser | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class ContainerUser:
    """The numbers of a container's user; `of_all`: all components of the tenant run as this user."""

    uid: str
    gid: str
    of_all: bool

    def __str__(self) -> str:
        """Return it in the form of engines."""
        return f"{self.uid}:{self.gid}"


def user_of(owner: UserOfTenant, settings: EngineSettings) -> ContainerUser:
    """Return the user of an owner's containers; CannotStartError if the owner has no number."""
    fixed = settings.tenant_users.get(owner.tenant) or settings.user
    if fixed:
        uid, _, gid = fixed.partition(":")
        return ContainerUser(uid, gid or uid, of_all=True)
    if owner.system_user is None:
        raise CannotStartError(NO_NUMBER)
    return ContainerUser(str(owner.system_user.uid), str(owner.system_user.gid), of_all=False)
