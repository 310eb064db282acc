"""Which sentences lint marks, and where they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import language

SOURCE = '''"""Return what waits."""
LIMIT = 3  # whoever asks
def refuse():
    raise ValueError(f"{LIMIT} is not a size; the caller is told so")
'''


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", SOURCE, [(1, "docstrings", True), (4, "texts", True), (2, "comments", True)]),
        ("a.md", "A size. They are told apart.\n\n```\nwhoever\n```\n", [(1, "pages", False), (1, "pages", True)]),
        ("b.md", "Return `what waits` of a queue.\n", [(1, "pages", False)]),
    ],
)  # fmt: skip
def test_sentences_are_found_by_kind(
    name: str, text: str, found: list[tuple[int, str, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    sentences = list(language.sentences(Path(name)))
    marked = [(sentence.line, sentence.kind, sentence.is_marked) for sentence in sentences]
    assert [entry for entry in marked if entry[2]] == [entry for entry in found if entry[2]]
    assert set(found) <= set(marked)
