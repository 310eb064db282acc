"""What is told when a provider of identities fails: a sentence to whoever asks, the cause to the log."""

from __future__ import annotations

import structlog

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem

log = structlog.get_logger(__name__)


def provider_unavailable(provider: str, cause: str) -> ApiProblem:
    """Return the refusal, and log the cause.

    The cause names addresses and entries of the provider, and whoever asks has not signed in yet.
    """
    log.warning("provider_unavailable", provider=provider, cause=cause[:500])
    return ApiProblem(
        Code.PROVIDER_UNAVAILABLE, f"{provider} did not answer as it should", "try again later, or ask an admin"
    )
