"""The language of rules: parsed, checked, and written again.

FOR TENANT T1 WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION
FOR CONTAINER:4f0279/logs, CONTAINER:4f0279/old
    DO SET COMPRESSION WITH TYPE=ZSTD ON PROXY TO OBJECT_SIZE<10M REPLACES ALL

A rule begins with FOR at the beginning of a line. One with several targets is stored as one rule for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from lark import Lark, Token, Tree, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from storage_bridge.model import RATE_MAX
from storage_controller.rules.grammar import EXPECTED, GRAMMAR
from storage_filters.rules.rules import (
    BANDWIDTH,
    OBJECT_SIZE,
    STATIC_NAMES,
    Action,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Operator,
    Rule,
    Target,
    TargetKind,
    comparisons,
    number_of,
)

LINE_CHARACTERS_MAX = 4096
DEPTH_MAX = 32
"""Most nested parentheses, so that neither the parser nor a proxy recurses further."""
_PARTS = {TargetKind.TENANT: 1, TargetKind.CONTAINER: 2, TargetKind.OBJECT: 3, TargetKind.GROUP: 1}
_FORM = ("tenant", "container", "object")
_RATE_NAMES = ("MIN_BW", "PARAM1", "BW")
_RATE = re.compile(r"\d+(?:\.\d+)?[KMG]?B(?:ps|/s)", re.IGNORECASE)
_EQUALITY = (Operator.EQUAL, Operator.UNEQUAL)
_PLAIN_VALUE = re.compile(r'[^\s,()<>=!"]+')
_PLAIN_PLACE = re.compile(r'[^\s":,][^\s",]*')
_BEGIN = re.compile(r"\s*FOR(?![\w-])", re.IGNORECASE)


class RuleError(ValueError):
    """A rule cannot be parsed; the message has the position and the expected tokens. row: the line within the rule."""

    def __init__(self, sentence: str, row: int = 0) -> None:
        super().__init__(sentence)
        self.row = row


def parse_rules(text: str, tenant: str | None = None) -> Iterator[Rule]:
    """Yield the rules of a text, one for each target. Raises RuleError, which names the line."""
    for number, lines in _lines_by_rule(text):
        try:
            yield from _parse("\n".join(lines), tenant)
        except RuleError as error:
            raise RuleError(f"line {number + error.row}: {error}") from None


def parse_rule(line: str, tenant: str | None = None) -> Rule:
    """Parse one rule with one target; `tenant` is the caller's, for targets without one. Raises RuleError."""
    rule, *more = _parse(line, tenant)
    if more:
        raise RuleError("the rule has several targets: write a rule for each")
    return rule


