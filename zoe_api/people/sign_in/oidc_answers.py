"""Which answer of a provider belongs to which sign-in (RFC 9700, section 4.4; RFC 9207).

With two providers, one that lies can send a browser on to the other one. The code of the honest provider must then not
go to the token endpoint of the other, which could sign in with it. So each provider has a redirect URI of its own, at
which honest providers answer, and nothing of an answer is used before its place is checked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem

CALLBACK = "/api/v1/session/oidc/callback"
"""The redirect URI of the only provider, and what those of several providers begin with."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a browser brings back. `at` is the provider in the path of the redirect URI; None if the path names none."""

    state: str = ""
    code: str = ""
    error: str = ""
    issuer: str | None = None
    at: str | None = None


class MixedUp(ApiProblem):
    """401: the answer is not of the provider at which the sign-in began; `why` is for the audit log."""

    def __init__(self, provider: str, why: str) -> None:
        super().__init__(Code.SIGN_IN_MIXED_UP, why, "start again; if it happens twice, tell an admin")
        self.provider = provider
        self.why = why


def callback_path(provider: str, providers: Collection[str]) -> str:
    """Return the path of a provider's redirect URI: one of its own unless it is the only provider."""
    return CALLBACK if len(providers) == 1 else f"{CALLBACK}/{quote(provider, safe='')}"


def check_place(provider: str, providers: Collection[str], answer: Answer) -> None:
    """Raise MixedUp unless the answer arrived at the redirect URI of the provider at which the sign-in began."""
    expected = None if len(providers) == 1 else provider
    if answer.at != expected:
        place = "the redirect URI without a name" if answer.at is None else f"the redirect URI of {answer.at[:100]!r}"
        raise MixedUp(provider, f"the answer to a sign-in at {provider!r} arrived at {place}")


def check_issuer(provider: str, issuer: str, required: bool, answer: Answer) -> None:
    """Raise MixedUp if the answer names another issuer, or none where the provider announces that it does."""
    if answer.issuer is None and not required:
        return
    if answer.issuer != issuer:
        said = "without an issuer" if answer.issuer is None else f"of the issuer {answer.issuer[:200]!r}"
        raise MixedUp(provider, f"the answer to a sign-in at {provider!r} is {said}")
