"""Pages of the repository become pages of the site."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

import pytest

from scripts.site import api_pages, rest, staging


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return staging.staged_pages()


def test_index_pages_have_the_navigation_of_their_links(texts: dict[str, str]) -> None:
    assert texts["docs/index.md"].endswith(
        "```{toctree}\n:hidden:\n\nstart/index\nuse/index\noperate/index\nstore/index\nbuild/index\n```\n"
    )
    start = texts["docs/start/index.md"].rpartition("```{toctree}")[2].split()
    assert start[:4] == [":hidden:", "laptop", "one-host", "cluster"]
    assert "../project/catalogue" in start
    assert "../reference/rest/index" in texts["docs/use/index.md"].rpartition("```{toctree}")[2].split()


def test_no_link_leaves_the_site(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"(?<!!)\]\(([^)\s#]+)", prose):
            if "://" not in link:
                target = normpath(join(dirname(name), link))
                assert target.startswith("docs/"), f"{name}: {link}"


def test_rest_pages_have_each_call_and_its_models() -> None:
    pages = rest.pages()
    assert "## POST /api/v1/executions\n" in pages["reference/rest/executions.md"]
    assert "[SubmitRequest](#model-submitrequest)" in pages["reference/rest/executions.md"]
    assert "(model-submitrequest)=" in pages["reference/rest/models.md"]
    assert "[`GET /api/v1/quota`](" in pages["reference/rest/index.md"]


def test_sdk_page_has_all_errors() -> None:
    page = api_pages.pages()["reference/sdk.md"]
    assert ".. autoclass:: zoe_client.errors.NeverFits\n" in page
    assert ".. autoclass:: zoe_client.client.Client\n" in page
