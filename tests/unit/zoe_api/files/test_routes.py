"""Files: names in headers, and the URL of an upload."""

from __future__ import annotations

import base64

import httpx
import pytest

from tests.support.plain_api import refusal
from zoe_api.files import routes as files
from zoe_api.http.problems.codes import Code


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        (f"path {encoded(b'a/b.txt')}", "a/b.txt"),
        (f"filename eA==, path {encoded('é'.encode())}", "é"),
        (f" path {encoded(b'x')} ,other", "x"),
        ("path ", ""),
    ],
)
def test_the_path_of_an_upload_is_in_its_metadata(metadata: str, path: str) -> None:
    assert files._path_in(metadata) == path


@pytest.mark.parametrize("metadata", ["", "filename eA==", "path !!", "path eA", f"path {encoded(bytes([255]))}"])
def test_metadata_without_a_path_is_refused(metadata: str) -> None:
    with refusal(Code.INVALID_UPLOAD):
        files._path_in(metadata)


def test_content_is_an_attachment_that_no_browser_runs() -> None:
    answer = httpx.Response(200, headers={"content-length": "5", "etag": '"e"', "set-cookie": "x", "server": "y"})
    told = files._headers_of(answer, "dir/a b%25.html")
    assert told["content-length"] == "5"
    assert told["etag"] == '"e"'
    assert told.keys().isdisjoint({"set-cookie", "server"})
    assert told["Content-Disposition"] == "attachment; filename*=UTF-8''a%20b%25.html"
    assert told["Content-Security-Policy"] == "sandbox"
    assert told["X-Content-Type-Options"] == "nosniff"
    assert told["Cross-Origin-Resource-Policy"] == "same-origin"
