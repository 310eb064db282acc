"""Match responses of providers to sign-ins (RFC 9700, section 4.4; RFC 9207).

With two providers, a malicious one can redirect a browser to the other. The code of the honest provider must then not
reach the token endpoint of the other, which could sign in with it. So each provider has its own redirect URI, at which
honest providers answer, and a response is used only after a check of its URI.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem

CALLBACK = "/api/v1/session/oidc/callback"
"""The redirect URI of a single provider, and the prefix for several providers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The parameters of the browser's redirect. `at` is the provider in the path of the redirect URI; None if the path
    has none.
    """

    state: str = ""
    code: str = ""
    error: str = ""
    issuer: str | None = None
    at: str | None = None


class WrongProvider(ApiProblem):
    """401: the response is from another provider than the sign-in; `why` is for the audit log."""

    def __init__(self, provider: str, why: str) -> None:
        super().__init__(Code.SIGN_IN_MIXED_UP, why, "start again; if it happens twice, tell an admin")
        self.provider = provider
        self.why = why


def callback_path(provider: str, providers: Collection[str]) -> str:
    """Return the path of a provider's redirect URI: a separate one unless it is the only provider."""
    return CALLBACK if len(providers) == 1 else f"{CALLBACK}/{quote(provider, safe='')}"


def check_place(provider: str, providers: Collection[str], answer: Answer) -> None:
    """Raise WrongProvider unless the answer arrived at the redirect URI of the provider at which the sign-in began."""
    expected = None if len(providers) == 1 else provider
    if answer.at != expected:
        place = "the redirect URI without a name" if answer.at is None else f"the redirect URI of {answer.at[:100]!r}"
        raise WrongProvider(provider, f"the answer to a sign-in at {provider!r} arrived at {place}")


def check_issuer(provider: str, issuer: str, required: bool, answer: Answer) -> None:
    """Raise WrongProvider if the response names another issuer, or none although the provider announces one."""
    if answer.issuer is None and not required:
        return
    if answer.issuer != issuer:
        said = "without an issuer" if answer.issuer is None else f"of the issuer {answer.issuer[:200]!r}"
        raise WrongProvider(provider, f"the answer to a sign-in at {provider!r} is {said}")
