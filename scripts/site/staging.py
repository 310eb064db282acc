"""Copy the pages of docs/ to the folder that Sphinx reads, with links that the site can follow.

On GitHub the pages link to files of the repository. The site has no such files: descriptions and tables become
downloads, pages outside docs/ become pages of the folder `project`, and other links become plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("start", "use", "operate", "store", "build")
INDEX = "index.md"
PROJECT = {
    **{name: f"docs/project/{name.lower()}" for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")},
    "app_descriptions/README.md": "docs/project/catalogue.md",
}
"""Pages outside of docs/, and their places in the site."""
DOWNLOADS = {".json", ".csv", ".toml", ".example", ".h", ".py", ".yml", ".sh", ".conf"}
ONLY_IN_THE_SITE = {
    "use": (
        ("REST reference", "../reference/rest/index.md", "all calls of the HTTP API, by path and method"),
        ("Python SDK reference", "../reference/sdk.md", "classes and errors of `zoe_client`, from their docstrings"),
    ),
    "build": (
        ("Interfaces of plug-ins", "../reference/protocols.md", "Protocols that plug-ins and back-ends implement"),
    ),
}
"""Generated pages, with title, link and contents: the index page of their part lists them."""
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def stage(target: Path, generated: Mapping[str, str]) -> None:
    """Write all pages, pictures and downloads to `target`; `generated` are texts by their paths below docs/."""
    texts = {**staged_pages(), **{f"docs/{name}": text for name, text in generated.items()}}
    files = [path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.suffix not in (".md", ".pyc")]
    wanted = {Path(name).relative_to("docs") for name in texts} | {path.relative_to(ROOT / "docs") for path in files}
    for name, text in texts.items():
        _write(target / Path(name).relative_to("docs"), text.encode())
    for path in files:
        _write(target / path.relative_to(ROOT / "docs"), path.read_bytes())
    downloads = target / "files"
    for old in [path for path in target.rglob("*") if path.is_file() and downloads not in path.parents]:
        if old.relative_to(target) not in wanted:
            old.unlink()


def staged_pages() -> dict[str, str]:
    """Return the texts of all hand-written and generated pages of the repository, by their paths in the site."""
    sources = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
    places = {**{name: name for name in sources}, **PROJECT}
    texts = {places[name]: _linked((ROOT / name).read_text("utf-8"), name, places) for name in places}
    indexes = {part: f"docs/{part}/{INDEX}" for part in PARTS} | {"decisions": "docs/decisions/README.md"}
    claimed = {indexes[part] for part in PARTS}
    for part, name in indexes.items():
        generated = ONLY_IN_THE_SITE.get(part, ())
        texts[name] += "".join(f"- [{title}]({link}): {contents}\n" for title, link, contents in generated)
        known = {*texts, *(normpath(join(dirname(name), link)) for _title, link, _contents in generated)}
        pages = [page for page in _linked_pages(texts[name], name) if page in known and page not in claimed]
        claimed.update(pages)
        texts[name] += _toctree(relpath(page, dirname(name)) for page in pages)
    texts[f"docs/{INDEX}"] += _toctree(f"{part}/{INDEX}" for part in PARTS)
    return texts


def _linked(text: str, name: str, places: Mapping[str, str]) -> str:
    pieces = _FENCE.split(text)
    link = _link_rewriter(name, places)
    return "".join(piece if piece.startswith("```") else _LINK.sub(link, piece) for piece in pieces)


def _link_rewriter(name: str, places: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    """Return what replaces each link of the page `name`."""
    here = dirname(places[name])

    def replaced(match: re.Match[str]) -> str:
        words, link = match[1], match[2]
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:") or not path:
            return match[0]
        target = normpath(join(dirname(name), path))
        if target in places or f"{target}/README.md" in places:
            place = places.get(target) or places[f"{target}/README.md"]
            return f"[{words}]({relpath(place, here)}{'#' + anchor if anchor else ''})"
        if (ROOT / target).is_file() and Path(target).suffix in DOWNLOADS:
            _write(ROOT / "build" / "docs-source" / "files" / target, (ROOT / target).read_bytes())
            return f"[{words}]({relpath(f'docs/files/{target}', here)})"
        if target.startswith("docs/"):
            return match[0]  # a page that is generated, or an error that Sphinx reports
        return words

    return replaced


def _linked_pages(text: str, name: str) -> Iterator[str]:
    """Yield the pages to which a page links, in the order of the first links."""
    seen = set[str]()
    for _words, link in _LINK.findall(text):
        page = normpath(join(dirname(name), link.partition("#")[0]))
        if page.endswith(".md") and page not in seen:
            seen.add(page)
            yield page


def _toctree(pages: Iterator[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "".join(f"{page.removesuffix('.md')}\n" for page in pages) + "```\n"


def _write(path: Path, content: bytes) -> None:
    """Write a file only if it changes, as Sphinx reads changed files again."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
