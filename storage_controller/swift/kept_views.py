"""Stored views: recorded before they are created, forgotten after they are removed, so that none is lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from storage_bridge.model import View
from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger

_log = logging.getLogger(__name__)
_LOCKS = 64  # views with the same lock wait for each other


class KeptViews:
    """Creates and removes views, one operation at a time for each view: no removal overtakes the creation that it
    undoes.
    """

    def __init__(self, ledger: Ledger, make: Callable[[View], None], remove: Callable[[View], None]) -> None:
        self._ledger = ledger
        self._make = make
        self._remove = remove
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def create(self, view: View, owner: str) -> None:
        """Create a view; repeating it changes nothing. Raises RequestRefusedError: 409 for another view with that
        id, otherwise
        Swift's refusal.
        """
        with self._lock(view.id):
            made_before = view in self._ledger.views(owner)
            if self._ledger.keep_view(view, owner) != view:
                raise RequestRefusedError(409, f"view {view.id} already exists with another definition")
            try:
                self._make(view)
            except RequestRefusedError as refusal:
                if refusal.status != 503 and not made_before:  # certainly not created
                    self._ledger.forget_view(view.id)
                raise

    def drop(self, view_id: str, owner: str) -> None:
        """Remove a view, if the owner has it. Raises RequestRefusedError with 503 if Swift does not remove it."""
        with self._lock(view_id):
            for view in self._ledger.views(owner):
                if view.id == view_id:
                    self._remove(view)
                    self._ledger.forget_view(view_id)

    def sweep(self) -> None:
        """Remove views of owners with an expired lease; failed removals are left for the next sweep. Raises
        SQLAlchemyError.
        """
        for view in self._ledger.overdue_views():
            try:
                self._sweep(view)
            except RequestRefusedError as error:
                _log.warning("cannot remove expired view %s now: %s", view.id, error)

    def _sweep(self, view: View) -> None:
        with self._lock(view.id):
            if view in self._ledger.overdue_views():  # its owner may have come back meanwhile
                self._remove(view)
                self._ledger.forget_view(view.id)

    def _lock(self, view_id: str) -> threading.Lock:
        return self._locks[hash(view_id) % _LOCKS]
