"""Run times of one kind of application, from its ended runs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.run_times.likeness import ODD
from zoe_lib.run_times.model import SAMPLES_MAX, RunTimeModel, fit_model
from zoe_lib.run_times.values import RunSample, RunSetting

_LATEST = 2
_KEPT = 0.9  # of an earlier error, with each further run
_SHORTEST_S = 1.0
_TYPICAL = 8  # newest runs that represent the bytes of the next one
_LENT = 1.1  # times the guarantee: from here on, a run got more


@value(frozen=True, slots=True)
class RunExpectation:
    """The expectation at one time: the model, the runs with known bytes, and the factor between the last runs and the
    model (1 if that is no better).
    """

    model: RunTimeModel
    known: tuple[RunSample, ...] = ()
    correction: float = 1.0

    def expected_s(self, setting: RunSetting) -> float:
        """Return the expected run time in seconds."""
        return self.model.run_s(self.fill_in(setting)) * self.correction

    def fill_in(self, setting: RunSetting) -> RunSetting:
        """Return a setting with its missing bytes and rate filled in from the newest runs.

        A guarantee is the minimum that the store delivers: the estimate is higher if it usually delivered more.
        """
        delivered, rate = setting.delivered_bytes, setting.rate
        if not self.known or (delivered is not None and rate is not None):
            return setting
        if delivered is None:
            latest = self.known[-_TYPICAL:]
            as_wanted = [found for sample in latest if (found := _delivered_bytes(sample, setting.views)) is not None]
            delivered = median(as_wanted or (sample.setting.delivered_bytes or 0.0 for sample in latest))
        rated = [sample.setting for sample in self.known if sample.setting.rate]
        if rated and rate is None:
            rate = _usual_rate(setting.guaranteed, rated)
        return changed(setting, delivered_bytes=delivered, rate=rate)


@dataclass(slots=True)
class RunsOfKind:
    """The newest 64 runs, and the model fitted to them.

    Run times drift: data grows, programs change. So there are two predictions: the model's, and the model's times its
    ratio to the last two runs (with one setting: their mean, as Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007,
    found best). The one that was more accurate recently is used.
    """

    samples: deque[RunSample] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))
    model: RunTimeModel | None = None
    factors: Sequence[float] = ()
    """Run times of the newest runs, divided by the present expectation for their settings.

    The predictions at their submissions say less: runs that were submitted together were all predicted from the same
    earlier run.
    """
    rated_factors: Sequence[float] = ()
    """The same for runs with a known reading rate, as if it had been known before. A guarantee gives it; otherwise
    other readers of the store are a part of the error.
    """
    _now: RunExpectation | None = None
    _ids: deque[str] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))
    _amended: int = 0
    _ended: int = 0
    _fitted_at: int = 0
    _lately: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST))
    _errors: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def expectation(self) -> RunExpectation:
        """Return the present expectation; requires a model."""
        assert self._now is not None
        return self._now

    def expected_s(self, setting: RunSetting) -> float:
        """Return the expected run time in seconds; requires a model."""
        return self.expectation().expected_s(setting)

    def ways_to_read(self) -> frozenset[bool]:
        """Return the ways of reading with known bytes: through views (True), plainly (False)."""
        latest = self._samples_with_bytes()[-_TYPICAL:]
        return frozenset(
            views
            for views in (True, False)
            if any(
                sample.setting.views is not None and _delivered_bytes(sample, views) is not None for sample in latest
            )
        )

    def contains(self, run_id: str) -> bool:
        """Return whether this run is among the newest."""
        return run_id in self._ids

    def amend(self, run_id: str, sample: RunSample) -> None:
        """Replace a learned run, since more is known of it now; the model is refitted after a sixteenth of all."""
        place = self._ids.index(run_id)
        if self.samples[place] == sample:
            return
        self.samples[place] = sample
        self._amended += 1
        if self._amended > len(self.samples) // 16:
            self.model, self._fitted_at, self._amended = fit_model(tuple(self.samples)), self._ended, 0
        self._recompute_factors()

    def add(self, sample: RunSample, run_id: str = "") -> None:
        """Add a run; the model is refitted after a sixteenth more runs, since a fit takes milliseconds."""
        if self.model is not None:
            for number, told_s in enumerate(self._predictions(self.model, sample.setting)):
                error = abs(math.log(took_s(sample) / max(told_s, _SHORTEST_S)))
                self._errors[number] = self._errors[number] * _KEPT + error
        self.samples.append(sample)
        self._ids.append(run_id)
        self._ended += 1
        if self.model is None or self._ended - self._fitted_at > min(self._fitted_at, SAMPLES_MAX) // 16:
            self.model, self._fitted_at, self._amended = fit_model(tuple(self.samples)), self._ended, 0
        self._recompute_factors()

    def _recompute_factors(self) -> None:
        assert self.model is not None
        plain = RunExpectation(self.model, self._samples_with_bytes())
        self._lately = deque(
            (_factor(plain, sample, sample.setting) for sample in list(self.samples)[-_LATEST:]), maxlen=_LATEST
        )
        corrected = self._errors[1] <= self._errors[0]
        now = self._now = changed(plain, correction=self._drift()) if corrected else plain
        # The bytes of a run are unknown before it, so its factor is relative to an expectation without them.
        self.factors = [_factor(now, sample, known_before(sample.setting)) for sample in self.samples]
        self.rated_factors = [
            _factor(now, sample, known_before(sample.setting, rated=True))
            for sample in self.samples
            if read_at(sample.setting)
        ]

    def _drift(self) -> float:
        """Return the mean factor of the last two runs; one that the other does not confirm counts as an odd one."""
        if min(self._lately) > ODD or max(self._lately) < 1 / ODD:
            return fmean(self._lately)
        return fmean(min(max(factor, 1 / ODD), ODD) for factor in self._lately)

    def _samples_with_bytes(self) -> tuple[RunSample, ...]:
        """Return the runs with known bytes."""
        return tuple(sample for sample in self.samples if sample.setting.delivered_bytes)

    def _predictions(self, model: RunTimeModel, setting: RunSetting) -> tuple[float, float]:
        plain_s = RunExpectation(model, self._samples_with_bytes()).expected_s(setting)
        return plain_s, plain_s * self._drift()


def known_before(setting: RunSetting, *, rated: bool = False) -> RunSetting:
    """Return the setting as known before the run; rated: with the rate at which it read."""
    return changed(setting, delivered_bytes=None, rate=read_at(setting) if rated else None)


def read_at(setting: RunSetting) -> float | None:
    """Return the bytes per second at which a run read: as measured; for a run that hardly waited for the store, its
    guarantee; None if neither is known.
    """
    if setting.rate is None and setting.delivered_bytes is not None:
        return setting.guaranteed
    return setting.rate


def took_s(sample: RunSample) -> float:
    """Return the run time, at least a second."""
    return max(sample.start_s + sample.work_s, _SHORTEST_S)


def _factor(expectation: RunExpectation, sample: RunSample, setting: RunSetting) -> float:
    return took_s(sample) / max(expectation.expected_s(setting), _SHORTEST_S)


def _delivered_bytes(sample: RunSample, views: bool | None) -> float | None:
    """Return the bytes that a run like this one reads through views, or plainly; None if unknown.

    The share of a view gives the bytes that it leaves out. Runs that never had plain objects say nothing about
    computing on them, so they do not count for plain reading.
    """
    delivered = sample.setting.delivered_bytes
    if views is None or sample.setting.views is None or sample.setting.views is views:
        return delivered
    return delivered * sample.share if views and delivered and sample.share is not None else None


def _usual_rate(guaranteed: float | None, known: Sequence[RunSetting]) -> float:
    """Return the rate of a run with this guarantee.

    Runs without a guarantee show the rate without one. If there are none, runs that got more than their guarantee do;
    those that got no more do not count.
    """
    free = [setting.rate or 0.0 for setting in known if setting.guaranteed is None][-_TYPICAL:]
    newest = known[-_TYPICAL:]
    rates = [setting.rate or 0.0 for setting in newest]
    lent = [
        rate if setting.guaranteed is None or rate > _LENT * setting.guaranteed else 0.0
        for rate, setting in zip(rates, newest, strict=True)
    ]
    return max(median(free or lent), guaranteed or 0.0) or min(rates)
