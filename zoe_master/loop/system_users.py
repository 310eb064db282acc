"""The system user of each user's programs, so that they cannot read each other's files and processes."""

from __future__ import annotations

import structlog

from zoe_lib.store.errors import NoSystemIds
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.sql.accounts.system_ids import IdKind
from zoe_master.backends.base import SystemUser

log = structlog.get_logger(__name__)


class SystemUsers:
    """Assigns numbers at the first start of a user's service; they never change, so each is read once.

    Without accounts, as in simulations, users have none.
    """

    def __init__(self, accounts: AccountStore | None = None, first: int = 0, last: int = 0) -> None:
        self._accounts = accounts
        self._range = (first, last)
        self._known: dict[tuple[IdKind, str], int] = {}

    def user_for(self, tenant: str, user: str) -> SystemUser | None:
        """Return the user's uid and the tenant's gid; None if the range is used up."""
        if self._accounts is None:
            return None
        try:
            return SystemUser(self._number(IdKind.USER, user), self._number(IdKind.TENANT, tenant))
        except NoSystemIds as error:
            log.error("no system user", user=user, tenant=tenant, why=str(error))
            return None

    def _number(self, kind: IdKind, name: str) -> int:
        assert self._accounts is not None
        known = self._known.get((kind, name))
        if known is None:
            known = self._known[kind, name] = self._accounts.system_id(kind, name, *self._range)
        return known
