"""The users that components run as: one for all of a tenant if the settings name one, else that of each owner."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_master.backends.base import ServiceStart
from zoe_master.backends.failures import CannotStartError
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.workspace_layout import NO_NUMBER


@dataclass(frozen=True, slots=True)
class ContainerUser:
    """The numbers of a container's user; `of_all`: it is the user of all components of the tenant."""

    uid: str
    gid: str
    of_all: bool

    def __str__(self) -> str:
        """Return it as engines write it."""
        return f"{self.uid}:{self.gid}"


def user_of(start: ServiceStart, settings: SwarmSettings) -> ContainerUser:
    """Return the user of a service; CannotStartError if its owner has no number."""
    fixed = settings.tenant_users.get(start.tenant) or settings.user
    if fixed:
        uid, _, gid = fixed.partition(":")
        return ContainerUser(uid, gid or uid, of_all=True)
    if start.system_user is None:
        raise CannotStartError(NO_NUMBER)
    return ContainerUser(str(start.system_user.uid), str(start.system_user.gid), of_all=False)
