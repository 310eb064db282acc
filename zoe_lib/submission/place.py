"""Where submissions are checked: what the API and the leader have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.submission.spending import Spending


@dataclass(frozen=True, slots=True)
class LeaderPlace:
    """Where the leader submits what schedules ask for."""

    settings: Settings
    store: PostgresStore
    spending: Spending = field(default_factory=Spending)


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
