"""Serve the web UI's files as `make web` built them, without Node."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, problem_response

STATIC = Path(__file__).resolve().parents[2] / "static"

ROUTE = "web"  # the route in the metrics of all its answers
# Pages of their own; every other path is part of index.html.
PAGES = {"api/docs": "api-docs.html"}

# Styles that scripts set on elements are allowed; style elements and attributes in documents, and eval, are not.
# Pictures of workspaces are shown from their bytes.
_POLICY = (
    "default-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)
# The style sheet of Swagger UI contains its icons as data: URLs, which are harmless as pictures.
_POLICIES = {"api-docs.html": _POLICY.replace("blob:", "data:")}
SECURITY_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
}
_FOR_EVER = "public, max-age=31536000, immutable"  # names of these files change with their content
_ASK_EACH_TIME = "no-cache"
_COMPRESSED = ".gz"  # the build writes such a file next to each text file
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Zoe</title><h1>The web UI is not built</h1>
<p>Run <code>make web</code>, and start Zoe again.</p></html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    zipped: bytes | None
    media_type: str


class WebUi:
    """ASGI application for all paths without another route. It holds all files in memory, texts also compressed."""

    def __init__(self, otherwise: ASGIApp, directory: Path = STATIC) -> None:
        self._otherwise = otherwise
        self._files = _read_all(directory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file or a page; forward everything else. There are no WebSockets."""
        answer = None
        if scope["type"] == "websocket":
            answer = problem_response(problem(Code.NO_SUCH_ROUTE, path=scope["path"]))
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            answer = self.answer(scope["path"].lstrip("/"), "gzip" in Headers(scope=scope).get("accept-encoding", ""))
        if answer is not None:
            scope.setdefault("state", {})["route"] = ROUTE
        await (answer or self._otherwise)(scope, receive, send)

    @property
    def is_built(self) -> bool:
        """Return whether the web UI is built."""
        return "index.html" in self._files

    def answer(self, path: str, zipped: bool) -> Response | None:
        """Return the file of this path; every other path without a suffix is a page. None if there is no such file."""
        name = path if path in self._files else PAGES.get(path, "index.html")
        if name == "index.html" and _no_page(path):
            return None
        if not self.is_built:
            return HTMLResponse(_NOT_BUILT, 503, SECURITY_HEADERS)
        file = self._files[name]
        caching = _FOR_EVER if name.startswith("assets/") else _ASK_EACH_TIME
        policy = {"Content-Security-Policy": _POLICIES.get(name, _POLICY)}
        headers = {**SECURITY_HEADERS, **policy, "Cache-Control": caching, "Vary": "Accept-Encoding"}
        if zipped and file.zipped is not None:
            return Response(file.zipped, 200, {**headers, "Content-Encoding": "gzip"}, file.media_type)
        return Response(file.content, 200, headers, file.media_type)


def _no_page(path: str) -> bool:
    """Return whether the path is a missing file, or belongs to the API."""
    return path != "index.html" and ("." in path.rsplit("/", 1)[-1] or path.startswith(("assets/", "api/")))


@cache
def _read_all(directory: Path) -> Mapping[str, _File]:
    """Return the files by their paths: read once per process, since tests make hundreds of applications."""
    return {
        path.relative_to(directory).as_posix(): _read(path)
        for path in directory.rglob("*")
        if path.is_file() and path.suffix != _COMPRESSED
    }


def _read(path: Path) -> _File:
    compressed = path.with_name(path.name + _COMPRESSED)
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(path.read_bytes(), compressed.read_bytes() if compressed.exists() else None, media_type)
