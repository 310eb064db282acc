"""Pages are short, each part lists its pages, and the built site needs no other host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, PARTS, ROOT, links
from zoe_api.http.serving.docs_site import DOCS_SITE
from zoe_client.vocabulary import ReasonCode
from zoe_client.words import documentation

LINES_MAX = 150
HAND_WRITTEN = sorted(page for part in PARTS for page in (DOCS / part).glob("*.md"))
_SOURCE = re.compile(r"<(?:link|script|img|source|iframe)\b[^>]*?\b(?:src|href)=\"([^\"]*)\"")
_STYLE_SOURCE = re.compile(r"url\(\s*['\"]?(?!data:|#)([^'\")]*)|@import\s+['\"]([^'\"]*)")


def test_hand_written_pages_are_short() -> None:
    lengths = {page: len(page.read_text("utf-8").splitlines()) for page in HAND_WRITTEN}
    assert len(lengths) > 50
    assert {str(page.relative_to(DOCS)): lines for page, lines in lengths.items() if lines > LINES_MAX} == {}


def test_pages_that_explain_reasons_know_their_codes() -> None:
    page = (DOCS / "use" / "waiting.md").read_text("utf-8").partition("|---|---|")[2]
    named = {
        code
        for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
        for code in re.findall(r"\w+", row)
    }
    assert len(named) > 8
    assert named <= {code.value for code in ReasonCode}


def test_each_page_is_listed_by_one_part() -> None:
    listed = [
        target.relative_to(DOCS).as_posix()
        for part in PARTS
        for target in _targets(DOCS / part / "index.md")
        if target.is_relative_to(DOCS)
    ]
    assert sorted(listed) == sorted(set(listed))
    pages = {*HAND_WRITTEN, *(DOCS / "reference").glob("*.md"), *(DOCS / "study").glob("*.md")}
    indexes = {f"{part}/index.md" for part in PARTS}
    assert sorted({page.relative_to(DOCS).as_posix() for page in pages} - indexes - set(listed)) == []
    assert [path.parent.name for path in _targets(DOCS / "index.md")] == list(PARTS)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Texts of the built pages by their paths."""
    built = {path.relative_to(DOCS_SITE).as_posix(): path.read_text("utf-8") for path in DOCS_SITE.rglob("*.html")}
    if not built:
        pytest.skip("there is no documentation site: make docs-site")
    return built


def test_the_site_has_all_pages_and_a_search(pages: dict[str, str]) -> None:
    expected = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in HAND_WRITTEN}
    expected |= {"index.html", "search.html", "reference/rest/index.html", "reference/sdk.html", "reference/cli.html"}
    assert sorted(expected - pages.keys()) == []
    for text in pages.values():
        assert 'action="' in text or 'name="q"' in text or "searchbox" in text


def test_no_page_asks_another_host(pages: dict[str, str]) -> None:
    foreign = {(name, source) for name, text in pages.items() for source in _SOURCE.findall(text) if "//" in source[:8]}
    assert foreign == set()
    sheets = list(DOCS_SITE.rglob("*.css"))
    sources = {source for path in sheets for pair in _STYLE_SOURCE.findall(path.read_text("utf-8")) for source in pair}
    assert [source for source in sources if "//" in source] == []


def test_pages_have_no_inline_scripts_and_styles(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        assert re.findall(r"<script(?![^>]* src=)", text) == [], name
        assert "<style" not in text, name
        assert re.findall(r"<[a-z][^<>]* style=", text) == [], name


def test_links_of_programs_to_the_documentation_lead_somewhere(pages: dict[str, str]) -> None:
    web = re.findall(r"\"/docs/([^\"]*)\"", (ROOT / "web/src/documentation.tsx").read_text("utf-8"))
    cli = [documentation.WAITING, documentation.PROMISES]
    assert len(web) >= 4
    for link in (*web, *cli):
        page, _, anchor = link.partition("#")
        text = pages[page or "index.html"]
        assert not anchor or f'id="{anchor}"' in text, link


def _targets(page: Path) -> list[Path]:
    """Return the pages to which a page links, without repetitions."""
    found = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
    return list(dict.fromkeys(target for target in found if target.suffix == ".md"))
