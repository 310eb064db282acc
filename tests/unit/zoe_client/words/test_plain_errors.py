"""No raw sentence of pydantic, whatever is wrong with a request, a setting or a description."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import types
import typing
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from storage_controller.settings import ControllerSettings
from zoe_client import wire
from zoe_client.wire.base import Numbers, Wire
from zoe_client.wire.cluster.policy import PolicyView
from zoe_client.words.plain_errors import sentences
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.settings.config import Settings

RAW = re.compile(
    r"should|valid |Value error|Input|Assertion|unable to|parsing|instance of|Field required|Extra inputs|permitted"
)
MODULES = [importlib.import_module(f"{wire.__name__}.{found.name}") for found in pkgutil.iter_modules(wire.__path__)]
for _module in pkgutil.walk_packages(wire.__path__, f"{wire.__name__}."):
    importlib.import_module(_module.name)
MODELS: list[type[BaseModel]] = [
    model for kind in (Wire, Numbers) for model in kind.__subclasses__() if model.model_fields
]
WRONG: list[Any] = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "x", "x" * 3000, "1", [], [None], [1] * 2000, {},
    {"x": None}, {"": {}}, {"a": {"b": [1]}}, b"\xff", object,
]  # fmt: skip


def errors_of(model: type[BaseModel], document: dict[str, Any]) -> list[str]:
    try:
        model.model_validate(document)
    except ValidationError as error:
        return list(sentences(error))
    return []


def given(settings: type[BaseModel]) -> type[BaseModel]:
    """Only what a test gives; otherwise each of thousands reads the environment anew, in most of the time."""
    return type(settings.__name__, (settings,), {"__init__": BaseModel.__init__, "__module__": __name__})


@pytest.mark.parametrize(
    "model", [*MODELS, given(Settings), given(ControllerSettings)], ids=lambda model: model.__name__
)
def test_errors_of_messages_and_settings_are_plain(model: type[BaseModel]) -> None:
    chance = random.Random(7)
    found: list[str] = []
    for name in model.model_fields:
        for value in WRONG:
            found += errors_of(model, {name: value, "unknown": 1})
    for _ in range(50):
        found += errors_of(model, {name: chance.choice(WRONG) for name in model.model_fields})
    assert found
    raw = [text for text in found if RAW.search(text.partition(": ")[2])]
    assert not raw, raw[:5]
    assert all(len(text) < 2000 for text in found)


def test_errors_inside_of_a_policy_are_plain() -> None:
    found = [
        text
        for name, field in PolicyView.model_fields.items()
        if typing.get_origin(field.annotation) in (dict, list, types.UnionType)
        for value in WRONG
        for inner in ({"red": value}, {"red": {"cores_milli": value}}, {"red": {"since_s": value, "until_s": value}})
        for text in errors_of(PolicyView, {name: inner})
    ]
    assert "priorities_max.red: must be a whole number, is 1.5" in found
    assert "tenant_limits.red.cores_milli: must be at least 0, is -1" in found
    assert "priorities_max.red: must be a number, is true" in found
    assert not [text for text in found if RAW.search(text)]


PART = {"name": "main", "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "64MiB"}}
WHOLE = {"version": 4, "name": "job", "components": [PART]}


def places(document: Any, path: tuple[Any, ...] = ()) -> typing.Iterator[tuple[Any, ...]]:
    yield path
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def test_errors_of_a_description_are_plain() -> None:
    whole = {
        **WHOLE,
        "priority": 1,
        "time_limit_s": 3,
        "size": {"run_time_s": 1},
        "storage": {"bandwidth": {"read_bytes_per_s": 1}},
        "components": [
            {
                **PART,
                "essential_count": 1,
                "total_count": 2,
                "labels": {"a": "b"},
                "environment": {"A": "b"},
                "ports": [{"name": "web", "port": 80}],
                "volumes": [{"type": "workspace"}],
                "ends_application": True,
            }
        ],
    }
    seen = set()
    for path in places(whole):
        for value in WRONG[:-2]:
            try:
                parse(replaced(whole, path, value))
            except DescriptionError as error:
                for diagnostic in error.diagnostics:
                    seen.add(diagnostic.code)
                    assert not RAW.search(diagnostic.message), (path, value, diagnostic)
    assert len(seen) > 4


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    key, *rest = path
    changed = replaced(document[key], tuple(rest), value)
    if isinstance(document, dict):
        return {**document, key: changed}
    return [*document[:key], changed, *document[key + 1 :]]


def test_a_text_is_not_repeated() -> None:
    found = errors_of(wire.SignIn, {"user": 5, "password": ["s3cret"]}) + errors_of(Settings, {"api_port": "s3cret"})
    assert found
    assert "s3cret" not in " ".join(found)


class Bounded(BaseModel):
    texts: Annotated[list[str], Field(max_length=1)] = []
    word: Annotated[str, Field(min_length=1)] = "a"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"word": ""}, "word: must have at least 1 character"),
        ({"texts": ["a", "b"]}, "texts: must have at most 1 entry, has 2"),
    ],
)
def test_one_is_singular(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Bounded.model_validate(given)
    assert list(sentences(refused.value)) == [said]


@pytest.mark.parametrize("value", [None, [], {}, ["a"]])
def test_a_value_of_a_form_is_told_once(value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        wire.FillRequest.model_validate({"values": {"memory": value}})
    assert list(sentences(refused.value)) == ["values.memory: must be a string, a number, or true or false"]


def test_a_text_has_characters_and_a_list_entries() -> None:
    """pydantic calls a text too long as it does a list where another check comes before its length."""

    class Named(BaseModel):
        name: Annotated[str, AfterValidator(str.strip), Field(max_length=1)]
        names: Annotated[list[str], Field(max_length=1)] = []

    assert errors_of(Named, {"name": "abc", "names": ["a", "b"]}) == [
        "name: must have at most 1 character, has 3",
        "names: must have at most 1 entry, has 2",
    ]
