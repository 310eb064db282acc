"""Messages say in words what a text must be: no regular expression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from tests.unit.zoe_client.words.test_plain_errors import MODELS
from zoe_client.wire import StorageRuleMove
from zoe_client.words.pattern_words import WORDS
from zoe_client.words.plain_errors import sentences


def patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    for entry in schema if isinstance(schema, list) else ():
        yield from patterns(entry)


def test_each_expression_of_a_request_has_words() -> None:
    found = {pattern for model in MODELS for pattern in patterns(model.model_json_schema())}
    assert len(found) > 10
    assert sorted(found - WORDS.keys()) == []


@pytest.mark.parametrize("pattern", [*WORDS, "^(?=unknown)[a-f]$"])
def test_no_message_shows_an_expression(pattern: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Annotated[str, Field(pattern=pattern.replace("(?=unknown)", ""))]).validate_python("\x00#:/ ")
    [said] = sentences(refused.value)
    assert said.startswith("must be ")
    assert not any(mark in said for mark in ("^", "[", "$", "\\"))


def test_a_wrong_digest() -> None:
    with pytest.raises(ValidationError) as refused:
        StorageRuleMove(sha256="XYZ")
    assert list(sentences(refused.value)) == ["sha256: must be 6 to 64 digits of a SHA-256, 0 to 9 and a to f"]
