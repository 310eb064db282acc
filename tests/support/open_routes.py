"""Routes of the API without a sign-in: they lead to one, or end one."""

from __future__ import annotations

from zoe_api.http.request_context import PREFIX

# Parameters of paths are named x.
OPEN_ROUTES = {
    ("POST", f"{PREFIX}/session"),
    ("DELETE", f"{PREFIX}/session"),
    ("GET", f"{PREFIX}/session/providers"),
    ("GET", f"{PREFIX}/session/oidc/start"),
    ("GET", f"{PREFIX}/session/oidc/callback"),
    ("GET", f"{PREFIX}/session/oidc/callback/x"),
    ("POST", f"{PREFIX}/session/machines"),
    ("POST", f"{PREFIX}/session/machine-token"),
}
# They ask for a password or a secret, and never for a cookie.
WITHOUT_COOKIES = {
    ("POST", f"{PREFIX}/session"),
    ("POST", f"{PREFIX}/session/machines"),
    ("POST", f"{PREFIX}/session/machine-token"),
}
