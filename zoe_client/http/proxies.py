"""Find the HTTP proxy for a server in the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def proxy_for(url: str) -> str | None:
    """Return the URL of the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, unless NO_PROXY excludes the server; None
    for this machine.
    """
    if not any(os.environ.get(name) or os.environ.get(name.upper()) for name in _VARIABLES):
        return None
    parts = urlsplit(url)
    if on_this_machine(parts.hostname or ""):
        return None
    # Its import takes as long as a quick command.
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if found is None or "://" in found else f"http://{found}"


def on_this_machine(host: str) -> bool:
    """Return whether the name or address of a server is a loopback one."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
