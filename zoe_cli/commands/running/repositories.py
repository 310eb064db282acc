"""Parse the options for Git repositories of a command."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def sources_of(urls: Sequence[str] | None, secret: str | None) -> tuple[dict[str, str], ...]:
    """Return the entries for `sources`; the server checks the addresses."""
    if secret is not None and not urls:
        raise typer.BadParameter("--git-secret opens repositories; name one with --git")
    return tuple(_source(url) | ({} if secret is None else {"secret": secret}) for url in urls or ())


def _source(text: str) -> dict[str, str]:
    """Split URL[@REF]: an @ before the path belongs to the address."""
    scheme, found, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    path, at, ref = path.partition("@")
    url = f"{scheme}{found}{host}{slash}{path}"
    return {"git": url, "ref": ref} if at else {"git": url}
