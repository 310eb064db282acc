"""Terms of the run time model, and the forms that the measured runs can distinguish."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from zoe_lib.run_times.values import RunSample, RunSetting

_LOG_NEEDS = 3
_SIZES_DIFFER = 1.1  # times; sizes closer than this count as the same input
_GIB = 2.0**30


class Term(StrEnum):
    """Growth of one part of the computing time."""

    FIXED = "fixed"
    SHARED = "shared"
    """Work that cores share."""
    COMBINED = "combined"
    """Results that are combined along a tree of cores."""
    SIZE = "size"
    """Work on each byte by one core."""
    SHARED_SIZE = "shared_size"
    """Work on each byte, shared by cores."""


Form = tuple[Term, ...]

_FORMS: tuple[Form, ...] = (
    (Term.FIXED,),
    (Term.SHARED,),
    (Term.SIZE,),
    (Term.SHARED_SIZE,),
    (Term.SHARED, Term.FIXED),
    (Term.SIZE, Term.FIXED),
    (Term.SHARED_SIZE, Term.FIXED),
    (Term.SHARED, Term.FIXED, Term.COMBINED),
    (Term.SHARED_SIZE, Term.FIXED, Term.COMBINED),
    (Term.SHARED_SIZE, Term.SHARED, Term.FIXED),
    (Term.SHARED_SIZE, Term.SIZE, Term.FIXED),
)


def amount(term: Term, setting: RunSetting) -> float:
    """Return the factor of a term's coefficient; sizes in GiB."""
    size = (setting.delivered_bytes or 0.0) / _GIB
    match term:
        case Term.FIXED:
            return 1.0
        case Term.SHARED:
            return 1.0 / setting.cores
        case Term.COMBINED:
            return math.log(max(setting.cores, 1.0))
        case Term.SIZE:
            return size
        case Term.SHARED_SIZE:
            return size / setting.cores


def forms_for(samples: Sequence[RunSample]) -> tuple[Form, ...]:
    """Return the forms with terms that these runs can distinguish, those with the fewest terms first."""
    cores = {round(sample.setting.cores, 1) for sample in samples}
    sizes = [sample.setting.delivered_bytes or 0.0 for sample in samples]
    sized = min(sizes) > 0 and max(sizes) > _SIZES_DIFFER * min(sizes)
    settings = {setting_of(sample) for sample in samples}

    def distinguishable(form: Form) -> bool:
        needs = {Term.SHARED: 2, Term.SHARED_SIZE: 2, Term.COMBINED: _LOG_NEEDS}
        if any(len(cores) < needs.get(term, 1) for term in form):
            return False
        return (sized or not {Term.SIZE, Term.SHARED_SIZE} & set(form)) and len(form) <= len(settings)

    return tuple(form for form in _FORMS if distinguishable(form))


def setting_of(sample: RunSample) -> tuple[float, float, float]:
    """Return the setting as rounded numbers: runs with equal ones repeat each other."""
    one = sample.setting
    return round(one.cores, 1), _two_digits(one.delivered_bytes), _two_digits(one.rate or one.guaranteed)


def _two_digits(number: float | None) -> float:
    """Return the number with two digits; 0 if it is unknown."""
    return float(f"{number or 0.0:.1e}")
