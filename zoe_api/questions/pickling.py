"""Pickle the read-only mappings that are defaults of many values."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any


def install() -> None:
    """Let this process pickle them; any process can unpickle them."""
    copyreg.pickle(MappingProxyType, _parts)


def _parts(given: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return _read_only, (dict(given),)


def _read_only(given: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(given)
