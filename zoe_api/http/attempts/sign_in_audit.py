"""Sign-ins in the audit log: successful, failed and braked, limited per minute so that a flood does not fill the
database.

Users of this Zoe have separate places, so that invented names do not hide them. Response times do not reveal which
names are users: refused sign-ins are recorded after their response.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from starlette.requests import Request

from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.audit_bounds import PerMinute, plain
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.postgres.accounts import AccountStore

ACTION = "sign_in"
# For each API process; a row takes about 200 bytes, so a flood of a day adds 20 MB.
REFUSED_PER_MINUTE_MAX = 60
RIGHT_PER_MINUTE_MAX = 600
# The first refusal of each user, up to a number of users, and as many more as for invented names. An attacker who knows
# names of users adds 300 KB a day for each.
USERS_PER_MINUTE_MAX = 600
_NAMES_KEPT_S = 60.0
_TEXT_MAX = 64
_PATH_MAX = 256
_WHY_MAX = 300
Changes = Mapping[str, Sequence[object]]
_NONE: Changes = {}


class SignInAudit:
    """Decide which sign-ins are recorded, and count the others."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._right = PerMinute(0, RIGHT_PER_MINUTE_MAX, clock)
        self._of_users = PerMinute(USERS_PER_MINUTE_MAX, REFUSED_PER_MINUTE_MAX, clock)
        self._of_others = PerMinute(0, REFUSED_PER_MINUTE_MAX, clock)
        self._left_out = 0
        self._names: frozenset[str] = frozenset()
        self._names_until_s = 0.0

    def note_right(self, request: Request, user: str, provider: str) -> None:
        """Record the successful sign-in of this request before its answer."""
        with self._lock:
            listed = self._right.take(user)
        self._note(request, user, provider, listed)

    def note_refused(self, request: Request, accounts: AccountStore, user: str, provider: str, why: str = "") -> None:
        """Record the refused sign-in after its answer. This may query the database. why: a sentence for admins."""
        is_user = user.casefold() in self._names_of(accounts)
        with self._lock:
            listed = (self._of_users if is_user else self._of_others).take(user.casefold())
        request.state.audit_late = True
        self._note(request, user, provider, listed, {"refused": [None, plain(why, _WHY_MAX)]} if why else {})

    def _note(self, request: Request, user: str, provider: str, listed: bool, changes: Changes = _NONE) -> None:
        request.state.user = plain(user, _TEXT_MAX)
        with self._lock:
            if not listed:
                self._left_out += 1
                return
            left_out, self._left_out = self._left_out, 0
        if left_out:
            changes = {**changes, "sign_ins_not_listed_before": [0, left_out]}
        if changes:
            request.state.audit_changes = {**getattr(request.state, "audit_changes", {}), **changes}
        request.state.audit = _entry(request, user, provider, clock=self._clock)

    def _names_of(self, accounts: AccountStore) -> frozenset[str]:
        """Return the names of all users, at most a minute old; older while the database is away."""
        now_s = self._clock.monotonic_s()
        if now_s >= self._names_until_s:
            self._names_until_s = now_s + _NAMES_KEPT_S
            with suppress(StoreUnavailable):
                self._names = frozenset(user.name.casefold() for user in accounts.users())
        return self._names


def _entry(request: Request, user: str, provider: str, clock: Clock = SYSTEM_CLOCK) -> AuditEntry:
    return AuditEntry(
        at_s=clock.now_s(),
        user=plain(user, _TEXT_MAX),
        tenant="",
        action=ACTION,
        target=plain(request.url.path, _PATH_MAX),
        request_id=request.state.request_id,
        by=provider,
        address=address_of(request),
    )
