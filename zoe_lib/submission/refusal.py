"""Refusals of submissions, in the form that the API answers and schedules store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zoe_client.wire import Diagnostic
from zoe_lib.descriptions import DescriptionError
from zoe_lib.descriptions import Diagnostic as Finding
from zoe_lib.store.errors import QuotaExceeded, StoreError, TimeLimitTooLong

TEXT_MAX = 1000
_ERRORS_MAX = 100  # limits the answer to a hostile request; no reader needs more


@dataclass(eq=False)
class SubmissionRefused(Exception):  # noqa: N818 - it is an answer
    """The submission is refused. `code`: that of the API's problem; `errors`: with their places in the document."""

    code: str
    detail: str = ""
    hint: str = ""
    errors: Sequence[Diagnostic] = ()

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


def from_description(error: DescriptionError) -> SubmissionRefused:
    """Return the refusal of a description, with every diagnostic."""
    found = diagnostics_of(error.diagnostics)
    hint = f"the first {_ERRORS_MAX} are listed: there may be more" if len(found) >= _ERRORS_MAX else ""
    return SubmissionRefused("invalid_description", error_count(len(found)), hint, found)


def from_limits(refusal: StoreError) -> SubmissionRefused:
    """Return the refusal of a submission beyond its limits."""
    if isinstance(refusal, TimeLimitTooLong):
        place = [Diagnostic(pointer="/time_limit_s", code="too_long", message="longer than the quota allows")]
        hint = "ask for a shorter time limit, or ask an admin for a longer quota"
        return SubmissionRefused("time_limit_too_long", str(refusal), hint, place)
    assert isinstance(refusal, QuotaExceeded)
    return SubmissionRefused("quota_exceeded", str(refusal))


def diagnostics_of(found: Iterable[Finding]) -> list[Diagnostic]:
    """Return findings as diagnostics of the API."""
    return [
        Diagnostic(pointer=d.pointer, code=d.code, message=d.message[:TEXT_MAX], hint=d.hint[:TEXT_MAX]) for d in found
    ]


def error_count(number: int) -> str:
    """Return a number of errors in words."""
    return f"{number} error{'s' if number != 1 else ''}"
