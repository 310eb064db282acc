"""Aliases of a filter with default parameters, in PostgreSQL, and their expansion in rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.tables import filter_words
from storage_filters.rules.rules import Action, Rule

WORDS_MAX = 200
_LOCK = 0x5A6F6577  # lock of requests that add aliases, so that their number stays bounded


@dataclass(frozen=True, slots=True)
class FilterWord:
    """An alias, in capitals, and its filter with default parameters."""

    name: str
    filter: str
    parameters: Mapping[str, str]
    attributes: Mapping[str, Any]


Words = Mapping[str, FilterWord]


def read_words(connection: sa.Connection) -> Words:
    """Return all aliases by name."""
    rows = connection.execute(sa.select(filter_words).order_by(filter_words.c.name))
    return {row.name: FilterWord(row.name, row.filter, row.parameters, row.attributes) for row in rows}


def keep_word(connection: sa.Connection, word: FilterWord, new: bool) -> None:
    """Create or change an alias. Raises RequestRefusedError."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    there = read_words(connection)
    if new and word.name in there:
        raise RequestRefusedError(409, f"filter word {word.name} already exists")
    if new and len(there) >= WORDS_MAX:
        raise RequestRefusedError(
            409, f"there are {len(there)} filter words, and at most {WORDS_MAX} are kept: remove some first"
        )
    values = {"filter": word.filter, "parameters": dict(word.parameters), "attributes": dict(word.attributes)}
    upsert = insert(filter_words).values(name=word.name, **values)
    connection.execute(upsert.on_conflict_do_update(index_elements=["name"], set_=values))


def drop_word(connection: sa.Connection, name: str) -> None:
    """Remove an alias, if it exists."""
    connection.execute(sa.delete(filter_words).where(filter_words.c.name == name))


def expand_rule(rule: Rule, words: Words) -> Rule:
    """Return a rule with aliases expanded. An alias stands for a filter, never for another alias."""
    if not any(action.kind in words for action in rule.actions):
        return rule
    return replace(rule, actions=tuple(_expand_action(action, words) for action in rule.actions))


def _expand_action(action: Action, words: Words) -> Action:
    word = words.get(action.kind)
    if word is None:
        return action
    if action.verb != "SET":
        return replace(action, filter=word.filter)
    given = {name.upper() for name, _ in action.parameters}
    defaults = tuple((name, value) for name, value in word.parameters.items() if name.upper() not in given)
    return replace(action, filter=word.filter, parameters=(*action.parameters, *defaults))
