"""An account of an object store in memory, which answers requests like Swift."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx

from zoe_api.services.objects.account import Account, StoreRequest, SwiftLogin

LOGIN = SwiftLogin("zoe", "http://swift/auth", "acme:ann", "key")


class _Content(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


class PlainSwift:
    """Containers and objects by name. `asked`: every request, as method and path."""

    def __init__(self, **containers: dict[str, bytes]) -> None:
        self.containers = {name: dict(objects) for name, objects in containers.items()}
        self.headers: dict[tuple[str, str], dict[str, str]] = {}
        self.asked: list[tuple[str, str]] = []
        self.queries: list[dict[str, Any]] = []
        self.statuses: dict[tuple[str, str], int] = {}

    @property
    def account(self) -> Account:
        return Account(self, LOGIN)

    async def address(self, login: SwiftLogin) -> str:
        return "http://swift/v1/acme"

    async def answer(self, login: SwiftLogin, request: StoreRequest) -> httpx.Response:
        answer = await self._answered(request)
        return httpx.Response(answer.status_code, headers=answer.headers, stream=_Content(answer.content))

    async def _answered(self, request: StoreRequest) -> httpx.Response:
        path = b"/".join(request.path).decode()
        self.asked.append((request.method, path))
        self.queries.append(dict(request.query))
        status = self.statuses.get((request.method, path))
        if status is not None:
            return httpx.Response(status, content=b"said")
        container, _, name = path.partition("/")
        if not name:
            return self._of_container(request, container)
        objects = self.containers.get(container)
        if objects is None:
            return httpx.Response(404)
        return await self._of_object(request, container, objects, name)

    def _of_container(self, request: StoreRequest, container: str) -> httpx.Response:
        query = request.query
        if request.method == "PUT":
            self.containers.setdefault(container, {})
            return httpx.Response(201)
        if not container:
            names = [container for container in sorted(self.containers) if container > str(query.get("marker", ""))]
            return self._page([{"name": name} for name in names], query)
        if container not in self.containers:
            return httpx.Response(404)
        if request.method == "DELETE":
            empty = not self.containers[container]
            if empty:
                del self.containers[container]
            return httpx.Response(204 if empty else 409)
        if request.method == "HEAD":
            return httpx.Response(204)
        return self._page(self._listed(container, query), query)

    def _listed(self, container: str, query: Any) -> list[dict[str, Any]]:
        prefix, marker = str(query.get("prefix", "")), str(query.get("marker", ""))
        found: dict[str, dict[str, Any]] = {}
        for name, content in sorted(self.containers[container].items()):
            if not name.startswith(prefix):
                continue
            rest = name[len(prefix) :]
            if query.get("delimiter") and "/" in rest:
                shown = prefix + rest.partition("/")[0] + "/"
                one: dict[str, Any] = {"subdir": shown}
            else:
                shown = name
                own = self.headers.get((container, name), {})
                one = {
                    "name": name,
                    "bytes": len(content),
                    "hash": hashlib.md5(content).hexdigest(),
                    "content_type": own.get("Content-Type", "text/plain"),
                    "last_modified": "2026-11-01T00:00:00.000000",
                    **({"slo_etag": "x"} if "large" in own else {}),
                }
            if shown > marker:
                found.setdefault(shown, one)
        return list(found.values())

    def _page(self, found: list[dict[str, Any]], query: Any) -> httpx.Response:
        return httpx.Response(200, content=json.dumps(found[: int(query.get("limit", 10_000))]).encode())

    async def _of_object(
        self, request: StoreRequest, container: str, objects: dict[str, bytes], name: str
    ) -> httpx.Response:
        match request.method:
            case "PUT":
                return await self._put(request, container, objects, name)
            case "POST" | "HEAD" | "GET" if name not in objects:
                return httpx.Response(404)
            case "DELETE":
                self.headers.pop((container, name), None)
                return httpx.Response(404 if objects.pop(name, None) is None else 204)
            case "POST":
                self.headers[container, name] = dict(request.headers)
                return httpx.Response(202)
        own = self.headers.get((container, name), {})
        told = {"Content-Length": str(len(objects[name])), "X-Timestamp": "7.0", **own}
        told.setdefault("Content-Type", "text/plain")
        if request.method == "HEAD":
            return httpx.Response(200, headers=told)
        told.pop("Content-Length")
        return httpx.Response(200, headers=told, content=objects[name])

    async def _put(self, request: StoreRequest, container: str, objects: dict[str, bytes], name: str) -> httpx.Response:
        own = {key: value for key, value in request.headers.items() if key in ("Content-Type", "X-Delete-After")}
        source = request.headers.get("X-Copy-From")
        if source is not None:
            of, _, part = unquote(source).lstrip("/").partition("/")
            content = self.containers[of][part]
        elif isinstance(request.body, bytes):
            content = request.body
        else:
            content = b"".join([piece async for piece in request.body or ()])
        if request.query.get("multipart-manifest") == "put":
            parts = [load["path"].lstrip("/").partition("/") for load in json.loads(content)]
            content = b"".join(self.containers[of][part] for of, _, part in parts)
            own["large"] = "true"
        objects[name] = content
        self.headers[container, name] = own
        return httpx.Response(201, headers={"Etag": f'"{hashlib.md5(content).hexdigest()}"'})
