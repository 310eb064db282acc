"""Views that are kept: written down before they are made, forgotten after they are removed, so that none is lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from storage_bridge.model import View
from storage_controller.answers import Refused
from storage_controller.ledger import Ledger

_log = logging.getLogger(__name__)
_LOCKS = 64  # of views that share one, one waits for the other


class KeptViews:
    """What is done with a view is done one after the other: no removal overtakes the making that it undoes."""

    def __init__(self, ledger: Ledger, make: Callable[[View], None], remove: Callable[[View], None]) -> None:
        self._ledger = ledger
        self._make = make
        self._remove = remove
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def create(self, view: View, owner: str) -> None:
        """Have it; made again it is the same. Refused: 409 for another of that id, else what Swift says."""
        with self._lock(view.id):
            made_before = view in self._ledger.views(owner)
            if self._ledger.keep_view(view, owner) != view:
                raise Refused(409, f"there is another view {view.id}")
            try:
                self._make(view)
            except Refused as refusal:
                if refusal.status != 503 and not made_before:  # it is certain that there is none
                    self._ledger.forget_view(view.id)
                raise

    def drop(self, view_id: str, owner: str) -> None:
        """Have it no more; nothing when the owner has none of that id. Refused with 503 when Swift does not do it."""
        with self._lock(view_id):
            for view in self._ledger.views(owner):
                if view.id == view_id:
                    self._remove(view)
                    self._ledger.forget_view(view_id)

    def sweep(self) -> None:
        """Remove those whose owner's lease has run out; what cannot be removed now is left. SQLAlchemyError."""
        for view in self._ledger.overdue_views():
            try:
                self._sweep(view)
            except Refused as error:
                _log.warning("view %s is left over and cannot be removed now: %s", view.id, error)

    def _sweep(self, view: View) -> None:
        with self._lock(view.id):
            if view in self._ledger.overdue_views():  # its owner may have come back meanwhile
                self._remove(view)
                self._ledger.forget_view(view.id)

    def _lock(self, view_id: str) -> threading.Lock:
        return self._locks[hash(view_id) % _LOCKS]
