"""A setting that no test sets and no page explains is one that nobody needs: make it a constant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tests.docs.documents import DOCS, PARTS, ROOT
from zoe_lib.settings.config import Settings
from zoe_lib.settings.sign_in_settings import LdapSettings, OidcSettings

NAMES = {name for model in (Settings, LdapSettings, OidcSettings) for name in model.model_fields}


def test_each_setting_is_set_by_a_test_or_explained_by_a_page() -> None:
    tests = _words(path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__).resolve())
    pages = _words(page for part in PARTS for page in (DOCS / part).glob("*.md"))
    assert len(NAMES) >= 100
    assert sorted(name for name in NAMES if name not in tests | pages) == []


def _words(paths: Iterable[Path]) -> set[str]:
    found = set[str]()
    for path in paths:
        found |= {word.lower().removeprefix("zoe_") for word in re.findall(r"\w+", path.read_text("utf-8"))}
    return found
