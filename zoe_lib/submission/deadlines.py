"""Deadlines of submissions: read, check, and note problems at once."""

from __future__ import annotations

from datetime import UTC

from zoe_client.wire import Diagnostic
from zoe_client.words.times import BadTime, GivenTime, in_full, read_deadline
from zoe_lib.domain.applications.application import Application, ApplicationKind
from zoe_lib.domain.values.finish_times import INDICES_PROMISED_MAX
from zoe_lib.submission.refusal import SubmissionRefused


def deadline_of(
    text: str | None,
    after_s: float | None,
    application: Application,
    now_s: float,
    place: str = "/deadline",
    begin_at_s: float | None = None,
) -> tuple[float | None, tuple[str, ...]]:
    """Return the deadline in seconds since the epoch, None without, and notes for its user.

    The request's deadline takes precedence over the description's. SubmissionRefused if it has passed, or is not a
    time.
    """
    given = wanted_deadline(text, after_s, application, now_s, place)
    check_promise(application, given, now_s, begin_at_s)
    if given is None:
        return None, ()
    notes = [given.note] if given.note else []
    if application.promise is None and (warning := too_soon(given, application, now_s)) is not None:
        notes.append(warning)
    return given.at_s, tuple(notes)


def wanted_deadline(
    text: str | None, after_s: float | None, application: Application, now_s: float, place: str = "/deadline"
) -> GivenTime | None:
    """Return the deadline of the request, else that of the description; None without. SubmissionRefused."""
    if text is None and after_s is None:
        text, after_s = application.default_deadline, application.default_deadline_s
    return given_deadline(text, after_s, now_s, place)


def given_deadline(text: str | None, after_s: float | None, now_s: float, place: str = "/deadline") -> GivenTime | None:
    """Return a deadline given as a text or in seconds from now; None without. SubmissionRefused, with its place in the
    request.
    """
    if text is None:
        return None if after_s is None else GivenTime(now_s + after_s, after_s, UTC)
    try:
        return read_deadline(text, now_s, UTC, zone_needed=True)
    except BadTime as error:
        wrong = Diagnostic(pointer=place, code="invalid", message=str(error))
        raise SubmissionRefused("invalid_request", str(error), errors=[wrong]) from None


def check_no_promise(
    application: Application, what: str, place: str = "/application/promise", instead: str = ""
) -> None:
    """Raise SubmissionRefused if a workflow step requests its own promise. instead: the unit that can get one."""
    if application.promise is not None:
        why = f"{what} cannot be promised to end by a time; without `promise`, the deadline is a wish"
        wrong = Diagnostic(pointer=place, code="invalid", message=why, hint=instead)
        raise SubmissionRefused("invalid_request", why, instead, errors=[wrong])


def check_whole(application: Application, members: int, limit: int | None, pairwise: bool = False) -> None:
    """Raise SubmissionRefused if a promise is requested for an array that cannot have one: it has too many indices, or
    each of them runs after one of another array (`pairwise`). limit: of executions of its tenant and user.
    """
    why = ""
    if application.promise is None:
        return
    if members > INDICES_PROMISED_MAX:
        why = f"at most {INDICES_PROMISED_MAX} indices are promised together; it has {members}"
    elif limit is not None and members > limit:
        why = f"its {members} executions are promised together, and the limits of its tenant or user allow {limit}"
    elif pairwise:
        why = "an array whose indices run after those of another array cannot be promised"
    if why:
        wrong = Diagnostic(pointer="/application/promise", code="invalid", message=why)
        raise SubmissionRefused("invalid_request", why, errors=[wrong])


def check_promise(
    application: Application, given: GivenTime | None, now_s: float, begin_at_s: float | None = None
) -> None:
    """Raise SubmissionRefused if a promise is requested without a time, for a past time, or for a time before it may
    begin.
    """
    if application.promise is None:
        return
    if application.kind is ApplicationKind.INTERACTIVE:
        why = "an interactive application does not end by itself, so it cannot be promised"
    elif given is None:
        why = "a promise needs a time: give a deadline"
    elif given.at_s <= now_s:
        why = "the time has passed"
    elif begin_at_s is not None and begin_at_s >= given.at_s:
        why = "it begins after its deadline"
    else:
        return
    wrong = Diagnostic(pointer="/application/promise", code="invalid", message=why)
    raise SubmissionRefused("invalid_request", why, errors=[wrong])


def too_soon(given: GivenTime, application: Application, now_s: float) -> str | None:
    """Return a warning if the declared run time alone exceeds the deadline; None otherwise, or without a declared
    one.
    """
    run_s = application.expected_run_s
    if not run_s or now_s + run_s <= given.at_s:
        return None
    ends = in_full(now_s + run_s, given.zone)
    return f"the deadline {given.in_full} cannot be met: earliest end {ends}, by its declared run time of {run_s:g} s"
