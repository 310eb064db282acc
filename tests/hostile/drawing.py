"""Requests drawn by a seed: methods by routes, by callers, by owners of the named objects, by encodings. Pure."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.hostile import values
from tests.hostile.schemas import Drawer, Known

_PARAMETER = re.compile(r"\{(\w+)\}")
_ODD_NAMES = ("", "a[]", "__proto__", "limit", "tenant", "all_tenants", "user", "x\x00", "\u202e", "id")


@dataclass(frozen=True, slots=True)
class Route:
    """A method and the template of a path, with what the OpenAPI document says of them."""

    method: str
    path: str
    operation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hostile:
    """A request: who makes it, at which route, naming whose objects; and its parts as they are sent."""

    asker: str
    owner: str
    route: Route
    method: str
    target: bytes
    headers: tuple[values.Header, ...]
    body: bytes

    def sent(self, host: bytes, own: Sequence[values.Header]) -> bytes:
        """Return the bytes of the request. own: the asker's headers."""
        head = [b"%s %s HTTP/1.1" % (self.method.encode(), self.target)]
        names = {name.lower() for name, _ in self.headers}
        headers = [*self.headers, *(item for item in own if item[0].lower() not in names)]
        if b"host" not in names:
            headers.append((b"Host", host))
        if self.body or self.method not in ("GET", "HEAD"):
            headers.append((b"Content-Length", b"%d" % len(self.body)))
        return b"\r\n".join([*head, *(b"%s: %s" % header for header in headers), b"", b""]) + self.body


def routes_of(document: Mapping[str, Any]) -> list[Route]:
    """Return the routes of an OpenAPI document."""
    return [
        Route(method.upper(), path, operation)
        for path, methods in sorted(document["paths"].items())
        for method, operation in sorted(methods.items())
    ]


class Drawing:
    """Draws requests. owners: the objects of each, by the names of parameters in paths. straight: pairs of caller and
    owner for a plain request of each route, before odd ones.
    """

    def __init__(
        self,
        seed: int,
        document: Mapping[str, Any],
        askers: Sequence[str],
        owners: Mapping[str, Mapping[str, Sequence[str]]],
        known: Known,
        straight: Sequence[tuple[str, str]],
    ) -> None:
        self._chance = random.Random(seed)
        self._routes = routes_of(document)
        self._askers, self._owners = askers, owners
        self._drawer = Drawer(self._chance, document, known)
        self._odd = 0.0
        self._straight = [(route, asker, owner) for route in self._routes for asker, owner in straight]
        self._chance.shuffle(self._straight)

    def request(self) -> Hostile:
        """Return the next request: first those of each route that are only not allowed, then any."""
        if self._straight:
            self._odd = 0.0
            return self._drawn(*self._straight.pop())
        self._odd = self._chance.choice((0.0, 0.5, 1.0))
        chosen = (self._chance.choice(entry) for entry in (self._routes, self._askers, sorted(self._owners)))
        return self._drawn(*chosen)

    def _is_odd(self, part: float) -> bool:
        return self._chance.random() < part * self._odd

    def _drawn(self, route: Route, asker: str, owner: str) -> Hostile:
        chance = self._chance
        method = chance.choice(values.METHODS) if self._is_odd(0.1) else route.method
        target = self._path(route, owner) + self._query(route)
        headers, body = self._body(route)
        if self._is_odd(0.6):
            headers += tuple(chance.sample(values.HEADERS, chance.choice((1, 2))))
        return Hostile(asker, owner, route, method, target.encode("ascii", "replace"), headers, body)

    def _path(self, route: Route, owner: str) -> str:
        chance = self._chance

        def filled(match: re.Match[str]) -> str:
            named = self._owners[owner].get(match[1], ("walk",))
            if not self._is_odd(0.3):
                return values.encoded(chance, chance.choice(named)) if self._is_odd(0.1) else chance.choice(named)
            return values.encoded(chance, values.text(chance))

        path = _PARAMETER.sub(filled, route.path)
        if self._is_odd(0.1):
            path = chance.choice((f"//{path}", f"{path}/", f"{path}/..%2f", f"/.{path}", path.upper(), f"{path}%20"))
        return path

    def _query(self, route: Route) -> str:
        chance = self._chance
        parts = []
        for mapping in map(self._drawer.whole, route.operation.get("parameters", ())):
            if mapping["in"] == "query" and (mapping.get("required") or chance.random() < 0.3):
                value = self._drawer.value(mapping.get("schema", {}), mapping["name"])
                several = value if isinstance(value, list) else [value]
                parts += [f"{mapping['name']}={self._in_query(each)}" for each in several]
        if self._is_odd(0.2):
            parts.append(f"{values.encoded(chance, chance.choice(_ODD_NAMES))}={self._in_query('x')}")
        return f"?{'&'.join(parts)}" if parts else ""

    def _in_query(self, value: Any) -> str:
        if self._is_odd(0.5):
            return values.encoded(self._chance, values.text(self._chance))
        plain = str(value).lower() if isinstance(value, bool) else str(value)
        return re.sub(r"[^\w.,:@+-]", lambda found: f"%{ord(found[0]):02x}" if ord(found[0]) < 128 else "%ff", plain)

    def _body(self, route: Route) -> tuple[tuple[values.Header, ...], bytes]:
        chance = self._chance
        content = self._drawer.whole(route.operation.get("requestBody", {})).get("content", {})
        if not content:
            return ((), b"") if not self._is_odd(0.2) else self._typed(b"application/json", b'{"a": 1}')
        kind, described = sorted(content.items())[0]
        if "json" not in kind:
            return self._typed(kind.encode(), chance.randbytes(chance.choice((0, 1, 1000))))
        value = self._drawer.value(described.get("schema", {}))
        if self._is_odd(0.7):
            value = values.spoiled(chance, value)
        body = values.body(chance, value) if self._is_odd(0.4) else json.dumps(value).encode()
        return self._typed(kind.encode(), body)

    def _typed(self, kind: bytes, body: bytes) -> tuple[tuple[values.Header, ...], bytes]:
        if self._is_odd(0.2):
            kind = self._chance.choice(values.CONTENT_TYPES)
        return ((b"Content-Type", kind),), body
