"""Whatever text comes as a `where`, it is a predicate or a refusal."""

from __future__ import annotations

import random

import pytest

from tests.support.checks import of_checks
from zoe_lib.pushdown.predicate import PredicateError, parse

TEXTS = of_checks(20, 500_000)
WORDS = [
    "a", "city", "`odd name`", '"quoted"', "'text'", "'it''s'", "1", "-2.5", "1e400", "0x1", "=", "==", "<", ">=", "<>",
    "!=", "and", "or", "not", "AND", "is", "null", "in", "like", "between", "(", ")", ",", ";", "--", "/*", "\\", "'",
    '"', "`", "\x00", "\u202e", "é", "²", "true", "%", "_", " ", "\n", "cast", "(select", "a.b", "9" * 400,
]  # fmt: skip


def text(rng: random.Random) -> str:
    """Words at random, and now and then a valid comparison among them, or very many."""
    count = rng.choice([1, 2, 3, 5, 8, 13, 40])
    words = [rng.choice(WORDS) for _ in range(count)]
    if rng.random() < 0.3:
        words[rng.randrange(count)] = "city = 'Nice'"
    return rng.choice(["", " "]).join(words) if rng.random() < 0.5 else " ".join(words)


def check(candidate: str) -> bool:
    try:
        parse(candidate)
    except PredicateError:
        return False
    return True


def test_any_text_is_a_predicate_or_a_refusal() -> None:
    rng = random.Random(11)
    accepted = sum(check(text(rng)) for _ in range(TEXTS))
    assert 0 < accepted < TEXTS


@pytest.mark.parametrize(
    "hostile", ["(" * 100_000, "not " * 100_000, "a = 1 and " * 50_000, "'" * 100_001, "-" * 100_000]
)
def test_deep_and_long_texts_are_refused(hostile: str) -> None:
    assert not check(hostile)
