"""Check and convert descriptions: functions of values, since those of long ones run in another process."""

from __future__ import annotations

from typing import Any

from zoe_client.wire import ConvertResponse, ValidateResponse
from zoe_lib import descriptions
from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.applications.application import Application
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import with_time_limit
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.checking import Checked, check_description
from zoe_lib.submission.deadlines import deadline_of
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import from_description


def check(
    place: SubmissionPlace,
    principal: Principal,
    document: dict[str, Any],
    priority: int | None,
    terms: TermsVersions | None,
) -> Checked:
    """Return the application of a description that may run here; SubmissionRefused."""
    return check_description(document, place, principal, priority, terms)


def as_submitted(
    place: SubmissionPlace, principal: Principal, document: dict[str, Any], priority: int | None = None
) -> tuple[Application, list[str], int]:
    """Return the application as stored for its tenant, the notes for its user, and its priority."""
    fit = check_description(document, place, principal, priority)
    application, limit_notes = with_time_limit(fit.application, principal.tenant, place.store.policy().limits)
    return application, [*fit.notes, *limit_notes], fit.priority


def validate(place: SubmissionPlace, principal: Principal, document: dict[str, Any], now_s: float) -> bytes:
    """Return the expanded description and its notes, as JSON of a `ValidateResponse`."""
    application, notes, _ = as_submitted(place, principal, document)
    _, warnings = deadline_of(None, None, application, now_s)
    notes += [*warnings, *unknown_run(application)]
    return _json(ValidateResponse(expanded=descriptions.to_document(application), notes=notes))


def convert(_: SubmissionPlace, document: object) -> bytes:
    """Return the description in version 4 and its notes, as JSON of a `ConvertResponse`; SubmissionRefused."""
    try:
        conversion = descriptions.convert(document)
    except DescriptionError as error:
        raise from_description(error) from None
    return _json(ConvertResponse(document=conversion.document, notes=[str(note) for note in conversion.notes]))


def unknown_run(application: Application) -> list[str]:
    """Return a note if the application has a deadline, and no run time to compare it with."""
    wanted = application.default_deadline or application.default_deadline_s
    if wanted is None or application.expected_run_s:
        return []
    return ["whether its deadline can be met is not known: it declares no run time (size.run_time_s)"]


def _json(response: ValidateResponse | ConvertResponse) -> bytes:
    return response.model_dump_json().encode()
