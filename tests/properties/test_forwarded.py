"""Headers of proxies about the browser: all spellings of the same mean the same, and strangers' headers are ignored."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from zoe_api.http.serving.forwarded import ForwardedDoor

PROXIES = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
BLANKS = st.sampled_from(["", " ", "\t", "  "])
SCHEMES = st.sampled_from(["http", "https"])


def seen(headers: list[tuple[bytes, bytes]], client: str = PROXIES[0], kind: str = "http") -> tuple[str, str]:
    """Scheme and address as the application sees them."""
    found: list[tuple[str, str]] = []

    async def application(scope: Any, _receive: Any, _send: Any) -> None:
        found.append((scope["scheme"], scope["client"][0]))

    scheme = "http" if kind == "http" else "ws"
    scope = {"type": kind, "scheme": scheme, "client": (client, 1), "headers": headers}
    call: Any = ForwardedDoor(application, PROXIES)
    asyncio.run(call(scope, None, None))
    return found[0]


@st.composite
def spelled(draw: st.DrawFn, values: list[str]) -> list[tuple[bytes, bytes]]:
    """The values in any case, with blanks and empty elements, over one line or several."""
    lines, line = [], ""
    for value in values:
        word = "".join(letter.upper() if draw(st.booleans()) else letter for letter in value)
        line += draw(BLANKS) + word + draw(BLANKS) + ","
        line += draw(st.sampled_from(["", " ,"]))
        if draw(st.booleans()):
            lines.append(line)
            line = ""
    return [(b"x-forwarded-proto", text.encode()) for text in (*lines, line) if text]


@given(st.data(), SCHEMES)
def test_one_scheme_is_taken_however_it_is_spelled(data: st.DataObject, scheme: str) -> None:
    headers = data.draw(spelled([scheme]))
    assert seen(headers)[0] == scheme
    assert seen(headers, kind="websocket")[0] == scheme.replace("http", "ws")


@example("https", 0, ["https"])
@given(SCHEMES, st.integers(0, 2), st.lists(SCHEMES, max_size=3))
def test_the_scheme_is_the_one_beside_the_browsers_address(scheme: str, between: int, forged: list[str]) -> None:
    """Proxies append to received headers; the browser's own header comes first and is ignored."""
    proxies = PROXIES[1 : 1 + between]
    protos = ", ".join([*forged, scheme, *["http"] * between])
    addresses = ", ".join([*["192.0.2.1"] * len(forged), "198.51.100.7", *proxies])
    headers = [(b"x-forwarded-proto", protos.encode()), (b"x-forwarded-for", addresses.encode())]
    assert seen(headers) == (scheme, "198.51.100.7")


@given(st.binary(max_size=20))
def test_invalid_scheme_and_strangers_headers_are_ignored(value: bytes) -> None:
    known = value.split(b",")[-1].strip().lower() in (b"http", b"https", b"ws", b"wss")
    assert known or seen([(b"x-forwarded-proto", value + b",x")])[0] == "http"
    assert seen([(b"x-forwarded-proto", b"https")], client="192.0.2.1") == ("http", "192.0.2.1")
