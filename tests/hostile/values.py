"""Hostile texts, headers and bodies, drawn by a seed. Pure."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

Header = tuple[bytes, bytes]
TEXTS: Sequence[str] = (
    "", " ", ".", "..", "../../etc/passwd", "a/b", "\x00", "x\x00y", "\x1b[31m", "\r\nX-Injected: yes", "%00", "%2e%2e",
    "\u202egnp.exe", "\ufeff", "\ud800", "e\u0301", "\u2028", "Ａｄａ", "ada ", "ADA", "null", "NaN", "-1", "0",
    "1e309", "9" * 40, "-9223372036854775809", "9223372036854775808", "2147483648", "' OR 1=1 --", "{{7*7}}", "${jndi:ldap://x}",
    "<script>alert(1)</script>", "%s%n", "x" * 5000, "*", "a,b", "zoe_000000000000_" + "0" * 48, "true", "[]", "{}",
)  # fmt: skip
OVERLONG = ("%c0%ae%c0%ae", "%c0%80", "%e0%80%af", "%ff%fe", "%ed%a0%80", "%f4%90%80%80", "%", "%zz", "%u002e")
"""Percent-encodings of bytes that are no UTF-8, or no encoding."""
KINDS: Sequence[Any] = (None, True, -1, 0, 2**63, 10**40, 1e308, 0.1, "", "x", [], {}, [[]], {"a": None})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "X")
HEADERS: Sequence[Header] = (
    (b"X-Long", b"x" * 70_000), (b"Accept", b"\xff"), (b"Accept", b"application/xml"), (b"Range", b"bytes=5-1,-0,99-"),
    (b"Range", b"bytes=0-" + b"9" * 30), (b"If-Match", b'"' + b"9" * 40 + b'"'), (b"If-None-Match", b"*"),
    (b"If-Modified-Since", b"Thu, 99 Foo 9999"), (b"Zoe-No-Older-Than", b"99999999999999999999"),
    (b"Zoe-No-Older-Than", b"-1"), (b"Zoe-No-Older-Than", b"x"), (b"X-Request-Id", b"a b"), (b"X-Request-Id", b"\xff"),
    (b"X-Forwarded-For", b"unknown, ::1%eth0, 999.1.1.1"), (b"X-Forwarded-For", b""), (b"X-Forwarded-Proto", b"gopher"),
    (b"Forwarded", b"for=\"[::1\";host=evil"), (b"X-Forwarded-Host", b"evil.example"), (b"Host", b"evil.example"),
    (b"Host", b"[::1"), (b"Origin", b"null"), (b"Origin", b"http://[bad"), (b"Referer", b"javascript:0"),
    (b"Cookie", b"zoe-session=\"; zoe-session=x; a"), (b"Cookie", b"\xff=\xfe"), (b"Authorization", b"Bearer"),
    (b"Authorization", b"Basic Og=="), (b"Authorization", b"Bearer zoe_a_b_c_\xff"), (b"Upload-Offset", b"9" * 30),
    (b"Upload-Length", b"-1"), (b"Upload-Metadata", b"path !!!,path Li4="), (b"Tus-Resumable", b"0.0.0"),
    (b"X-HTTP-Method-Override", b"DELETE"), (b"Idempotency-Key", b"\xe2\x80\xae"), (b"Idempotency-Key", b"k" * 3000),
    (b"Last-Event-ID", b"-5"), (b"Last-Event-ID", b"9" * 30), (b"X-CSRF-Token", b"\xff"), (b"Accept-Language", b";q=,"),
    (b"Accept-Encoding", b"gzip;q=2, br, *;q=0"), (b"Sec-Fetch-Site", b"cross-site"), (b"TE", b"trailers"),
)  # fmt: skip
CONTENT_TYPES = (
    b"application/json", b"application/json; charset=utf-16", b"text/plain", b"application/x-www-form-urlencoded",
    b"multipart/form-data", b"multipart/form-data; boundary=x", b"application/xml", b"application/octet-stream",
    b"\xff", b"application/offset+octet-stream", b"application/problem+json", b"",
)  # fmt: skip
_DEEP = 2_000


def encoded(chance: random.Random, text: str) -> str:
    """Return a text as part of a path or a query, percent-encoded in one of several ways."""
    once = quote(text.encode("utf-8", "surrogatepass"), safe="")
    ways: Sequence[Callable[[], str]] = (
        lambda: once,
        lambda: quote(once, safe=""),
        lambda: "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "surrogatepass")),
        lambda: once + chance.choice(OVERLONG),
        lambda: f"..%2f{once}",
        lambda: f"{once}%00",
        lambda: f"{once}%2f..%2f{once}",
        lambda: f"{once};a=b",
    )
    return chance.choice(ways)()


def text(chance: random.Random) -> str:
    """Return a hostile text."""
    return chance.choice(TEXTS)


def spoiled(chance: random.Random, value: Any) -> Any:
    """Return a JSON value with one part of another kind, or with a hostile text."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {**value, text(chance): value[name]}
        return {**value, name: spoiled(chance, value[name])}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        if chance.random() < 0.1:
            return value * 200
        return [*value[:place], spoiled(chance, value[place]), *value[place + 1 :]]
    return text(chance) if chance.random() < 0.5 else chance.choice(KINDS)


def body(chance: random.Random, value: Any) -> bytes:
    """Return a JSON value as the bytes of a body that is odd."""
    plain = json.dumps(value).encode()
    ways: Sequence[Callable[[], bytes]] = (
        lambda: plain[: chance.randrange(len(plain) + 1)],
        lambda: b"\xef\xbb\xbf" + plain,
        lambda: json.dumps(value).encode("utf-16"),
        lambda: plain[:-1] + b',"a":1,"a":2}' if plain.endswith(b"}") else plain + plain,
        lambda: b"[" * _DEEP + b"]" * _DEEP,
        lambda: b'{"a":' * _DEEP + plain + b"}" * _DEEP,
        lambda: plain.replace(b'"', b'"\xff', 1),
        lambda: b'{"n":' + b"9" * 5000 + b"}",
        lambda: b"NaN",
        lambda: b"a=1&b=%ff",
        lambda: b"",
        lambda: b"\x00" * 100,
    )
    return chance.choice(ways)()
