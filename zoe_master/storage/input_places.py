"""Asks the storage controller where the objects of inputs lie; who cannot tell holds up nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import StorageRefusedError, StorageUnavailableError, View
from zoe_lib.domain.locality import Places
from zoe_lib.domain.storage import Located, whose
from zoe_master.storage.tenant_tokens import NoAccessError, SignIn

log = structlog.get_logger(__name__)

Told = Mapping[Located, Places | None]
"""By input: where its objects lie, or None where that is not known. What is not in it has not been answered yet."""

# News are published at the end of a look; what is left has its turn at the next one.
_AT_ONCE = 20
_LOOK_S = 1.0
# Objects come and go while an execution waits, and so do credentials; and who could not tell may be able to later.
_AGAIN_S = 30.0


@dataclass(frozen=True, slots=True)
class _Answer:
    places: Places | None
    again_s: float
    """When it is to be asked again."""


class PlaceLooks:
    """One look after the other. A controller that is away or slow is not asked again for half a minute."""

    def __init__(
        self, controller: StorageController, sign_in: SignIn, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._controller = controller
        self._sign_in = sign_in
        self._clock = clock
        self._answers: dict[Located, _Answer] = {}
        self._away_until_s = 0.0

    def look(self, wanted: frozenset[Located]) -> Told:
        """What is known of these, and of no others; nothing is raised."""
        self._answers = {one: answer for one, answer in self._answers.items() if one in wanted}
        began_s = self._clock()
        due = [one for one in wanted if one not in self._answers or self._answers[one].again_s <= began_s]
        # What nothing is known of first.
        for one in sorted(due, key=lambda one: (one in self._answers, one))[:_AT_ONCE]:
            now_s = self._clock()
            if now_s > began_s + _LOOK_S:
                break
            if now_s >= self._away_until_s:
                self._answers[one] = self._ask(one)
        if self._clock() < self._away_until_s:
            for one in due:
                self._answers.setdefault(one, _Answer(None, self._away_until_s))
        return {one: answer.places for one, answer in self._answers.items()}

    def _ask(self, one: Located) -> _Answer:
        tenant, uri = whose(one)
        try:
            token = self._sign_in(View("", tenant, uri))
            places = self._controller.locality(tenant, uri, token)
        except (NoAccessError, StorageRefusedError) as error:
            log.info("where an input lies is not told", tenant=tenant, input=uri, why=str(error))
            return _Answer(None, self._clock() + _AGAIN_S)
        except StorageUnavailableError as error:
            log.warning("the storage controller does not tell where inputs lie", why=str(error))
            self._away_until_s = self._clock() + _AGAIN_S
            return _Answer(None, self._away_until_s)
        return _Answer(places, self._clock() + _AGAIN_S)
