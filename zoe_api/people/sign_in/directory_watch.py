"""Poll LDAP directories for signed-in users: users who left are signed out, and roles follow groups.

A directory does not announce removed entries, so a thread of each API process polls. Processes share the work by the
time of the last response in the table of users.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol
from uuid import uuid4

import structlog

from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in.identity import Identity, take_over
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.config import Settings
from zoe_lib.store.errors import ConcurrentUpdate, StoreUnavailable, Unstorable
from zoe_lib.store.people import AuditEntry, User
from zoe_lib.store.postgres.accounts import AccountStore

log = structlog.get_logger(__name__)

ASK_EVERY_S = 600.0
"""With the pauses and a slow directory, a user who left is signed out within 15 minutes."""
PAUSE_S = 60.0
_BATCH_MAX = 100


class Directory(Protocol):
    """Directory of users."""

    def still(self, user: str, subject: str) -> Identity | None:
        """Return the present identity; None without an entry. ApiProblem without an answer."""
        ...


class DirectoryWatch:
    """The thread; it does not run if no directory is configured."""

    def __init__(
        self,
        settings: Settings,
        accounts: AccountStore,
        directories: Mapping[str, Directory],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._accounts = accounts
        self._directories = directories
        self._ended = threading.Event()

    def open(self) -> None:
        """Start polling."""
        self._ended.clear()
        if self._directories:
            threading.Thread(target=self._run, name="directory-watch", daemon=True).start()

    def close(self) -> None:
        """Stop; a pending query may still finish."""
        self._ended.set()

    def look(self, now_s: float) -> None:
        """Query all users that are due."""
        for provider, directory in self._directories.items():
            while not self._ended.is_set() and self._batch(provider, directory, now_s):
                pass

    def _run(self) -> None:
        while not self._clock.wait(self._ended, PAUSE_S):
            try:
                self.look(self._clock.now_s())
            except StoreUnavailable as error:
                log.warning("directory_watch_failed", cause=str(error))

    def _batch(self, provider: str, directory: Directory, now_s: float) -> bool:
        """Query some users; return whether there may be more. Without an answer, they stay due."""
        due = list(self._accounts.claim_unconfirmed(provider, now_s - ASK_EVERY_S, now_s, _BATCH_MAX))
        for position, user in enumerate(due):
            try:
                identity = directory.still(user.name, user.subject)
            except ApiProblem:
                self._accounts.unconfirm([user.name for user in due[position:]])
                return False
            self._settle(user, identity, now_s)
        return len(due) == _BATCH_MAX

    def _settle(self, user: User, identity: Identity | None, now_s: float) -> None:
        entry = AuditEntry(
            now_s, user.name, "", "end_unknown_user", f"directory {user.provider}", uuid4().hex, user.provider, 200
        )
        if identity is None:
            ended = self._accounts.end_unknown(user.name, entry)
            log.info("left_directory", user=user.name, provider=user.provider, sessions=ended)
            return
        try:
            take_over(self._accounts, identity, user.name, self._settings.sign_in_roles, entry)
        except (ConcurrentUpdate, Unstorable) as error:  # changed meanwhile: queried again next time
            log.warning("directory_roles_not_taken", user=user.name, cause=str(error))


def directories(settings: Settings) -> Mapping[str, Directory]:
    """Return the configured directories by name."""
    if not settings.ldap:
        return {}
    # Only if one is configured: importing the client takes a tenth of the API's start.
    from zoe_api.people.sign_in.ldap import Ldap

    return {name: Ldap(name, entry) for name, entry in settings.ldap.items()}
