"""What every command needs: which server, with which token, and how to write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import typer

from zoe_cli.output import Format
from zoe_lib.sdk import Client


@dataclass(frozen=True, slots=True)
class Options:
    """The global options."""

    url: str
    token: str | None
    token_file: Path | None
    output: Format
    patience_s: float

    def client(self) -> Client:
        """A client of the server; a usage error when no token is given."""
        return Client(self.url, self._token(), patience_s=self.patience_s)

    def _token(self) -> str:
        if self.token:
            return self.token
        if self.token_file is None:
            raise typer.BadParameter("no token: set ZOE_TOKEN, or ZOE_TOKEN_FILE to a file that holds one")
        try:
            return self.token_file.read_text().strip()
        except OSError as error:
            raise typer.BadParameter(f"cannot read the token in {self.token_file}: {error.strerror}") from None


def options(context: typer.Context) -> Options:
    """The global options of this call."""
    found = context.find_object(Options)
    assert found is not None
    return found


def on_terminal() -> bool:
    """Whether a person watches standard error."""
    return os.isatty(2)
