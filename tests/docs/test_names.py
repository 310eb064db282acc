"""The glossary is short, and says each word once."""

from __future__ import annotations

import re

from tests.docs.documents import DOCS

WORDS_MAX = 90


def test_the_glossary_is_short_and_says_each_word_once() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*([^*]+)\*\*", text, re.MULTILINE)
    assert len(words) == len(set(words)) <= WORDS_MAX
