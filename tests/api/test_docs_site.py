"""The documentation site, as the API serves it to any browser."""

from __future__ import annotations

import httpx
import pytest

from tests.support.api import Api
from zoe_api.http.serving.docs_site import DOCS_SITE


@pytest.fixture
def http(shared_api: Api) -> httpx.Client:
    if not (DOCS_SITE / "index.html").exists():
        pytest.skip("there is no documentation site: make docs-site")
    return shared_api.http(None)


def test_the_site_is_served_without_signing_in(http: httpx.Client) -> None:
    page = http.get("/docs/")
    assert page.status_code == 200
    assert "<title>Zoe" in page.text
    assert page.headers["content-encoding"] == "gzip"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; img-src 'self' data:;")
    assert "unsafe" not in policy
    index = http.get("/docs/searchindex.js")
    assert index.text.startswith("Search.setIndex(")


def test_paths_beside_its_files(http: httpx.Client) -> None:
    assert http.get("/docs", follow_redirects=True).url.path == "/docs/"
    assert http.get("/docs/none.html").status_code == 404
    assert http.head("/docs/").content == b""
    assert http.post("/docs/").status_code == 404
