"""Serve the documentation of this version under /docs/, as `make docs-site` built it."""

from __future__ import annotations

import mimetypes
from functools import cache
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
    title="The documentation is not built", text="Run <code>make docs-site</code>, and start Zoe again."
)
_NO_PAGE = _PAGE.format(
    title="The documentation has no such page", text='Start at its <a href="/docs/">first page</a>, which has a search.'
)


class DocsSite:
    """ASGI application for GET and HEAD of paths below /docs; all other requests go on to `otherwise`."""

    def __init__(self, otherwise: ASGIApp, directory: Path = DOCS_SITE) -> None:
        self._otherwise = otherwise
        self._directory = directory
        self._names = _names(directory)

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
        if not self._names:
            return HTMLResponse(_NOT_BUILT, 503, _HEADERS)
        name = path.removeprefix(f"{_PREFIX}/")
        name = f"{name}index.html" if name == "" or name.endswith("/") else name
        if name not in self._names:
            return HTMLResponse(_NO_PAGE, 404, _HEADERS)
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if zipped and name + _COMPRESSED in self._names:
            headers = {**_HEADERS, "Content-Encoding": "gzip"}
            return FileResponse(self._directory / (name + _COMPRESSED), headers=headers, media_type=media_type)
        return FileResponse(self._directory / name, headers=_HEADERS, media_type=media_type)


def _is_below(path: str) -> bool:
    return path == _PREFIX or path.startswith(f"{_PREFIX}/")


@cache
def _names(directory: Path) -> frozenset[str]:
    """Return the paths of all files: only these are answered, so no path leads out of the directory."""
    return frozenset(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
