"""Sign-ins in the audit log: right, wrong and braked, so many in a minute that a flood does not fill the database.

Those for users of this Zoe have places of their own, so that made-up names do not hide them. Nobody outside sees which
names are users': refused sign-ins are written down after their answer, which takes as long in either case.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from starlette.requests import Request

from zoe_api.addresses import address_of
from zoe_api.audit_bounds import PerMinute, plain
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.base import StoreUnavailable
from zoe_lib.store.people import AuditEntry

ACTION = "sign_in"
# Of each API process; a row takes about 200 bytes, so that a flood of a day leaves 20 MB.
REFUSED_PER_MINUTE_MAX = 60
RIGHT_PER_MINUTE_MAX = 600
# The first that is refused to each user, of so many users, and as many more as of made-up names. Whoever knows names of
# users adds 300 KB a day for each.
USERS_PER_MINUTE_MAX = 600
_NAMES_KEPT_S = 60.0
_TEXT_MAX = 64


class SignInAudit:
    """Decides which sign-ins are written down, and counts the others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._right = PerMinute(0, RIGHT_PER_MINUTE_MAX)
        self._of_users = PerMinute(USERS_PER_MINUTE_MAX, REFUSED_PER_MINUTE_MAX)
        self._of_others = PerMinute(0, REFUSED_PER_MINUTE_MAX)
        self._left_out = 0
        self._names: frozenset[str] = frozenset()
        self._names_until_s = 0.0

    def note_right(self, request: Request, user: str, provider: str) -> None:
        """Have the sign-in that this request asks for written down before its answer."""
        with self._lock:
            listed = self._right.take(user)
        self._note(request, user, provider, listed)

    def note_refused(self, request: Request, accounts: AccountStore, user: str, provider: str) -> None:
        """Have the sign-in that was refused written down after its answer. It may ask the database."""
        is_user = user.casefold() in self._names_of(accounts)
        with self._lock:
            listed = (self._of_users if is_user else self._of_others).take(user.casefold())
        request.state.audit_late = True
        self._note(request, user, provider, listed)

    def _note(self, request: Request, user: str, provider: str, listed: bool) -> None:
        request.state.user = plain(user, _TEXT_MAX)
        with self._lock:
            if not listed:
                self._left_out += 1
                return
            left_out, self._left_out = self._left_out, 0
        if left_out:
            request.state.audit_changes = {"sign_ins_not_listed_before": [0, left_out]}
        request.state.audit = _entry(request, user, provider)

    def _names_of(self, accounts: AccountStore) -> frozenset[str]:
        """The names of all users, as of a minute ago at most; those of before while the database is away."""
        now_s = time.monotonic()
        if now_s >= self._names_until_s:
            self._names_until_s = now_s + _NAMES_KEPT_S
            with suppress(StoreUnavailable):
                self._names = frozenset(user.name.casefold() for user in accounts.users())
        return self._names


def _entry(request: Request, user: str, provider: str) -> AuditEntry:
    return AuditEntry(
        at_s=time.time(),
        user=plain(user, _TEXT_MAX),
        tenant="",
        action=ACTION,
        target=request.url.path,
        request_id=request.state.request_id,
        by=provider,
        address=address_of(request),
    )
