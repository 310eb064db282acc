"""Files of the web UI, and paths of its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_api.http.serving.web_ui import WebUi, _no_page


@pytest.fixture
def web(tmp_path: Path) -> WebUi:
    for name, text in (
        ("index.html", "index"),
        ("index.html.gz", "zipped"),
        ("api-docs.html", "docs"),
        ("assets/a.js", "script"),
        ("favicon.svg", "icon"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return WebUi(None, tmp_path)


@pytest.mark.parametrize(
    ("path", "body", "kind", "caching"),
    [
        ("", b"index", "text/html", "no-cache"),
        ("index.html", b"index", "text/html", "no-cache"),
        ("executions/e1", b"index", "text/html", "no-cache"),
        ("api/docs", b"docs", "text/html", "no-cache"),
        ("favicon.svg", b"icon", "image/svg+xml", "no-cache"),
        ("assets/a.js", b"script", "text/javascript", "public, max-age=31536000, immutable"),
    ],
)
def test_each_path_has_its_file(web: WebUi, path: str, body: bytes, kind: str, caching: str) -> None:
    answer = web.answer(path, zipped=False)
    assert answer is not None
    assert (answer.body, answer.status_code, answer.headers["cache-control"]) == (body, 200, caching)
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_only_the_docs_may_show_pictures_from_data(web: WebUi) -> None:
    for path, picture in (("", "blob:"), ("api/docs", "data:")):
        answer = web.answer(path, zipped=False)
        assert answer is not None
        assert f"img-src 'self' {picture}" in answer.headers["content-security-policy"]


def test_a_compressed_file_is_sent_to_those_who_take_it(web: WebUi) -> None:
    zipped, plain = web.answer("", zipped=True), web.answer("favicon.svg", zipped=True)
    assert zipped is not None
    assert plain is not None
    assert (zipped.body, zipped.headers["content-encoding"]) == (b"zipped", "gzip")
    assert "content-encoding" not in plain.headers


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("", False),
        ("a", False),
        ("a.b/c", False),
        ("index.html", False),
        ("a.js", True),
        ("x/a.js", True),
        ("assets/a", True),
        ("api/v1/x", True),
        ("apis", False),
    ],
)
def test_a_missing_file_and_a_path_of_the_api_are_no_pages(path: str, missing: bool) -> None:
    assert _no_page(path) is missing


def test_without_a_build_a_page_says_so(tmp_path: Path) -> None:
    web = WebUi(None, tmp_path)
    answer = web.answer("", zipped=False)
    assert not web.is_built
    assert answer is not None
    assert answer.status_code == 503
    assert web.answer("a.js", zipped=False) is None
