"""What of the headers passes between a browser and an application, and what is ours or only of one hop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zoe_api.addresses import parts_of
from zoe_api.apps.request_target import same_origin
from zoe_api.apps.targets import Target
from zoe_api.cookies import OURS

Headers = Iterable[tuple[str, str]]

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OF_WEBSOCKETS = "sec-websocket-"


def to_application(headers: Headers, target: Target, scheme: str) -> Iterator[tuple[str, str]]:
    """As if the browser had asked the application itself: many check names of hosts and origins against their own."""
    ours = {name.lower() for name in target.headers}
    for name, value in headers:
        match name:
            case "host":
                yield "X-Forwarded-Host", value
            case "origin":
                yield name, f"http://{target.authority}"
            case "referer":
                page = parts_of(value)
                if page is not None:
                    yield name, page._replace(scheme="http", netloc=target.authority).geturl()
            case "cookie":
                theirs = _without_ours(value)
                if theirs:
                    yield name, theirs
            case "x-forwarded-for" | "x-forwarded-host" | "x-forwarded-proto" | "x-real-ip" | "forwarded":
                continue
            case _ if name not in HOP_BY_HOP | ours and not name.startswith(_OF_WEBSOCKETS):
                yield name, value
    yield "X-Forwarded-Proto", scheme
    yield "Host", target.authority
    yield from target.headers.items()


def to_browser(headers: Headers, target: Target) -> Iterator[tuple[str, str]]:
    """Redirections to the application's own address lead to its origin here; cookies stay on that."""
    for name, value in headers:
        match name.lower():
            case "location":
                yield name, _relative(value, target)
            case "set-cookie":
                cookie = _host_only(value)
                if cookie is not None:
                    yield name, cookie
            case lower if lower not in HOP_BY_HOP:
                yield name, value


def _without_ours(cookies: str) -> str:
    pairs = (pair.strip() for pair in cookies.split(";"))
    return "; ".join(pair for pair in pairs if pair.partition("=")[0].strip() not in OURS)


def _host_only(cookie: str) -> str | None:
    """None for a cookie that would take the place of ours."""
    first, *attributes = cookie.split(";")
    if first.partition("=")[0].strip() in OURS:
        return None
    return ";".join([first, *(a for a in attributes if a.partition("=")[0].strip().lower() != "domain")])


def _relative(location: str, target: Target) -> str:
    parts = parts_of(location)
    if parts is None or parts.netloc != target.authority:
        return location
    query, fragment = f"?{parts.query}" * bool(parts.query), f"#{parts.fragment}" * bool(parts.fragment)
    return f"{same_origin(parts.path or '/')}{query}{fragment}"
