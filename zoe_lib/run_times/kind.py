"""The ended runs of one kind of application."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from zoe_lib.run_times.model import SAMPLES_MAX, RunTimeModel, learned
from zoe_lib.run_times.values import RunSample, RunSetting

_LATEST = 2
_KEPT = 0.9  # of an earlier error, with each further run
_SHORTEST_S = 1.0


@dataclass(slots=True)
class RunsOfKind:
    """The newest 64 runs, and the model that was fitted to them.

    Run times drift: data grows, programs change. So there are two predictions: the model's, and the model's times what
    the last two runs took of it (with one setting: their mean, as Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007,
    found best). The one that was nearer lately is used.
    """

    samples: deque[RunSample] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))
    model: RunTimeModel | None = None
    factors: Sequence[float] = ()
    """How many times what is expected now of their settings the newest runs took.

    What was told of them at their submission says less: runs that were submitted together were all told what the one
    before them had taken.
    """
    _ended: int = 0
    _fitted_at: int = 0
    _lately: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST))
    _errors: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def expected_s(self, setting: RunSetting) -> float:
        """Return the expected run time in seconds; there is a model."""
        assert self.model is not None
        plain, corrected = self._predictions(self.model, setting)
        return corrected if self._errors[1] <= self._errors[0] else plain

    def add(self, sample: RunSample) -> None:
        """Add a run; the model is fitted again after a sixteenth more runs, since a fit takes milliseconds."""
        took_s = _took_s(sample)
        if self.model is not None:
            for number, told_s in enumerate(self._predictions(self.model, sample.setting)):
                error = abs(math.log(took_s / max(told_s, _SHORTEST_S)))
                self._errors[number] = self._errors[number] * _KEPT + error
        self.samples.append(sample)
        self._ended += 1
        if self.model is None or self._ended - self._fitted_at > min(self._fitted_at, SAMPLES_MAX) // 16:
            self.model, self._fitted_at = learned(tuple(self.samples)), self._ended
        self._lately = deque(
            (_took_s(one) / max(self.model.run_s(one.setting), _SHORTEST_S) for one in list(self.samples)[-_LATEST:]),
            maxlen=_LATEST,
        )
        self.factors = [_took_s(one) / max(self.expected_s(one.setting), _SHORTEST_S) for one in self.samples]

    def _predictions(self, model: RunTimeModel, setting: RunSetting) -> tuple[float, float]:
        plain_s = model.run_s(setting)
        return plain_s, plain_s * fmean(self._lately)


def _took_s(sample: RunSample) -> float:
    return max(sample.start_s + sample.work_s, _SHORTEST_S)
