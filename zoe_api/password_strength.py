"""Refuses passwords that are common, only digits, or made of the user's name (NIST SP 800-63B, 5.1.1)."""

from __future__ import annotations

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.wire import Diagnostic

# Less than a million guesses by the estimate of zxcvbn; the brake lets through about two thousand a day.
_SCORE_MIN = 2
_ESTIMATED_LENGTH_MAX = 72  # the estimate takes time that grows with the square of the length
_HINT = "four words that do not belong together are long and easy to keep; `zoe admin user password` can make one"


def check_strength(password: str, user: str, field: str) -> None:
    """Refuse a password that is guessed early; `field` is where it stands in the body."""
    if password.isdigit():
        why = "only digits"
    elif _common(password, user):
        why = "common, or easy to guess"
    else:
        return
    place = [Diagnostic(pointer=f"/body/{field}", code="weak_password", message=f"the password is {why}")]
    raise ApiProblem(Code.INVALID_REQUEST, f"the password is {why}", _HINT, place)


def _common(password: str, user: str) -> bool:
    # Here, as its lists take longer to load than most requests, and few set a password.
    from zxcvbn import zxcvbn

    return int(zxcvbn(password[:_ESTIMATED_LENGTH_MAX], user_inputs=[user, "zoe"])["score"]) < _SCORE_MIN
