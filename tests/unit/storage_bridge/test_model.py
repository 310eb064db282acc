"""What a controller says reaches users, so it is short and on one line, whatever it sends."""

from __future__ import annotations

import httpx
import pytest

from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import SENTENCE_LENGTH_MAX, StorageRefusedError


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("unknown tenant: the store has no account for acme", "unknown tenant: the store has no account for acme"),
        ("red \x1b[31m and\r\n\tseveral\x00 lines\u2028", "red [31m and several lines"),
        ("turned \u202e round", "turned round"),
        ("half \ud800", "half"),
        ("x" * 10**6, "x" * SENTENCE_LENGTH_MAX),
        ("\n" * 10**6 + "late", "PUT /a answers 404"),
        ("", "PUT /a answers 404"),
    ],
)
def test_a_sentence_is_readable_and_bounded(said: str, sentence: str) -> None:
    assert StorageRefusedError("PUT /a answers 404", said).sentence == sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"error": "unknown tenant"}', "unknown tenant"),
        (b'"a bare string"', "a bare string"),
        (b"plain text", "plain text"),
        (b'{"detail": ["odd"]}', '{"detail": ["odd"]}'),
        (b'{"error": 5}', '{"error": 5}'),
        (b"", "it answers 409"),
        (b"\xff\xfe\x1b", "\ufffd\ufffd"),
    ],
)
def test_sentence_of_a_refusal_is_found_in_any_answer(body: bytes, sentence: str) -> None:
    line = ControllerHttp(ControllerSettings("http://controller", "t", "zoe"))
    answers = httpx.MockTransport(lambda _: httpx.Response(409, content=body))
    line._controllers = [httpx.Client(base_url="http://controller", transport=answers)]
    with pytest.raises(StorageRefusedError) as refused:
        line.ask("PUT", "/v1/owners/zoe/slos/acme", {})
    assert refused.value.sentence == sentence
