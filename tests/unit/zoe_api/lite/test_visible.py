"""Names on pages without scripts cannot turn the direction of what follows them."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from zoe_api.lite.pages import _TEMPLATES
from zoe_api.lite.visible import visible


@pytest.mark.parametrize(
    "character", ["\u061c", "\u200b", "\u2060", "\ufeff", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"]
)
def test_what_turns_text_is_shown_as_an_escape(character: str) -> None:
    page = _TEMPLATES.from_string("<p>{{ name }}</p>").render(name=f"a{character}<b>")
    assert page == f"<p>a\\u{ord(character):04x}&lt;b&gt;</p>"


def test_other_values_stay() -> None:
    assert [visible(one) for one in (3, None, "שלום", Markup("<b>"))] == [3, None, "שלום", Markup("<b>")]
