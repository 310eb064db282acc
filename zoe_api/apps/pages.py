"""Error pages for browsers in place of an application's."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse, Response

_STYLE = """
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif;background:light-dark(#f6f7f9,#12161d);
color:light-dark(#1b2430,#e7ebf1)}
main{max-width:34rem;margin:12vh auto;padding:1.5rem;background:light-dark(#fff,#1b212b);
border:1px solid light-dark(#d9dde4,#343d4b);border-radius:10px;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0 0 .5rem}
a{color:light-dark(#2557c7,#8fb1ff);display:inline-block;margin-right:1rem;min-height:24px}
"""
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">{refresh}<title>{title}</title>
<style>{style}</style><main><h1>{title}</h1><p>{text}</p>{more}</main></html>
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # The request may have a body, which stays unread.
    "Connection": "close",
}
_REFRESH = '<meta http-equiv="refresh" content="3">'


def error_page(
    status: int, title: str, text: str, links: Mapping[str, str] | None = None, *, refresh: bool = False
) -> Response:
    """Return a page without scripts. links: addresses by text; refresh: whether a browser asks again every 3 s."""
    more = "".join(f'<a href="{escape(address)}">{escape(label)}</a>' for label, address in (links or {}).items())
    page = _PAGE.format(
        title=escape(title),
        text=escape(text),
        style=_STYLE,
        refresh=_REFRESH if refresh else "",
        more=f"<p>{more}</p>" if more else "",
    )
    return HTMLResponse(page, status, _HEADERS)


def not_entered() -> Response:
    """No cookie identifies a user."""
    return error_page(401, "Not signed in to this application", "Open this application from Zoe, or with: zoe open ID")


def only_get() -> Response:
    """The client used a ticket with another method than GET; the ticket stays valid."""
    page = error_page(405, "Method not allowed", "A browser opens this address with GET.")
    page.headers["Allow"] = "GET"
    return page


def ticket_used() -> Response:
    """The ticket is unknown, used up or expired."""
    return error_page(
        401, "This link was already used", "It works once, within one minute. Open the application from Zoe again."
    )


def foreign() -> Response:
    """A page of another origin made the request."""
    return error_page(403, "Refused", "Pages of other origins may not use this application.")


def not_running() -> Response:
    """The execution is not known any more."""
    return error_page(404, "The application is not running", "The application has ended, or has not started yet.")


def unreachable() -> Response:
    """The service runs but does not answer."""
    return error_page(
        502, "The application does not answer", "The application runs, but its port does not answer. Try again soon."
    )


def no_answer() -> Response:
    """The service's answer is not valid HTTP."""
    return error_page(502, "Invalid answer", "The application answered with something that is not HTTP.")
