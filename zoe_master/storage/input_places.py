"""Ask the storage controller for the places of inputs; one without an answer delays no execution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import StorageRefusedError, StorageUnavailableError, View, place_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.storage import Located, tenant_and_uri
from zoe_master.storage.tenant_tokens import NoAccessError, SignIn

log = structlog.get_logger(__name__)

Told = Mapping[Located, Places | None]
"""Places by input: hosts of its objects, or None if unknown. Inputs that are missing have no answer yet."""

# Limits of a poll: its calls, and its seconds without failed calls and in all. The next poll continues.
_AT_ONCE = 20
_LOOK_S = 1.0
_LOOK_MAX_S = 5.0
# Objects change while an execution waits, and so do credentials; a controller may answer later.
_AGAIN_S = 30.0
# One that does not answer at all may be starting.
_SOON_S = 5.0
_ALL = ("", "")
Account = tuple[str, str]
"""A tenant and the service of its input: the scope of a credential."""


@dataclass(frozen=True, slots=True)
class _Answer:
    places: Places | None
    again_s: float
    """The time of the next poll."""


def _no_news(_: Told) -> None:
    pass


class PlaceFinder:
    """Polls the places of inputs.

    After a failed sign-in or listing, the account is skipped for half a minute; if the controller itself does not
    answer, all accounts are for five seconds.
    """

    def __init__(self, controller: StorageController, sign_in: SignIn, clock: Clock = SYSTEM_CLOCK) -> None:
        self._controller = controller
        self._sign_in = sign_in
        self._clock = clock
        self._answers: dict[Located, _Answer] = {}
        self._paused: dict[Account, float] = {}
        """The end of each account's pause. Ended ones are dropped, and a poll adds at most `_AT_ONCE`."""

    def look(self, wanted: frozenset[Located], news: Callable[[Told], None] = _no_news) -> Told:
        """Return the known places of these inputs only; never raise. `news` is called with them after each answer."""
        self._answers = {text: answer for text, answer in self._answers.items() if text in wanted}
        began_s = now_s = self._clock.monotonic_s()
        self._paused = {account: until_s for account, until_s in self._paused.items() if until_s > began_s}
        due = [text for text in wanted if text not in self._answers or self._answers[text].again_s <= began_s]
        requests, end_s = 0, began_s + _LOOK_S
        # Inputs without an answer come first.
        for located in sorted(due, key=lambda located: (located in self._answers, located)):
            until_s = self._paused_until_s(located)
            if until_s:
                self._answers.setdefault(located, _Answer(None, until_s))
            elif requests < _AT_ONCE and now_s <= end_s:
                self._answers[located] = self._ask(located)
                requests, before_s, now_s = requests + 1, now_s, self._clock.monotonic_s()
                if self._paused_until_s(located):
                    # The timeout of one tenant must not shorten the time of another.
                    end_s = min(end_s + now_s - before_s, began_s + _LOOK_MAX_S)
                news(self._known_places())
        return self._known_places()

    def _known_places(self) -> Told:
        return {text: answer.places for text, answer in self._answers.items()}

    def _paused_until_s(self, one: Located) -> float:
        return self._paused.get(_ALL) or self._paused.get(_account(one), 0.0)

    def _ask(self, located: Located) -> _Answer:
        tenant, uri = tenant_and_uri(located)
        try:
            token = self._sign_in(View("", tenant, uri))
            places = self._controller.locality(tenant, uri, token)
        except StorageRefusedError as error:
            log.info("the object store does not report where an input is", tenant=tenant, input=uri, why=str(error))
            return _Answer(None, self._clock.monotonic_s() + _AGAIN_S)
        except NoAccessError as error:
            log.info("cannot ask where inputs are", tenant=tenant, input=uri, why=str(error))
            return self._pause(_account(located))
        except StorageUnavailableError as error:
            whole = not self._answers_at_all()
            log.warning(
                "the storage controller does not report where inputs are",
                tenant=tenant,
                input=uri,
                why=str(error),
                all=whole,
            )
            return self._pause(_ALL, _SOON_S) if whole else self._pause(_account(located))
        return _Answer(places, self._clock.monotonic_s() + _AGAIN_S)

    def _pause(self, account: Account, pause_s: float = _AGAIN_S) -> _Answer:
        self._paused[account] = self._clock.monotonic_s() + pause_s
        return _Answer(None, self._paused[account])

    def _answers_at_all(self) -> bool:
        """Return whether the controller answers requests that concern no tenant."""
        try:
            self._controller.capacity()
        except StorageUnavailableError:
            return False
        return True


def _account(one: Located) -> Account:
    tenant, uri = tenant_and_uri(one)
    return tenant, place_of(uri).service
