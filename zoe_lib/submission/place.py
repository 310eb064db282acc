"""Where submissions are checked: what the API and the leader have in common."""

from __future__ import annotations

from typing import Protocol

from zoe_lib.config import Settings
from zoe_lib.store.postgres import PostgresStore
from zoe_lib.submission.spending import Spending


class SubmissionPlace(Protocol):
    """The settings, the store, and what was read lately of budgets."""

    @property
    def settings(self) -> Settings:
        """Return the settings."""

    @property
    def store(self) -> PostgresStore:
        """Return the store."""

    @property
    def spending(self) -> Spending:
        """Return what was spent."""
