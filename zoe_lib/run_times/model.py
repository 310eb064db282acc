"""Model of the run time of one kind of application: T = start + max(computing, lead + reading).

Computing is a sum of few terms with non-negative coefficients, as in Ernest (Venkataraman et al., "Ernest: efficient
performance prediction for large-scale advanced analytics", NSDI 2016); reading is delivered bytes over the rate of the
object store. The lead is the time before the first read, such as the start of Spark's executors: the fixed term, or
nothing. The terms, and whether there is a lead, are chosen by the error on settings that were left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, median_low

from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.run_times.least_squares import non_negative
from zoe_lib.run_times.terms import Form, Term, amount, forms_for, setting_of
from zoe_lib.run_times.values import RunSample, RunSetting

SAMPLES_MAX = 64
_FOLDS_MAX = 6
_KNOWN_NEEDED = 8
_ROUNDS = 4  # of new weights, and of the runs that reading held back
_SHORTEST_S = 0.001
_READS_MOST = 0.7  # of the time: then reading may have taken all of it
_BETTER = 0.9  # a form with more terms must have less error than this share
_HALF_LIFE = 16.0  # in runs
_ODD = 1.5  # in medians of the errors: from here on, a run weighs less
_LOST = 8.0  # in such limits: from here on, it does not count
_STRANGE = 0.35  # from the median of its setting, as a logarithm
_BEYOND = 2.0  # times the most cores seen: further ones are not expected to help


@value(frozen=True, slots=True)
class RunTimeModel:
    """The fitted model of a kind.
    coefficients: seconds for one unit of each term. reading: factor of reading time over bytes by rate; None if it held
    back no run. samples: the number of runs; least_cores, most_cores: the range of their cores. lead_s: seconds before
    the first read.
    """

    start_s: float
    coefficients: tuple[tuple[Term, float], ...]
    reading: float | None
    samples: int
    least_cores: float
    most_cores: float
    lead_s: float = 0.0

    def run_s(self, setting: RunSetting) -> float:
        """Return the expected run time in seconds.

        Outside of the observed range it is cautious: fewer cores share the whole work, more than twice as many do not
        help, and none help if all runs had the same number.
        """
        return self.start_s + max(self.computing_s(setting), self.reading_s(setting), _SHORTEST_S)

    def computing_s(self, setting: RunSetting) -> float:
        """Return the expected computing time."""
        most = self.most_cores * (_BEYOND if self.most_cores > self.least_cores else 1.0)
        cores = min(max(setting.cores, self.least_cores), most)
        known = changed(setting, cores=cores)
        fewer = max(cores / max(setting.cores, 0.01), 1.0)
        return fewer * self._sum(known)

    def fitted_s(self, setting: RunSetting) -> float:
        """Return the time by the terms alone, without the start and without caution."""
        return max(self._sum(setting), self.reading_s(setting), _SHORTEST_S)

    def computed_s(self, setting: RunSetting) -> float:
        """Return the computing time by the terms alone."""
        return max(self._sum(setting), _SHORTEST_S)

    def _sum(self, setting: RunSetting) -> float:
        return sum(each * amount(term, setting) for term, each in self.coefficients)

    def reading_s(self, setting: RunSetting) -> float:
        """Return the time at which all is read, in seconds; 0 if unknown."""
        reads_s = (self.reading or 1.0) * _reading_s(setting)
        return self.lead_s + reads_s if reads_s else 0.0

    def covers(self, setting: RunSetting) -> bool:
        """Return whether the number of cores is close to that of a run, or between those of two."""
        return 0.9 * self.least_cores <= setting.cores <= 1.1 * self.most_cores


def fit_model(samples: Sequence[RunSample]) -> RunTimeModel:
    """Fit a model to the newest runs of a kind, 64 at most; at least one is needed.

    Bounded: 11 forms, with a lead and without, 6 folds, 4 rounds each. One odd run among three or more changes it
    little.
    """
    latest = _with_comparable_knowledge(samples[-SAMPLES_MAX:])
    shapes = [(form, lead) for form in forms_for(latest) for lead in _leads(form, latest)]
    best, least = shapes[0], math.inf
    if len(shapes) > 1:
        folds = _folds(latest)
        for shape in shapes:
            error = _error_left_out(*shape, latest, folds)
            if error < least * (_BETTER if _size(shape) > _size(best) else 1.0):
                best, least = shape, error
    return _fit_form(*best, latest)


def _leads(form: Form, samples: Sequence[RunSample]) -> tuple[bool, ...]:
    """Return whether to try a lead before reading: it shows only at different rates."""
    rates = {
        float(f"{sample.setting.rate:.1e}")
        for sample in samples
        if sample.setting.rate and sample.setting.delivered_bytes
    }
    return (False, True) if Term.FIXED in form and len(rates) > 1 else (False,)


def _size(shape: tuple[Form, bool]) -> int:
    return len(shape[0]) + shape[1]


def _with_comparable_knowledge(samples: Sequence[RunSample]) -> Sequence[RunSample]:
    """Leave out runs with unknown bytes, once the newest have known ones: terms of bytes need all."""
    known = [sample for sample in samples if sample.setting.delivered_bytes is not None]
    newest = samples[-_KNOWN_NEEDED:]
    enough = len(newest) == _KNOWN_NEEDED and all(sample.setting.delivered_bytes is not None for sample in newest)
    return known if enough else samples


def _folds(samples: Sequence[RunSample]) -> Sequence[frozenset[int]]:
    """Return groups of runs to leave out together: one setting each, or several if there are many settings."""
    places: dict[tuple[float, float, float], int] = {}
    for sample in samples:
        places.setdefault(setting_of(sample), len(places))
    folds: dict[int, set[int]] = {}
    for number, entry in enumerate(samples):
        folds.setdefault(places[setting_of(entry)] % _FOLDS_MAX, set()).add(number)
    return [frozenset(fold) for fold in folds.values()]


def _error_left_out(form: Form, lead: bool, samples: Sequence[RunSample], folds: Sequence[frozenset[int]]) -> float:
    """Return the median error for settings that were left out of the fit, as a logarithm."""
    errors: list[float] = []
    for fold in folds:
        rest = [sample for number, sample in enumerate(samples) if number not in fold]
        if len(rest) < len(form):
            return math.inf
        model = _fit_form(form, lead, rest)
        of_fold = (_error(model, samples[number]) for number in fold)
        errors.append(median(of_fold))
    return fmean(sorted(errors)[: math.ceil(len(errors) * 0.75)])


def _error(model: RunTimeModel, sample: RunSample) -> float:
    """Return the error as a logarithm: of the whole, and of computing where its time is known.

    Otherwise a form that only predicts the reading time would seem right, if reading held back most runs.
    """
    whole = abs(math.log(max(sample.work_s, _SHORTEST_S) / model.fitted_s(sample.setting)))
    if sample.busy is None or not _reads_most(sample):
        return whole
    computed_s = max(sample.work_s * sample.busy, _SHORTEST_S)
    return max(whole, abs(math.log(computed_s / model.computed_s(sample.setting))))


def _fit_form(form: Form, lead: bool, samples: Sequence[RunSample]) -> RunTimeModel:
    """Fit one form: alternately decide which runs reading held back, and fit computing to the others."""
    reading, lead_s, held_back = None, 0.0, [_reads_most(sample) for sample in samples]
    coefficients: tuple[float, ...] = ()
    for _ in range(_ROUNDS):
        coefficients = _computing(form, samples, held_back, reading if lead else None, lead=lead)
        lead_s = coefficients[form.index(Term.FIXED)] if lead else 0.0
        reading = _reading(samples, held_back, lead_s)
        before, held_back = (
            held_back,
            [_is_held_back(form, coefficients, reading, lead_s, sample) for sample in samples],
        )
        if held_back == before:
            break
    cores = [sample.setting.cores for sample in samples]
    return RunTimeModel(
        start_s=median(sample.start_s for sample in samples),
        coefficients=tuple(zip(form, coefficients, strict=True)),
        reading=reading,
        samples=len(samples),
        least_cores=min(cores),
        most_cores=max(cores),
        lead_s=lead_s,
    )


def _reads_most(sample: RunSample, lead_s: float = 0.0) -> bool:
    return _reading_s(sample.setting) >= _READS_MOST * max(sample.work_s - lead_s, _SHORTEST_S)


def _is_held_back(
    form: Form, coefficients: Sequence[float], reading: float | None, lead_s: float, sample: RunSample
) -> bool:
    reads_s = (reading or 1.0) * _reading_s(sample.setting)
    if not reads_s or lead_s + reads_s < _sum_of_terms(form, coefficients, sample.setting):
        return False
    return _reads_most(sample, lead_s)


def _reading(samples: Sequence[RunSample], held_back: Sequence[bool], lead_s: float) -> float | None:
    """Return the factor of reading time over bytes by rate."""
    ratios = [
        (sample.work_s - lead_s) / _reading_s(sample.setting)
        for sample, held in zip(samples, held_back, strict=True)
        if held
    ]
    return max(median(ratios), 0.1) if ratios else None


def _computing(
    form: Form, samples: Sequence[RunSample], held_back: Sequence[bool], reading: float | None, *, lead: bool
) -> tuple[float, ...]:
    """Fit the terms; a run that reading held back computed while it was busy, or all the time. With a lead, it only
    counts for the time beside reading.
    """
    took, rows, used = [], [], []
    for sample, held in zip(samples, held_back, strict=True):
        amounts = tuple(amount(term, sample.setting) for term in form)
        if held and lead:
            took.append(max(sample.work_s - (reading or 1.0) * _reading_s(sample.setting), _SHORTEST_S))
            amounts = tuple(part if term is Term.FIXED else 0.0 for term, part in zip(form, amounts, strict=True))
        else:
            took.append(max(sample.work_s * (sample.busy if held and sample.busy is not None else 1.0), _SHORTEST_S))
        rows.append(amounts)
        used.append(not held or lead or sample.busy is not None)
    if sum(used) < len(form):
        used = [True] * len(samples)
    recent = [0.5 ** ((len(samples) - 1 - number) / _HALF_LIFE) for number in range(len(samples))]
    usual = _setting_medians([setting_of(sample) for sample in samples], took)
    chosen = [number for number, counts in enumerate(used) if counts]
    return _robust(
        [rows[number] for number in chosen],
        [took[number] for number in chosen],
        [recent[number] for number in chosen],
        [usual[number] for number in chosen],
    )


def _setting_medians(settings: Sequence[tuple[float, float, float]], took: Sequence[float]) -> list[float]:
    """Return the median of each run's setting: by its own relative error, an odd short run would weigh thousands of
    times as much as others.
    """
    groups: dict[tuple[float, float, float], list[float]] = {}
    for place, seconds in zip(settings, took, strict=True):
        groups.setdefault(place, []).append(seconds)
    medians = {place: median_low(group) for place, group in groups.items()}
    floor = median(took) / 10
    return [max(medians[place], floor) for place in settings]


def _robust(
    rows: Sequence[tuple[float, ...]], took: Sequence[float], recent: Sequence[float], usual: Sequence[float]
) -> tuple[float, ...]:
    """Fit relative errors; runs with large ones weigh less in the next round (Huber's iteratively reweighted fit)."""
    trust = [_robust_weight(abs(math.log(value / most)), _STRANGE) for value, most in zip(took, usual, strict=True)]
    found: tuple[float, ...] = ()
    for _ in range(_ROUNDS):
        weights = [age * good / most**2 for age, good, most in zip(recent, trust, usual, strict=True)]
        found = non_negative(rows, took, weights)
        expected = [max(sum(c * x for c, x in zip(found, row, strict=True)), _SHORTEST_S) for row in rows]
        errors = [abs(math.log(value / other)) for value, other in zip(took, expected, strict=True)]
        limit = max(median(errors) * _ODD, 0.02)
        trust = [_robust_weight(error, limit) for error in errors]
    return found


def _robust_weight(error: float, limit: float) -> float:
    """Return the weight of a run: less beyond the limit, and none far beyond it."""
    if error <= limit:
        return 1.0
    return (limit / error) ** 2 if error < _LOST * limit else 0.0


def _sum_of_terms(form: Form, coefficients: Sequence[float], setting: RunSetting) -> float:
    return sum(each * amount(term, setting) for term, each in zip(form, coefficients, strict=True))


def _reading_s(setting: RunSetting) -> float:
    if not setting.delivered_bytes or not setting.rate:
        return 0.0
    return setting.delivered_bytes / setting.rate
