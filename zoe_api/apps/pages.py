"""Error pages for browsers in place of an application's."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, Response

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<h1>{title}</h1><p>{text}</p>{more}</html>
"""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # The request may have a body, which stays unread.
    "Connection": "close",
}


def error_page(status: int, title: str, text: str, *, at_zoe: bool = False) -> Response:
    """Return a page without scripts and styles; on Zoe's own origin it links back to Zoe."""
    more = '<p><a href="/">Back to Zoe</a></p>' if at_zoe else ""
    return HTMLResponse(_PAGE.format(title=escape(title), text=escape(text), more=more), status, _HEADERS)


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
    """The service is not running."""
    return error_page(404, "The application is not running", "The application has ended, or has not started yet.")


def unreachable() -> Response:
    """The service runs but does not answer."""
    return error_page(
        502, "The application does not answer", "The application runs, but its port does not answer. Try again soon."
    )


def no_answer() -> Response:
    """The service's answer is not valid HTTP."""
    return error_page(502, "Invalid answer", "The application answered with something that is not HTTP.")
