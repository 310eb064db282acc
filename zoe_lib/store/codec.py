"""Frozen dataclasses to JSON values and back, by their type hints alone."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from zoe_lib.domain.events import EVENT_TYPES, Event

T = TypeVar("T")
Json = Any  # None, bool, int, float, str, list of Json, dict of str to Json
_PLAIN = frozenset({type(None), bool, int, float, str})
_FIELD_NAMES: dict[Any, tuple[str, ...]] = {}


def encode(value: object) -> Json:
    """The JSON value of a dataclass, enum, mapping, tuple, set or plain value; sets are sorted."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, StrEnum):
        return value.value
    if is_dataclass(value):
        return {name: encode(getattr(value, name)) for name in field_names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(encode(item) for item in value)
    if isinstance(value, Iterable):
        return [encode(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def event_data(event: Event) -> dict[str, Json]:
    """The JSON form of an event as the journal keeps it: without what has columns of its own."""
    return {name: encode(getattr(event, name)) for name in field_names(type(event)) if name not in ("at_s", "cause_id")}


def event_of(kind: str, at_s: float, cause_id: str, data: Mapping[str, Json]) -> Event:
    """The event that an entry of the journal stands for; KeyError for a kind that is about no execution."""
    return decode(EVENT_TYPES[kind], {**data, "at_s": at_s, "cause_id": cause_id})


def decode(wanted: type[T], data: Json) -> T:
    """The value of that type. Unknown keys are passed over and missing ones take the default, as versions need."""
    hint: Any = wanted
    result: T = _decoder(hint)(data)
    return result


def field_names(wanted: Any) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    names = _FIELD_NAMES.get(wanted)
    if names is None:
        names = _FIELD_NAMES[wanted] = tuple(field.name for field in fields(wanted))
    return names


@cache
def _decoder(hint: Any) -> Callable[[Json], Any]:
    origin = get_origin(hint)
    if origin is not None:
        return _generic(origin, get_args(hint))
    if is_dataclass(hint):
        return _dataclass(hint)
    if hint in (bool, str, object):
        return lambda data: data
    return hint  # type: ignore[no-any-return]  # int, float and enums convert by being called


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Callable[[Json], Any]:
    if origin in (Union, types.UnionType):
        return _optional(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        element = _decoder(arguments[0])
        return lambda data: frozenset(element(value) for value in data)
    if issubclass(origin, Mapping):
        key, item = (_decoder(argument) for argument in arguments)
        return lambda data: {key(name): item(value) for name, value in data.items()}
    raise TypeError(f"{origin} has no JSON form here")


def _optional(arguments: tuple[Any, ...]) -> Callable[[Json], Any]:
    (wanted,) = (argument for argument in arguments if argument is not types.NoneType)
    inner = _decoder(wanted)
    return lambda data: None if data is None else inner(data)


def _tuple(arguments: tuple[Any, ...]) -> Callable[[Json], Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        element = _decoder(arguments[0])
        return lambda data: tuple(element(value) for value in data)
    parts = tuple(_decoder(argument) for argument in arguments)
    return lambda data: tuple(part(value) for part, value in zip(parts, data, strict=True))


def _dataclass(wanted: Any) -> Callable[[Json], Any]:
    hints = get_type_hints(wanted)
    parts = {field.name: _decoder(hints[field.name]) for field in fields(wanted)}
    return lambda data: wanted(**{name: part(data[name]) for name, part in parts.items() if name in data})
