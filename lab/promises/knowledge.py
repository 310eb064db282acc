"""Knowledge of run times for decisions on promises: everything learned, a part of it, or the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lab.promises.applications import StudyApplication
from zoe_lib.domain.applications.application import Application
from zoe_master.state.run_times import LearnedRunTimes, RunTimeWithin

_UNUSED = 1e-3


class OneLever(LearnedRunTimes):
    """Learned run times with one lever only: without `cores`, only the essential number of services exists; without
    `bandwidth`, rates seem to change nothing, so none is guaranteed.
    """

    def __init__(self, learned: LearnedRunTimes, *, cores: bool, bandwidth: bool) -> None:
        super().__init__()
        self._learned = learned
        self._cores = cores
        self._bandwidth = bandwidth

    def run_time_within(
        self,
        application: Application,
        tenant: str,
        user: str,
        elastic: int,
        chance: float,
        rate: int | None = None,
        views: bool | None = None,
    ) -> RunTimeWithin | None:
        """Return the learned run time; None if the lever does not allow it."""
        if elastic and not self._cores:
            return None
        held = rate if self._bandwidth else None
        return self._learned.run_time_within(application, tenant, user, elastic, chance, held, views)


class ExactRunTimes(LearnedRunTimes):
    """The true work and bytes of each application, by its name; unguaranteed bandwidth is `usual()`."""

    def __init__(self, by_name: Mapping[str, StudyApplication], usual: Callable[[], float]) -> None:
        super().__init__()
        self._by_name = by_name
        self._usual = usual

    def run_time_within(  # the true values depend neither on the user nor on the confidence
        self,
        application: Application,
        tenant: str,  # noqa: ARG002
        user: str,  # noqa: ARG002
        elastic: int,
        chance: float,  # noqa: ARG002
        rate: int | None = None,
        views: bool | None = None,  # noqa: ARG002 - nothing is pushed down
    ) -> RunTimeWithin | None:
        """Return the run time, which is the same for each confidence."""
        one = self._by_name[application.name]
        return RunTimeWithin(one.takes_s(one.core + elastic, max(rate or 0.0, self._usual(), _UNUSED)), 64, wide=False)
