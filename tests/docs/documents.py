"""Reading our own Markdown: blocks of code, links, and what a block is said to show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Folders of pages for one kind of question each; the others hold references, decisions and studies.
PARTS = ("start", "use", "operate", "store", "build")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n(?:<!-- shows: (.*?) -->)?", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"`([\w.-]+\.\w+)`:\s*\Z")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, which file it belongs into, and words that its output shows."""

    language: str
    text: str
    file: str | None
    shows: tuple[str, ...]


def blocks(document: Path) -> list[Block]:
    text = document.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        name = _FILE_NAME.search(text[: match.start()])
        shows = tuple(match[3].split(" | ")) if match[3] else ()
        found.append(Block(match[1], match[2], name[1] if name else None, shows))
    return found


def links(document: Path) -> list[str]:
    """The targets of all links and pictures outside of blocks."""
    return [first or second for first, second in _LINK.findall(_FENCE.sub("", document.read_text("utf-8")))]


def anchors(document: Path) -> set[str]:
    """What may follow `#` in a link to this document, as GitHub makes it from headings."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", document.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def all_documents() -> list[Path]:
    own = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "app_descriptions/README.md")]
    return [*own, *sorted(DOCS.rglob("*.md"))]
