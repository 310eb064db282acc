"""Locations of the catalogue's files and its frameworks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from zoe_lib.descriptions.expansion import read_framework
from zoe_lib.descriptions.frameworks import Framework

_PACKAGE = Path(__file__).resolve().parent.parent


def catalogue_directory() -> Path:
    """Return the directory of the catalogue: inside the installed package if it exists, else `app_descriptions/` of the
    source tree.
    """
    installed = _PACKAGE / "catalogue"
    return installed if installed.is_dir() else _PACKAGE.parent / "app_descriptions"


@functools.cache
def frameworks() -> Mapping[str, Framework]:
    """Return the catalogue's frameworks by name, read once."""
    found = [
        read_framework(path.read_text("utf-8")) for path in sorted(catalogue_directory().glob("frameworks/*.json"))
    ]
    return {framework.framework: framework for framework in found}
