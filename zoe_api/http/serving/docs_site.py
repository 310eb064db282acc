"""Serve the documentation of this version under /docs/, as `make docs-site` built it."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.serving.web_ui import ROUTE, SECURITY_HEADERS

DOCS_SITE = Path(__file__).resolve().parents[2] / "docs_site"

_PREFIX = "/docs"
# The style sheets of the theme contain icons as data: URLs, which are harmless as pictures.
_HEADERS = {
    **SECURITY_HEADERS,
    "Content-Security-Policy": SECURITY_HEADERS["Content-Security-Policy"].replace("blob:", "data:"),
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_COMPRESSED = ".gz"  # the build writes such a file next to each text file
_PAGE = (
    '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Zoe</title><h1>{title}</h1>\n<p>{text}</p></html>\n'
)
_NOT_BUILT = _PAGE.format(
    title="The documentation is not built",
    text="<code>make serve</code> builds it after its start, within minutes. <code>make docs-site</code> also does.",
)
_NO_PAGE = _PAGE.format(
    title="The documentation has no such page", text='Start at its <a href="/docs/">first page</a>, which has a search.'
)


class DocsSite:
    """ASGI application for GET and HEAD of paths below /docs; all other requests go on to `otherwise`."""

    def __init__(self, otherwise: ASGIApp, directory: Path = DOCS_SITE) -> None:
        self._otherwise = otherwise
        self._directory = directory
        self._seen: tuple[int, int] | None = None
        self._known: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file of the site."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not _is_below(scope["path"]):
            await self._otherwise(scope, receive, send)
            return
        scope.setdefault("state", {})["route"] = ROUTE
        zipped = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        await self.answer(scope["path"], zipped)(scope, receive, send)

    def answer(self, path: str, zipped: bool) -> Response:
        """Return the file of a path below /docs; a path that ends in a slash is that folder's index.html."""
        if path == _PREFIX:
            return RedirectResponse("docs/", headers=_HEADERS)
        names = self._names()
        if not names:
            return HTMLResponse(_NOT_BUILT, 503, _HEADERS)
        name = path.removeprefix(f"{_PREFIX}/")
        name = f"{name}index.html" if name == "" or name.endswith("/") else name
        if name not in names:
            return HTMLResponse(_NO_PAGE, 404, _HEADERS)
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if zipped and name + _COMPRESSED in names:
            headers = {**_HEADERS, "Content-Encoding": "gzip"}
            return FileResponse(self._directory / (name + _COMPRESSED), headers=headers, media_type=media_type)
        return FileResponse(self._directory / name, headers=_HEADERS, media_type=media_type)

    def _names(self) -> frozenset[str]:
        """Return the paths of all files: only these are answered, so no path leads out of the directory. A new build
        replaces the directory while programs run.
        """
        try:
            status = self._directory.stat()
        except OSError:
            return frozenset()
        if (seen := (status.st_ino, status.st_mtime_ns)) != self._seen:
            paths = (path for path in self._directory.rglob("*") if path.is_file())
            self._known = frozenset(path.relative_to(self._directory).as_posix() for path in paths)
            self._seen = seen
        return self._known


def _is_below(path: str) -> bool:
    return path == _PREFIX or path.startswith(f"{_PREFIX}/")
