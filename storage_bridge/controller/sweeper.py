"""Removes the containers of views whose owner's lease has run out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from storage_bridge.controller.answers import Refused
from storage_bridge.controller.ledger import Ledger
from storage_bridge.model import View

_INTERVAL_S = 5.0
_log = logging.getLogger(__name__)


class ViewSweeper:
    """A thread of its own; what cannot be removed now is tried again."""

    def __init__(self, ledger: Ledger, remove: Callable[[View], None]) -> None:
        self._ledger = ledger
        self._remove = remove
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-view-sweeper", daemon=True)

    def begin(self) -> None:
        """Sweep every few seconds."""
        self._thread.start()

    def close(self) -> None:
        """Sweep no more."""
        self._closing.set()
        self._thread.join()

    def sweep(self) -> None:
        """Once. Refused and SQLAlchemyError when Swift or the database are away."""
        for view in self._ledger.overdue_views():
            self._remove(view)
            self._ledger.forget_view(view.id)

    def _run(self) -> None:
        while not self._closing.wait(_INTERVAL_S):
            try:
                self.sweep()
            except (Refused, SQLAlchemyError) as error:
                _log.warning("views that are left over cannot be removed now: %s", error)
