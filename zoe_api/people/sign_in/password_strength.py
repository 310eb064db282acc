"""Refuse passwords that are common, only digits, or made of words known to all users here (NIST SP 800-63B, 5.1.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zoe_api.http.hosts import names_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Services
from zoe_client.wire import Diagnostic

# Estimated by zxcvbn; the brake allows about two thousand guesses a day.
_GUESSES_MIN = 10**8
_ESTIMATED_LENGTH_MAX = 72  # the estimate takes time quadratic in the length
# Typical additions to a word where a rule requires digits: a year, or one or two digits. zxcvbn counts each separately.
_DECORATION = re.compile(r"(?<!\d)(?:(?:19|20)\d\d|\d{1,2})(?!\d)|[\W_]+")
_WORDS_DECORATED_MAX, _DIGITS_DECORATING_MAX = 2, 4
_GUESSES_OF_WORDS_MIN = 10**6
_WORD_LENGTH_MIN = 3
_HINT = "four unrelated words are long and easy to remember; `zoe admin user password` can generate a password"


def check_strength(password: str, user: str, services: Services, field: str) -> None:
    """Refuse a password that is easy to guess; `field` is its place in the body."""
    if re.sub(r"[\W_]+", "", password).isdigit():
        why = "only digits"
    elif _common(password[:_ESTIMATED_LENGTH_MAX], own_words(user, services)):
        why = "common, or easy to guess"
    else:
        return
    place = [Diagnostic(pointer=f"/body/{field}", code="weak_password", message=f"the password is {why}")]
    raise ApiProblem(Code.INVALID_REQUEST, f"the password is {why}", _HINT, place)


def own_words(user: str, services: Services) -> Sequence[str]:
    """Return words that an attacker would try first: names of hosts, tenants and the user."""
    names = [
        "zoe",
        user,
        services.settings.apps_domain,
        *names_of(services.settings),
        *(tenant.name for tenant in services.accounts.tenants()),
    ]
    words = {part for name in names for part in (name, *re.split(r"[\W_]+", name)) if len(part) >= _WORD_LENGTH_MIN}
    return sorted(words)


def _common(password: str, words: Sequence[str]) -> bool:
    if _guesses(password, words) < _GUESSES_MIN:
        return True
    # Several names in a row count as many guesses, but an attacker who knows this installation needs few.
    rest = re.sub("|".join(map(re.escape, sorted(words, key=len, reverse=True))), " ", password, flags=re.IGNORECASE)
    if rest != password and _guesses(_DECORATION.sub("", rest), ()) < _GUESSES_OF_WORDS_MIN:
        return True
    parts = [part for part in _DECORATION.split(password) if part]
    digits = sum(letter.isdigit() for letter in password)
    if parts == [password] or len(parts) > _WORDS_DECORATED_MAX or digits > _DIGITS_DECORATING_MAX:
        return False
    return _guesses("".join(parts), words) < _GUESSES_OF_WORDS_MIN


def _guesses(password: str, words: Sequence[str]) -> float:
    # Imported here, as its lists take longer to load than most requests, and few requests set a password.
    from zxcvbn import zxcvbn

    return float(zxcvbn(password, user_inputs=list(words))["guesses"]) if password else 0.0
