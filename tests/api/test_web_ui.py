"""The web UI's files and pages, as served to any browser."""

from __future__ import annotations

import gzip
import re

import httpx
import pytest
from starlette.responses import PlainTextResponse

from tests.support.api import Api, InProcess
from zoe_api.http.serving.web_ui import STATIC, WebUi

FIRST_PAGE_BYTES_MAX = 250_000


@pytest.fixture
def page(shared_api: Api) -> httpx.Client:
    return shared_api.http(None)


@pytest.mark.parametrize("path", ["/", "/executions", "/executions/abc/logs", "/catalogue/batch", "/api-docs"])
def test_every_page_is_the_same_file_with_a_strict_policy(page: httpx.Client, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["index.html", "api-docs.html"])
def test_no_page_names_another_host_or_holds_a_script_of_its_own(page: httpx.Client, name: str) -> None:
    answer = page.get(f"/{name}")
    assert "http" not in answer.headers["content-security-policy"]
    html = answer.text
    assert "http://" not in html
    assert "https://" not in html
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert len(addresses) >= 4
    assert all(re.match(r"/(?!/)", address) for address in addresses)
    assert re.findall(r"<script(?![^>]* src=)", html) == []
    assert "<style" not in html


def test_these_are_all_pages() -> None:
    assert {path.name for path in STATIC.glob("**/*.html")} == {"index.html", "api-docs.html"}


def test_the_reference_of_the_api_is_a_page_of_ours_that_may_show_pictures_of_its_styles(page: httpx.Client) -> None:
    answer = page.get("/api/docs")
    assert answer.status_code == 200
    assert answer.text == page.get("/api-docs.html").text != page.get("/").text
    policy = answer.headers["content-security-policy"]
    assert policy == page.get("/").headers["content-security-policy"].replace("blob:", "data:")
    assert page.get("/api/v1/openapi.json").status_code == 200
    for path in ("/api/docs/oauth2-redirect", "/api/docs/", "/api/redoc"):
        assert page.get(path).status_code == 404


def test_files_are_kept_for_ever_and_sent_compressed(page: httpx.Client) -> None:
    html = page.get("/").text
    script = re.findall(r'src="(/assets/[^"]+\.js)"', html)[0]
    answer = page.get(script)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    assert "javascript" in answer.headers["content-type"]
    plain = page.get(script, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == answer.content


def test_the_first_page_is_small(page: httpx.Client) -> None:
    html = page.get("/").text
    files = re.findall(r'(?:src|href)="(/[^"]+)"', html)
    size = len(gzip.compress(html.encode()))
    for file in files:
        with page.stream("GET", file) as answer:
            size += sum(len(piece) for piece in answer.iter_raw())
    assert size <= FIRST_PAGE_BYTES_MAX


@pytest.mark.parametrize("path", ["/assets/none.js", "/none.png", "/../pyproject.toml", "/assets/../index.html/x.js"])
def test_unknown_path_is_not_found(page: httpx.Client, path: str) -> None:
    assert page.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/none", "/api/none"])
def test_unknown_routes_of_the_api_are_its_own_problems(page: httpx.Client, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "no_such_route"
    assert page.post("/executions").status_code == 404


def test_without_a_build_the_page_says_what_to_do() -> None:
    application = WebUi(PlainTextResponse("other"), STATIC / "none")
    with httpx.Client(transport=InProcess(application), base_url="http://zoe") as client:
        answer = client.get("/")
    assert answer.status_code == 503
    assert "make web" in answer.text
