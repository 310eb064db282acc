"""Links lead somewhere, commands exist, words are used, the README is one screen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, ROOT, all_documents, anchors, blocks, links

SCREEN_LINES = 60
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
MAKE = re.compile(r"\bmake(?: -s)? ([a-z][a-z-]+)")
WORDS_PAGE = DOCS / "use/glossary.md"
DECISION_LINES = 60


def decisions() -> list[Path]:
    return sorted((DOCS / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("document", all_documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(document: Path) -> None:
    for link in links(document):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), f"{link} is not there"
        assert ROOT in target.parents
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize("document", all_documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(document: Path) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    text = document.read_text("utf-8")
    commands = re.findall(r"`(make [^`]*)`", text) + [b.text for b in blocks(document) if b.language == "sh"]
    used = {name for command in commands for name in MAKE.findall(command)}
    assert used <= targets


@pytest.mark.parametrize("document", all_documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_json_in_documents_is_json(document: Path) -> None:
    for block in blocks(document):
        if block.language == "json" and block.text.startswith("{"):
            json.loads(block.text)


def test_the_readme_is_one_screen_with_a_picture_and_two_commands() -> None:
    readme = ROOT / "README.md"
    assert len(readme.read_text("utf-8").splitlines()) <= SCREEN_LINES
    assert {"docs/pictures/demo.svg", "docs/images/web-execution.png"} <= set(links(readme))
    assert [line.split("#")[0].strip() for b in blocks(readme) for line in b.text.splitlines()] == [
        "make demo",
        "make test",
    ]
    picture = (DOCS / "pictures" / "demo.svg").read_text("utf-8")
    assert "The&#160;answer&#160;is&#160;right" in picture
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", picture), "the picture asks another host for something"


def test_every_word_of_the_glossary_is_used_elsewhere() -> None:
    words = re.findall(r"^\| \*\*([^*]+)\*\*", WORDS_PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(words) > 20
    others = " ".join(d.read_text("utf-8") for d in all_documents() if d != WORDS_PAGE).lower()
    assert [word for word in words if word.lower() not in others] == []


def test_decisions_have_their_parts() -> None:
    pages = decisions()
    assert len({page.name[:4] for page in pages}) == len(pages)
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {int(page.name[:4])}. "), f"{page.name}: the heading has another number"
        for part in ("## Context", "## Decision", "## Consequences"):
            assert f"\n{part}\n" in text, f"{page.name} lacks {part}"
        assert len(text.splitlines()) <= DECISION_LINES, f"{page.name} is longer than a page"


def test_the_index_of_decisions_lists_each_page_once() -> None:
    index = (DOCS / "decisions" / "README.md").read_text("utf-8")
    listed = re.findall(r"^- \[(\d+)\]\((.*?)\): .", index, re.MULTILINE)
    assert sorted(listed, key=lambda row: row[1]) == [(str(int(page.name[:4])), page.name) for page in decisions()]


def test_paths_of_the_code_that_are_named_exist() -> None:
    for document in (DOCS / "build/architecture.md", DOCS / "build/flow.md", *decisions()):
        for path in re.findall(r"`((?:zoe_\w+|storage_\w+|tests|alembic|scripts)/[\w./-]*)`", document.read_text()):
            assert (ROOT / path).exists(), f"{document.name}: {path} is not there"


PACKAGES = sorted(
    path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name.startswith(("zoe_", "storage_"))
)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_package_says_what_it_holds(package: Path) -> None:
    """In at most thirty lines, with a picture; all names in its picture and text exist."""
    text = (package / "README.md").read_text("utf-8")
    assert text.startswith(f"# {package.name}\n")
    assert len(text.splitlines()) <= 30
    assert text.count("```") == 2
    for path in re.findall(r"\b((?:zoe|storage|tests|docs)[\w]*/[\w./-]*\w)", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"\b(\w+)/(?=[\s`)])", text.split("```")[1]):
        assert list(package.rglob(name)), name
