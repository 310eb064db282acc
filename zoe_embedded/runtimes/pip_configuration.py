"""Configuration of pip, for other programs that download: uv, npm, and this process.

Standard library only: the set-up runs it with a bare Python.
"""

from __future__ import annotations

import ast
import os
import ssl
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_UV = {
    "cert": "SSL_CERT_FILE",
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
}
"""Options of pip, and the equivalent variables of uv."""
_SEVERAL = {"UV_FIND_LINKS": ",", "UV_INDEX": " ", "UV_INSECURE_HOST": " "}
"""Variables with several values, and their separator; pip separates its values by white space."""
_SECTIONS = (":env:", "install", "global")
_ANSWERS_WITHIN_S = 60.0


def options(listed: str) -> dict[str, str]:
    """Return the options in the output of `pip config list`; variables come before files."""
    found: dict[str, dict[str, str]] = {}
    for line in listed.splitlines():
        name, equals, value = line.partition("=")
        section, dot, option = name.partition(".")
        if equals and dot and section in _SECTIONS:
            found.setdefault(option, {})[section] = str(ast.literal_eval(value))
    return {option: next(of[section] for section in _SECTIONS if section in of) for option, of in found.items()}


def variables(configured: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add to the environment of uv and npm. Variables that are set already stay."""
    added: dict[str, str] = {}
    for option, variable in _UV.items():
        if (value := configured.get(option)) and variable not in environment:
            values = [part for part in value.split() if option != "find-links" or _is_usable(part)]
            if values:
                added[variable] = _SEVERAL.get(variable, " ").join(values)
    authorities = environment.get("SSL_CERT_FILE") or added.get("SSL_CERT_FILE")
    if authorities and "NODE_EXTRA_CA_CERTS" not in environment:
        added["NODE_EXTRA_CA_CERTS"] = authorities
    return added


def _is_usable(place: str) -> bool:
    """Return whether uv can use a place; unlike pip, it fails for a directory that does not exist."""
    return "://" in place or Path(place).exists()


@cache
def configuration_of(python: Path) -> dict[str, str]:
    """Return the configuration of pip for this Python; empty if pip does not report it."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWERS_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    try:
        return options(done.stdout)
    except (SyntaxError, ValueError):
        return {}


def download_environment(python: Path) -> dict[str, str]:
    """Return an environment in which other programs download like pip."""
    return {**os.environ, **variables(configuration_of(python), os.environ)}


def trust_context(python: Path) -> ssl.SSLContext:
    """Return the authorities that downloads of this process trust: the machine's and pip's."""
    context = ssl.create_default_context()
    if file := download_environment(python).get("SSL_CERT_FILE"):
        context.load_verify_locations(file)
    return context
