"""Plain sentences for pydantic's errors, shared by requests, settings, descriptions and the command line.

A sentence follows the name of the value. It repeats numbers and words of choices; other texts may be secrets, so they
are not repeated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from zoe_client.documents.quantities import size_text
from zoe_client.words.pattern_words import words_of

_SHOWN_MAX = 64
ERRORS_MAX = 100
_WHOLE, _NUMBER, _TRUTH, _TEXT, _LIST, _OBJECT = (
    "a whole number", "a number", "true or false", "a string", "a list", "an object",
)  # fmt: skip
_WANTED: Mapping[str, str] = {
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "number_type": _NUMBER,
    "finite_number": "a finite number",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "string_type": _TEXT,
    "string_unicode": "UTF-8 text",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "none_required": "null",
    "path_type": "a path",
    "url_type": "a URL",
    "url_parsing": "a URL",
    "url_syntax_violation": "a URL",
    "date_parsing": "a date",
    "date_from_datetime_parsing": "a date",
    "datetime_parsing": "a date and time",
    "datetime_from_date_parsing": "a date and time",
    "json_type": "JSON",
    "json_invalid": "JSON",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}
_LENGTHS: Mapping[str, str] = {
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entries, has {actual_length}",
    "too_long": "must have at most {max_length} entries, has {actual_length}",
    "bytes_too_long": "must have at most {max_length} bytes",
}
_SINGULAR: Mapping[str, str] = {"1 characters": "1 character", "1 entries": "1 entry", "1 bytes": "1 byte"}
_ONE = re.compile(r"\b1 (characters|entries|bytes)\b")
_SIMPLE: Mapping[str, str] = {"missing": "is missing", "extra_forbidden": "is unknown"}
_QUOTES = "'"
_PREFIXES = re.compile(r"^(Value error|Assertion failed), ")
_INPUT = re.compile(r"^(Input|Value|String|List|Dictionary) should ")


def sentence(detail: ErrorDetails) -> str:
    """Return the fault and the expected value, to follow the name of the value, without a full stop."""
    kind, given = detail["type"], detail["input"]
    if kind in _WANTED:
        return f"must be {_WANTED[kind]}, is {short_value(given) if isinstance(given, int | float) else kind_of(given)}"
    place = detail["loc"]
    shown = _size if place and str(place[-1]).endswith("memory") else _bound
    return _of_context(kind, given, detail.get("ctx", {}), shown) or _SIMPLE.get(kind) or _plainly(detail["msg"])


def _of_context(kind: str, given: object, context: Mapping[str, Any], shown: Callable[[object], object]) -> str | None:
    """Return the sentence with the bound, length, choice or pattern that was expected; `shown`: numbers as users write
    them.
    """
    if kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        # In a query or on the command line, the bound arrives as text.
        return f"must be {word} {shown(context[key])}, is {short_value(shown(given)).strip(_QUOTES)}"
    if kind in _LENGTHS:
        text = _LENGTHS[kind].format(**context)
        text = text.replace("entries", "characters") if isinstance(given, str) else text
        return _ONE.sub(lambda found: _SINGULAR[found[0]], text)
    if kind in ("literal_error", "enum"):
        return f"must be {_either(context['expected'])}, is {short_value(given)}"
    return f"must be {words_of(context['pattern'])}" if kind == "string_pattern_mismatch" else None


def sentences(error: ValidationError, called: Callable[[Sequence[int | str]], str] | None = None) -> Iterator[str]:
    """Return a sentence for each error, preceded by its place; at most a hundred."""
    name = called or dotted_path
    for detail in error.errors(include_url=False)[:ERRORS_MAX]:
        place = name(detail["loc"])
        yield f"{place}: {sentence(detail)}" if place else sentence(detail)


def argument_error(error: ValidationError) -> str:
    """Return the fault of a command-line value; the text may be repeated, since the user typed it."""
    detail = error.errors(include_url=False)[0]
    kind, given = detail["type"], detail["input"]
    return f"must be {_WANTED[kind]}, is {short_value(given)}" if kind in _WANTED else sentence(detail)


def dotted_path(place: Sequence[int | str]) -> str:
    """Return a place as `limits.red.cores`."""
    return ".".join(map(str, place))


def kind_of(value: object) -> str:
    """Return the kind of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return _TRUTH
        case int() | float():
            return _NUMBER
        case str() | bytes():
            return _TEXT
        case list() | tuple() | set() | frozenset():
            return _LIST
    return _OBJECT


def _size(value: object) -> object:
    """Return an amount of memory with its unit."""
    return size_text(value) if isinstance(value, int) and value > 0 else _bound(value)


def _bound(value: object) -> object:
    """Return a whole number without the fraction that pydantic gives it."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def short_value(value: object) -> str:
    """Return a short number or word as it is, and the kind of any other value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str) and len(text := repr(value)) <= _SHOWN_MAX:
        return text
    return kind_of(value)


def _either(expected: Any) -> str:
    return f"one of {expected}" if "," in str(expected) or " or " in str(expected) else str(expected)


def _plainly(message: str) -> str:
    message = _INPUT.sub("must ", _PREFIXES.sub("", message))
    return message[:1].lower() + message[1:]
