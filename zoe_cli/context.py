"""What every command needs: the server, the token, and the output format."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from zoe_cli.output import Format

if TYPE_CHECKING:
    from zoe_client.client import Client
    from zoe_client.quick import QuickClient

DEFAULT_URL = "http://127.0.0.1:5100"
# A command that follows an execution for hours should survive a restart of the API.
FOLLOWING_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """The global options."""

    url: str = DEFAULT_URL
    token: str | None = None
    token_file: Path | None = None
    output: Format = Format.TABLE
    patience_s: float = 0.0

    def client(self, patience_s: float = 0.0) -> Client:
        """Return a client of the server; a usage error if the URL or the token is invalid."""
        from zoe_client.client import Client

        return Client(self.url, self._checked_token(), patience_s=max(self.patience_s, patience_s))

    def quick(self) -> QuickClient:
        """Return the same for the calls of quick commands."""
        from zoe_client.quick import QuickClient

        return QuickClient(self.url, self._checked_token(), patience_s=self.patience_s)

    def _checked_token(self) -> str:
        """Return the token; a usage error if the URL or the token is invalid."""
        if not self.url.startswith(("http://", "https://")) or not self.url.isprintable():
            raise typer.BadParameter(f"{self.url!r} is not an address such as {DEFAULT_URL} (--url or ZOE_URL)")
        token = self._token()
        if token is None:
            _without_token(self.url)
        return token

    def following(self) -> Client:
        """Return a client for long operations, which survives a restart of the server."""
        return self.client(FOLLOWING_PATIENCE_S)

    def _token(self) -> str | None:
        token = self.token
        if not token and self.token_file is not None:
            try:
                token = self.token_file.read_text("utf-8").strip()
            except OSError as error:
                raise typer.BadParameter(f"cannot read the token in {self.token_file}: {error.strerror}") from None
            except UnicodeDecodeError:
                raise typer.BadParameter(f"{self.token_file} does not contain a token") from None
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise typer.BadParameter("the token contains characters that a token cannot have")
        return token or None


def _without_token(url: str) -> NoReturn:
    """Return the problem of a missing token, or that the server does not answer, which a newcomer must know first."""
    from zoe_client import Client, NotAllowed
    from zoe_client.wire import Problem

    try:
        with Client(url, "none") as client:
            client.me()
    except NotAllowed:
        pass
    hint = "set ZOE_TOKEN_FILE to a file with a token, or ZOE_TOKEN to one; `make serve` prints the line to copy"
    raise NotAllowed(Problem(title="A token is required", status=401, code="no_token", hint=hint))


def options(context: typer.Context) -> Options:
    """Return the global options of this call."""
    found = context.find_object(Options)
    assert found is not None
    return found


def on_terminal() -> bool:
    """Return whether a person watches standard error."""
    return os.isatty(2)
