"""The settings and stores that the checks of submissions need, for the API and the leader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.submission.spending import Spending


@dataclass(frozen=True, slots=True)
class LeaderPlace:
    """The leader's place for submissions of schedules."""

    settings: Settings
    store: PostgresStore
    spending: Spending = field(default_factory=Spending)


class SubmissionPlace(Protocol):
    """The settings, the store, and a cache of budgets."""

    @property
    def settings(self) -> Settings:
        """Return the settings."""

    @property
    def store(self) -> PostgresStore:
        """Return the store."""

    @property
    def spending(self) -> Spending:
        """Return the cache of spending."""