def _lines_by_rule(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line and the lines of each rule: a line that does not begin with FOR continues the
    rule before it.
    """
    first, lines = 1, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if lines and (_BEGIN.match(line) or not line.strip()):
            yield first, lines
            lines = []
        if line.strip():
            first, lines = (first, [*lines, line]) if lines else (number, [line])
    if lines:
        yield first, lines


def _parse(text: str, tenant: str | None) -> list[Rule]:
    if len(text) > LINE_CHARACTERS_MAX:
        raise RuleError(f"the rule is longer than {LINE_CHARACTERS_MAX} characters")
    _check_depth(text)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _error(text, error) from None
    rules = _rules(tree, tenant)
    for term in (*comparisons(rules[0].condition), *(term for action in rules[0].actions for term in action.only)):
        _check(term)
    for action in rules[0].actions:
        bandwidth_of(action)
        _check_only(action)
    return rules


def show_rule(rule: Rule) -> str:
    """Return the text of a rule; parsing it gives the same rule."""
    words = [f"FOR {rule.target.kind}:{_quote(rule.target.name, _PLAIN_PLACE)}"]
    if rule.condition is not None:
        words.append(f"WHEN {condition_text(rule.condition)}")
    words.append("DO " + ", ".join(map(_shown_action, rule.actions)))
    if rule.replaces_all is not None:
        words.append("REPLACES ALL" if rule.replaces_all else "REPLACES SAME")
    if rule.mandatory:
        words.append("MANDATORY")
    return " ".join(words)


def bandwidth_of(action: Action) -> int | None:
    """Return the bytes per second that `SET BANDWIDTH WITH MIN_BW=30MBps` guarantees; None for other actions. Raises
    RuleError.
    """
    if action.verb != "SET" or action.kind != BANDWIDTH:
        return None
    text = next((value for name in _RATE_NAMES if (value := action.parameter(name)) is not None), "")
    if not _RATE.fullmatch(text):
        raise RuleError("BANDWIDTH needs MIN_BW=<number><K, M or G>Bps")
    rate = number_of(text)
    if rate is None or not 1 <= rate <= RATE_MAX:
        raise RuleError(f"BANDWIDTH must be from 1 to {RATE_MAX} bytes per second")
    return int(rate)


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _check_depth(line: str) -> None:
    depth = 0
    for character in re.sub(r'"[^"]*"', "", line):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth > DEPTH_MAX:
            raise RuleError(f"the rule nests more than {DEPTH_MAX} parentheses")


def _error(line: str, error: UnexpectedInput) -> RuleError:
    """Return an error with the position, the text there, and the expected tokens."""
    names: set[str] = set()
    place: int | None = len(line.rstrip())
    if isinstance(error, UnexpectedCharacters):
        names, place = set(error.allowed or ()), error.pos_in_stream
    elif isinstance(error, UnexpectedToken):
        names = set(error.accepts or error.expected)
        place = place if error.token.type == "$END" else error.pos_in_stream
    place = place or 0
    rest = line[place:].split()
    there = f"{rest[0][:40]!r}" if rest else "the end"
    expected = sorted({EXPECTED[name] for name in names if name in EXPECTED})
    column, row = place - line.rfind("\n", 0, place), line.count("\n", 0, place)
    return RuleError(f"character {column}: {there} where the rule needs {' | '.join(expected) or 'nothing more'}", row)


def _rules(tree: Tree[Token], tenant: str | None) -> list[Rule]:
    """Return a rule for each target."""
    targets: dict[Target, None] = {}
    condition: Condition | None = None
    actions: tuple[Action, ...] = ()
    replaces_all: bool | None = None
    mandatory = False
    for part in tree.children:
        assert isinstance(part, Tree)
        match part.data:
            case "target":
                targets[_target(part, tenant)] = None
            case "any_of":
                condition = _condition(part)
            case "actions":
                actions = tuple(_action(action) for action in _trees(part))
            case "replaces":
                replaces_all = str(part.children[0]).upper() == "ALL"
            case "mandatory":
                mandatory = True
    first, *others = targets
    rule = Rule(first, condition, actions, replaces_all, mandatory)
    return [rule, *(replace(rule, target=target) for target in others)]


def _target(tree: Tree[Token], tenant: str | None) -> Target:
    kind = TargetKind(str(tree.children[0]).upper())
    name = _text(tree.children[-1])
    wanted = _PARTS[kind]
    if kind in (TargetKind.TENANT, TargetKind.GROUP):
        if "/" in name or not name:
            raise RuleError(f"{name!r} contains a slash, so it is not the name of a {kind.name.lower()}")
        return Target(kind, name)
    parts = name.split("/", wanted - 1)
    if len(parts) < wanted and tenant is not None:
        parts = [tenant, *parts]
    if len(parts) != wanted or not all(parts) or (kind is TargetKind.CONTAINER and "/" in parts[1]):
        article = "an" if kind is TargetKind.OBJECT else "a"
        raise RuleError(f"{article} {kind.lower()} is named {'/'.join(_FORM[:wanted])}")
    return Target(kind, *parts)


def _condition(tree: Tree[Token]) -> Condition:
    if tree.data == "comparison":
        return _comparison(tree)
    parts = tuple(_condition(part) for part in _trees(tree))
    if len(parts) == 1:
        return parts[0]
    made = AnyOf if tree.data == "any_of" else AllOf
    # Parentheses around the same operator change nothing.
    return made(
        tuple(comparison for part in parts for comparison in (part.parts if isinstance(part, made) else (part,)))
    )


def _comparison(tree: Tree[Token]) -> Comparison:
    name, operator, value = tree.children
    sign = _text(operator)
    return Comparison(_text(name), Operator.EQUAL if sign == "==" else Operator(sign), _text(value))


def _action(tree: Tree[Token]) -> Action:
    verb, filter_name = (str(part) for part in tree.children if isinstance(part, Token))
    parameters: tuple[tuple[str, str], ...] = ()
    found: dict[str, str] = {}
    only: tuple[Comparison, ...] = ()
    for part in _trees(tree):
        if part.data == "parameters":
            parameters = tuple((_text(tree.children[0]), _text(tree.children[1])) for tree in _trees(part))
        elif part.data == "only":
            only += tuple(map(_comparison, _trees(part)))
        elif part.data == "modifier":
            only += tuple(_comparison(term) for tree in _trees(part) for term in _trees(tree))
        elif str(part.data) in found:
            raise RuleError(f"{filter_name}: {str(part.data).upper()} is written twice")
        else:
            found[str(part.data)] = str(part.children[0]).upper()
    names = [name.upper() for name, _ in parameters]
    if len(names) != len(set(names)):
        raise RuleError(f"{filter_name}: a parameter is given twice")
    return Action(
        verb.upper(), filter_name, parameters, found.get("server"), found.get("duration"), "callable" in found, only
    )


def _check(term: Comparison) -> None:
    name = term.name.upper()
    if name in STATIC_NAMES - {OBJECT_SIZE}:
        if term.operator not in _EQUALITY:
            raise RuleError(f"{term.name} can only be compared with = or !=, not with {term.operator}")
    elif number_of(term.value) is None:
        raise RuleError(f"{term.name} is compared with a number such as 5 or 10M, not with {term.value!r}")


def _check_only(action: Action) -> None:
    for term in action.only:
        if term.name.upper() not in STATIC_NAMES:
            raise RuleError(
                f"after TO stand {', '.join(sorted(STATIC_NAMES))}, not {term.name}; metrics stand after WHEN"
            )


def _trees(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    return (part for part in tree.children if isinstance(part, Tree))


def _text(token: Tree[Token] | Token) -> str:
    text = str(token)
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _quote(text: str, plain: re.Pattern[str]) -> str:
    """Return a text as in rules: in quotes if necessary, with quotes within it doubled."""
    return text if plain.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def condition_text(condition: Condition) -> str:
    """Return the text of a condition."""
    if isinstance(condition, Comparison):
        return f"{condition.name}{condition.operator}{_quote(condition.value, _PLAIN_VALUE)}"
    word = " AND " if isinstance(condition, AllOf) else " OR "
    # OR binds less than AND, so only OR within AND needs parentheses.
    return word.join(
        f"({condition_text(part)})"
        if isinstance(part, AnyOf) and isinstance(condition, AllOf)
        else condition_text(part)
        for part in condition.parts
    )


def _shown_action(action: Action) -> str:
    words = [action.verb, action.filter]
    if action.parameters:
        words.append("WITH " + ", ".join(f"{name}={_quote(value, _PLAIN_VALUE)}" for name, value in action.parameters))
    if action.server:
        words.append(f"ON {action.server}")
    if action.duration:
        words.append(action.duration)
    if action.callable:
        words.append("CALLABLE")
    if action.only:
        words.append("TO " + ", ".join(map(condition_text, action.only)))
    return " ".join(words)
