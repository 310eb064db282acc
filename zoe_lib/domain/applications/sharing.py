"""Visibility of executions: a user sees their own executions, and those shared with them."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_client.vocabulary import ShareLevel
from zoe_lib.domain.values.frozen import value

__all__ = ["ALL", "ExecutionShares", "ShareLevel", "Visibility"]


@value(frozen=True, slots=True)
class ExecutionShares:
    """The users who see an execution besides operators: its owner, and users with a share.

    `levels` is by user; None means all members of the tenant.
    """

    tenant: str
    owner: str
    levels: Mapping[str | None, ShareLevel]

    def level_of(self, tenant: str, user: str) -> ShareLevel | None:
        """Return the highest level shared with this user of this tenant; None without a share."""
        if tenant != self.tenant:
            return None
        given = [self.levels[text] for text in (user, None) if text in self.levels]
        return max(given, key=list(ShareLevel).index, default=None)


@value(frozen=True, slots=True)
class Visibility:
    """The executions that a client sees: those of a user in a tenant, and those shared with that user.

    Without a user: all executions of the tenant; without a tenant: all.
    """

    tenant: str | None = None
    user: str | None = None

    def includes(self, shares: ExecutionShares) -> bool:
        """Return whether an execution with these shares is visible."""
        if self.tenant is None:
            return True
        if self.user is None or (self.tenant, self.user) == (shares.tenant, shares.owner):
            return self.tenant == shares.tenant
        return shares.level_of(self.tenant, self.user) is not None


ALL = Visibility()
