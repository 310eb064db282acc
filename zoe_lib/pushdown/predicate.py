"""Parse the `where` of a pushdown, for checks of descriptions and for Swift's filters. Standard library only.

    where      = and-list { "or" and-list }          and-list = term { "and" term }
    term       = "not" term | "(" where ")" | test
    test       = column op literal | column "in" "(" literal {"," literal} ")" | column "between" literal "and" literal
               | column "is" ["not"] "null"
    op         = "=" | "!=" | "<>" | "<" | "<=" | ">" | ">="
    column     = identifier | `quoted with back-ticks`   literal = 'text' (with '' for a quote) | number

A comparison with a number compares numbers; one with a text compares UTF-8 bytes, as Spark does, or dates, times and
truth values if the column has such a type (`column_types`). An empty field, or one that is not a value of its type, is
null: a comparison with it is neither true nor false, and only rows for which the whole `where` is true are selected
(SQL's three-valued logic). Numbers are parsed exactly, without rounding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

LENGTH_MAX = 4096
"""Maximum characters of a `where`."""
TERMS_MAX = 200
DEPTH_MAX = 50
EXPONENT_MAX = 300
"""Maximum decimal exponent of a number, in both directions: within double precision."""

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
_OPERATORS = {"=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TOKEN = re.compile(
    r"""(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|'(?P<text>(?:[^']|'')*)'|`(?P<quoted>[^`]+)`
    |(?P<word>[A-Za-z_]\w*)|(?P<sign><=|>=|<>|!=|[=<>(),]))""",
    re.VERBOSE,
)
_WORDS = frozenset({"and", "or", "not", "in", "between", "is", "null"})


class PredicateError(ValueError):
    """A `where` that cannot be parsed; the message gives the place."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with a literal: a number or a text."""

    column: str
    operator: Operator
    literal: Decimal | str


@dataclass(frozen=True, slots=True)
class IsNull:
    """A column without a value."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    term: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All of these."""

    terms: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of these."""

    terms: tuple[Predicate, ...]


Predicate: TypeAlias = Comparison | IsNull | Not | And | Or


def parse(text: str) -> Predicate:
    """Parse a `where`; PredicateError if it is invalid."""
    if len(text) > LENGTH_MAX:
        raise PredicateError(f"the condition is longer than {LENGTH_MAX} characters")
    parser = _Parser(list(_tokens(text)))
    found = parser.either(0)
    parser.expect_end()
    return found


def columns(predicate: Predicate) -> frozenset[str]:
    """Return the columns that it reads."""
    match predicate:
        case Comparison(column=column) | IsNull(column=column):
            return frozenset({column})
        case Not(term=term):
            return columns(term)
        case And(terms=terms) | Or(terms=terms):
            return frozenset().union(*map(columns, terms))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    value: str
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        at += len(text[at:]) - len(text[at:].lstrip())
        found = _TOKEN.match(text, at)
        if found is None:
            raise PredicateError(f"cannot be parsed from character {at + 1}: {text[at : at + 20]!r}")
        kind = str(found.lastgroup)
        value = found.group(kind)
        if kind == "word" and value.lower() in _WORDS:
            kind, value = "keyword", value.lower()
        yield _Token("word" if kind == "quoted" else kind, value.replace("''", "'") if kind == "text" else value, at)
        at = found.end()


class _Parser:
    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._terms = 0

    def either(self, depth: int) -> Predicate:
        terms = [self._conjunction(depth)]
        while self._take("keyword", "or"):
            terms.append(self._conjunction(depth))
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._expected_error("the end")

    def _conjunction(self, depth: int) -> Predicate:
        terms = [self._term(depth)]
        while self._take("keyword", "and"):
            terms.append(self._term(depth))
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def _term(self, depth: int) -> Predicate:
        if depth > DEPTH_MAX:
            raise PredicateError(f"the condition is nested more than {DEPTH_MAX} levels deep")
        if self._take("keyword", "not"):
            return Not(self._term(depth + 1))
        if self._take("sign", "("):
            inner = self.either(depth + 1)
            self._expect("sign", ")")
            return inner
        return self._test()

    def _test(self) -> Predicate:
        column = self._expect("word", what="a column")
        if self._take("keyword", "is"):
            negative = self._take("keyword", "not")
            self._expect("keyword", "null")
            return Not(IsNull(column)) if negative else IsNull(column)
        negative = self._take("keyword", "not")
        if self._take("keyword", "in"):
            predicate: Predicate = self._membership(column)
        elif self._take("keyword", "between"):
            low = self._literal()
            self._expect("keyword", "and")
            predicate = And((self._comparison(column, ">=", low), self._comparison(column, "<=", self._literal())))
        elif negative:
            raise self._expected_error("`in` or `between`")
        else:
            sign = self._expect("sign", what="a comparison")
            if sign not in _OPERATORS:
                self._next -= 1
                raise self._expected_error("a comparison")
            return self._comparison(column, _OPERATORS[sign], self._literal())
        return Not(predicate) if negative else predicate

    def _membership(self, column: str) -> Predicate:
        self._expect("sign", "(")
        terms = [self._comparison(column, "=", self._literal())]
        while self._take("sign", ","):
            terms.append(self._comparison(column, "=", self._literal()))
        self._expect("sign", ")")
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _comparison(self, column: str, operator: str, literal: Decimal | str) -> Comparison:
        self._terms += 1
        if self._terms > TERMS_MAX:
            raise PredicateError(f"the condition has more than {TERMS_MAX} comparisons")
        return Comparison(column, operator, literal)  # type: ignore[arg-type]  # one of _OPERATORS' values

    def _literal(self) -> Decimal | str:
        token = self._peek()
        if token is None or token.kind not in ("number", "text"):
            raise self._expected_error("a number or a 'text'")
        self._next += 1
        if token.kind == "text":
            return token.value
        number = Decimal(token.value)
        if number and abs(number.adjusted()) > EXPONENT_MAX:
            raise PredicateError(f"the number at character {token.at + 1} is too large or too small")
        return number

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, kind: str, value: str) -> bool:
        token = self._peek()
        if token is None or (token.kind, token.value) != (kind, value):
            return False
        self._next += 1
        return True

    def _expect(self, kind: str, value: str | None = None, what: str = "") -> str:
        token = self._peek()
        if token is None or token.kind != kind or value not in (None, token.value):
            raise self._expected_error(what or repr(value))
        self._next += 1
        return token.value

    def _expected_error(self, wanted: str) -> PredicateError:
        token = self._peek()
        if token is None:
            return PredicateError(f"ends too early: {wanted} is expected")
        return PredicateError(f"{wanted} is expected at character {token.at + 1}, not {token.value!r}")
