"""Files of the documentation site, and answers where it has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import FileResponse

from zoe_api.http.serving.docs_site import DocsSite, _is_below


@pytest.fixture
def site(tmp_path: Path) -> DocsSite:
    for name in ("index.html", "index.html.gz", "use/index.html", "_static/a.css"):
        path = tmp_path / "site" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(name)
    (tmp_path / "secret.html").write_text("secret")
    return DocsSite(None, tmp_path / "site")


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("/docs/", "index.html", "text/html"),
        ("/docs/index.html", "index.html", "text/html"),
        ("/docs/use/", "use/index.html", "text/html"),
        ("/docs/_static/a.css", "_static/a.css", "text/css"),
    ],
)
def test_each_path_has_its_file(site: DocsSite, path: str, name: str, kind: str) -> None:
    answer = site.answer(path, zipped=False)
    assert isinstance(answer, FileResponse)
    assert Path(answer.path).read_text() == name
    assert answer.headers["content-type"].startswith(kind)
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_compressed_file_is_sent_to_clients_that_accept_it(site: DocsSite) -> None:
    answer = site.answer("/docs/", zipped=True)
    assert isinstance(answer, FileResponse)
    assert Path(answer.path).name == "index.html.gz"
    assert (answer.headers["content-encoding"], answer.headers["content-type"][:9]) == ("gzip", "text/html")


@pytest.mark.parametrize("path", ["/docs/none", "/docs/use", "/docs/../secret.html", "/docs//etc/passwd"])
def test_other_paths_are_not_found(site: DocsSite, path: str) -> None:
    assert site.answer(path, zipped=False).status_code == 404


def test_path_without_slash_is_redirected(site: DocsSite) -> None:
    answer = site.answer("/docs", zipped=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "docs/")


def test_missing_site_names_the_command_that_builds_it(tmp_path: Path) -> None:
    answer = DocsSite(None, tmp_path).answer("/docs/", zipped=False)
    assert answer.status_code == 503
    assert b"make docs-site" in answer.body


@pytest.mark.parametrize(("path", "below"), [("/docs", True), ("/docs/a", True), ("/docs-old", False), ("/", False)])
def test_only_paths_below_docs_belong_to_the_site(path: str, below: bool) -> None:
    assert _is_below(path) is below
