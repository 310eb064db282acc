"""Read simple values of the command line without pydantic, whose import takes longer than a quick command runs.

Typer reads every value with pydantic. Texts, choices, paths, counts and defaults are read here; Typer reads all other
values, and reports errors. The hook is not part of Typer's public interface: a test counts what a command imports, and
a Typer without the hook reads all values itself.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from typer import core


class SimpleValues:
    """Typer's interface to read the value of one parameter."""

    def __init__(self, annotation: Any, typers_own: Callable[[], Any]) -> None:
        self._annotation = annotation
        self._typers_own = typers_own

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of the parameter in its type."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        found = _count(value, param) if self._annotation is int else _simple(value, self._annotation)
        return self._typers_own().coerce(value, param=param, ctx=ctx) if found is None else found


def read_simple_values() -> None:
    """Let Typer's parameters read simple values without pydantic."""
    parameter: Any = getattr(core, "_TyperParameter", None)
    if parameter is None or not hasattr(parameter, "get_runtime_param"):
        return
    typers_own = parameter.get_runtime_param

    def get_runtime_param(self: Any) -> Any:
        info, annotation = self.type_descriptor.parameter_info, self.type_descriptor.annotation
        checked = any(getattr(info, name, None) for name in ("parser", "click_type", "exists", "resolve_path"))
        return SimpleValues(None if checked else annotation, partial(typers_own, self))

    parameter.get_runtime_param = get_runtime_param


def _count(value: Any, param: Any) -> int | None:
    """Return a default, or a plain number within the bounds of the parameter, else None."""
    if isinstance(value, int):
        return value
    if not (isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10):
        return None
    number = int(value)
    low, high = getattr(param, "min", None), getattr(param, "max", None)
    return number if (low is None or number >= low) and (high is None or number <= high) else None


def _simple(value: Any, annotation: Any) -> Any:
    """Return the value if it needs no check, else None."""
    if get_origin(annotation) is list and isinstance(value, list | tuple):
        found = [_simple(entry, get_args(annotation)[0]) for entry in value]
        return None if None in found else found
    if not isinstance(annotation, type):
        return None
    if isinstance(value, annotation):
        return value
    if isinstance(value, str) and issubclass(annotation, StrEnum):
        return next((enum for enum in annotation if enum == value), None)
    return Path(value) if isinstance(value, str) and annotation is Path else None
