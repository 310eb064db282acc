"""The rules of a proxy in their file: the last ones hold, and a damaged file is said and mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RULES_MAX, RuleBook, book_document
from storage_filters.rules.file import DamagedRulesError, RuleFile

BOOK = RuleBook((parse_rule("FOR TENANT a DO SET NOOP"),))


def test_another_process_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "rules"
    reader = RuleFile(path)
    assert reader.book() == RuleBook()
    RuleFile(path).write(book_document(BOOK))
    assert reader.book() == RuleFile(path).book() == BOOK
    RuleFile(path).write(book_document(RuleBook()))
    assert reader.book() == RuleBook()


@pytest.mark.parametrize("text", ["", "[]", "{}", "\x00", '{"rules": [1], "groups": {}, "types": {}, "metrics": {}}'])
def test_a_damaged_file_is_said_once_and_mended_by_the_same_rules(tmp_path: Path, text: str) -> None:
    path, said = tmp_path / "rules", list[str]()
    writer, reader = RuleFile(path), RuleFile(path, said.append)
    writer.write(book_document(BOOK))
    path.write_text(text)
    for _ in range(2):
        with pytest.raises(DamagedRulesError):
            reader.book()
    assert len(said) == 1
    writer.write(book_document(BOOK))
    assert reader.book() == BOOK


def test_a_document_that_stands_for_no_rules_changes_nothing(tmp_path: Path) -> None:
    file = RuleFile(tmp_path / "rules")
    file.write(book_document(BOOK))
    for document in ({}, {**book_document(BOOK), "rules": book_document(BOOK)["rules"] * (RULES_MAX + 1)}):
        with pytest.raises(ValueError, match=r"not a book|more than"):
            file.write(document)
    assert file.book() == BOOK
