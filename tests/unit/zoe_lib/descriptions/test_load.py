"""load_json: more careful than the standard parser, and it says where."""

import time

import pytest

from zoe_lib.descriptions import Code, DescriptionError, load_json

# Far above what reading a megabyte once takes on a slow machine, far below reading it again for each of its characters.
LINEAR_S_MAX = 20.0


def finding(text: str | bytes) -> tuple[Code, str]:
    with pytest.raises(DescriptionError) as caught:
        load_json(text)
    (one,) = caught.value.diagnostics
    return one.code, one.message


def test_json_is_read() -> None:
    assert load_json(b'\xef\xbb\xbf{"a": [1, {"a": "{\\"}"}]}') == {"a": [1, {"a": '{"}'}]}


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{\n "a": 1,\n "a": 2}', Code.DUPLICATE, "line 3 column 2"),
        ('{"a": 1, "\\u0061": 2}', Code.DUPLICATE, "line 1 column 10"),
        ('{"a": NaN}', Code.OUT_OF_RANGE, "line 1 column 7"),
        ('{"a": -Infinity}', Code.OUT_OF_RANGE, "line 1 column 8"),
        ('{"a": 1,}', Code.NOT_JSON, "line 1"),
        ("[" * 100, Code.TOO_BIG, "line 1 column 25"),
        ("", Code.NOT_JSON, ""),
        ("1" * 10_000, Code.NOT_JSON, "line 1"),
        (b"\xff", Code.NOT_JSON, "byte 0"),
        (" " * (2**20 + 1), Code.TOO_BIG, ""),
    ],
)
def test_invalid_json_is_refused_with_its_place(text: str | bytes, code: Code, place: str) -> None:
    found, message = finding(text)
    assert (found, place in message) == (code, True)


@pytest.mark.parametrize("text", ['"' + "\\\\" * 500_000, '{"a":' + '"' * 999_999, "{" * 999_999, '"a\\' * 300_000])
def test_hostile_texts_are_refused_fast(text: str) -> None:
    started = time.process_time()
    with pytest.raises(DescriptionError):
        load_json(text)
    assert time.process_time() - started < LINEAR_S_MAX
