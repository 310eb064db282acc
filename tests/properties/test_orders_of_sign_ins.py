"""Two browsers, an honest provider, one that lies, and Zoe: in no order of messages is a user signed in who did not
type the password.

Zoe's decisions are those of the product. The honest provider checks redirect URI and PKCE; the attacker has the other
browser and the provider that lies, knows what these see, and sends the victim's browser where it likes. Messages are
never used up here, so that everything possible in some order is in the one set of messages that grows until nothing is
new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest

from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import oidc_answers
from zoe_api.people.sign_in.oidc_answers import Answer

HONEST, LIAR = "honest", "liar"
PROVIDERS = (HONEST, LIAR)
ISSUERS = {HONEST: "https://honest.example", LIAR: "https://liar.example"}
VICTIM, ATTACKER = "victim", "attacker"
# A start has one state, nonce, verifier and challenge, so its name stands for each of them.
STARTS = {f"{who} at {provider}": (who, provider) for who in (VICTIM, ATTACKER) for provider in PROVIDERS}
OWN = f"{VICTIM} at {HONEST}"
SEEN = sorted(set(STARTS) - {OWN})
"""The starts with addresses that the attacker sees: those of its browser, and those at the provider that lies."""
PLACES = (None, HONEST, LIAR)
REGISTERED = (None, HONEST)
"""Redirect URIs at the honest provider; the one without a name may still be there."""


@dataclass(frozen=True)
class Code:
    """A code of the honest provider for a user, and the requested place, nonce and challenge."""

    user: str
    place: str | None
    nonce: str
    challenge: str


@dataclass(frozen=True)
class Return:
    """What a browser asks of Zoe, with a code."""

    browser: str
    answer: Answer
    code: Code


class SignedInAsAnother(Exception):  # noqa: N818 - the fact
    pass


@dataclass(frozen=True)
class Model:
    announces: bool
    checks_place: bool = True

    def explore(self) -> set[Code]:
        """Return the codes that the attacker learns in any order of messages; SignedInAsAnother."""
        known: set[Code] = set()
        returns = set(self._typed(known))
        while True:
            before = len(known)
            returns |= set(self._forged(known))
            for entry in returns:
                self._returned(entry, known)
            if len(known) == before:
                return known

    def _typed(self, known: set[Code]) -> Iterator[Return]:
        """Passwords are typed at the honest provider, asked as the browser's own start does or as the attacker likes.
        It knows the codes that its own browser brings back."""
        issuer = ISSUERS[HONEST] if self.announces else None
        for place, state, nonce, challenge in ((HONEST, OWN, OWN, OWN), *product(REGISTERED, SEEN, SEEN, SEEN)):
            known.add(Code(ATTACKER, place, nonce, challenge))
            yield Return(VICTIM, Answer(state, issuer=issuer, at=place), Code(VICTIM, place, nonce, challenge))

    def _forged(self, known: set[Code]) -> Iterator[Return]:
        for browser, place, state, code in product((VICTIM, ATTACKER), PLACES, SEEN, known):
            for issuer in (None, *ISSUERS.values()):
                yield Return(browser, Answer(state, issuer=issuer, at=place), code)

    def _returned(self, one: Return, known: set[Code]) -> None:
        """Zoe finds the start of this browser, checks the answer, and sends the code to the provider of the start."""
        owner, provider = STARTS[one.answer.state]
        if owner != one.browser:
            return
        try:
            if self.checks_place:
                oidc_answers.check_place(provider, PROVIDERS, one.answer)
            announced = self.announces and provider == HONEST
            oidc_answers.check_issuer(provider, ISSUERS[provider], announced, one.answer)
        except ApiProblem:
            return
        if provider == LIAR:
            known.add(one.code)
            return
        place = HONEST if self.checks_place else one.code.place
        right = (one.code.place, one.code.nonce, one.code.challenge) == (place, one.answer.state, one.answer.state)
        if right and one.code.user != one.browser:
            raise SignedInAsAnother(f"{one.browser} as {one.code.user} by {one.answer}")


@pytest.mark.parametrize("announces", [False, True])
def test_no_order_of_messages_signs_in_another_than_who_typed_the_password(announces: bool) -> None:
    known = Model(announces).explore()
    assert {code.user for code in known} == {ATTACKER}


def test_the_issuer_alone_is_enough_where_it_is_announced() -> None:
    assert {code.user for code in Model(announces=True, checks_place=False).explore()} == {ATTACKER}


def test_without_both_the_model_finds_the_attack() -> None:
    with pytest.raises(SignedInAsAnother, match="attacker as victim"):
        Model(announces=False, checks_place=False).explore()
