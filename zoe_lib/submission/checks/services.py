"""Refuse features that services of this installation cannot provide."""

from __future__ import annotations

from zoe_client.documents.diagnostics import pointer
from zoe_client.wire import Diagnostic
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.refusal import SubmissionRefused

_REQUIRED = "jobs"
"""A component with `api: offered` starts without a token, too."""


def refuse_unreachable_api(examined: Examined) -> SubmissionRefused | None:
    """Return the refusal of components that need the API, if they cannot reach it."""
    asking = [index for index, component in enumerate(examined.application.components) if component.api == _REQUIRED]
    if not asking or examined.settings.services_api_url is not None:
        return None
    why = "services of this installation do not know the address of the API"
    error = Diagnostic(pointer=pointer("components", asking[0], "api"), code="unavailable", message=why)
    return SubmissionRefused("jobs_unreachable", why, "an admin can set services_api_url", [error])
