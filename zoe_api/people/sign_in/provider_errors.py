"""Failures of identity providers: the client gets a sentence, the log gets the cause."""

from __future__ import annotations

import structlog

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem

log = structlog.get_logger(__name__)


def provider_unavailable(provider: str, cause: str, told: str = "gave no valid answer") -> ApiProblem:
    """Return the refusal, and log the cause. told: the text for the client after the name of the provider.

    The cause contains addresses and entries of the provider, and the client has not signed in yet.
    """
    log.warning("provider_unavailable", provider=provider, cause=cause[:500])
    return ApiProblem(Code.PROVIDER_UNAVAILABLE, f"{provider} {told}", "try again later, or ask an admin")
