"""Request targets that a proxy may pass on."""

from __future__ import annotations

import pytest

from zoe_api.apps.request_target import origin_form, same_origin


@pytest.mark.parametrize(
    ("path", "query", "target"),
    [
        (b"/", b"", b"/"),
        (b"/a%20b", b"c=d", b"/a%20b?c=d"),
        (b"//a", b"", b"//a"),
        (b"/a~!", b"\\?", b"/a~!?\\?"),
        (b"", b"", None),
        (b"*", b"", None),
        (b"http://host/", b"", None),
        (b"/a b", b"", None),
        (b"/a\\b", b"", None),
        (b"/a#b", b"", None),
        (b"/a?b", b"", None),
        (b"/\xff", b"", None),
        (b"/\x7f", b"", None),
        (b"/", b"a#b", None),
        (b"/", b"a b", None),
    ],
)
def test_only_a_path_with_a_query_passes(path: bytes, query: bytes, target: bytes | None) -> None:
    assert origin_form({"raw_path": path, "query_string": query}) == target


@pytest.mark.parametrize(
    ("path", "reference"),
    [("/a", "/a"), ("/", "/"), ("//evil", "/.//evil"), ("/\\evil", "/./\\evil"), ("/a//b", "/a//b")],
)
def test_a_reference_stays_on_its_origin(path: str, reference: str) -> None:
    assert same_origin(path) == reference
