"""Basic settings come first in the reference."""

from __future__ import annotations

from scripts.reference.settings import settings_page
from zoe_lib.config import Settings


def test_basic_settings_exist_and_are_about_a_dozen() -> None:
    assert set(Settings.basic) <= Settings.model_fields.keys()
    assert 10 <= len(Settings.basic) <= 15


def test_each_setting_stands_in_one_of_the_two_tables() -> None:
    basic, advanced = settings_page().split("## Advanced settings")
    advanced = advanced.split("\n## ")[0]
    for name in Settings.model_fields:
        row = f"\n| `{name}` |"
        assert (row in basic, row in advanced) == (name in Settings.basic, name not in Settings.basic), name
