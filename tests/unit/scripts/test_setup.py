"""Which Python the set-up accepts."""

from __future__ import annotations

import sys

import pytest

from scripts.setup import missing


@pytest.mark.parametrize("version", [(3, 11, 2), (3, 13, 5)])
def test_a_tested_python_is_accepted(version: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    assert missing() is None


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 12, 1), (3, 14, 0)])
def test_others_are_named(version: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    found = f"this is Python {version[0]}.{version[1]}"
    assert f"Zoe is tested on Python 3.11 and 3.13; {found}" in str(missing())
