"""Global options of every command: server, token, and output format."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from zoe_cli.output import Format
from zoe_client.http.server import DEFAULT_URL as DEFAULT_URL  # noqa: PLC0414 - commands read it here
from zoe_client.http.server import own_service
from zoe_client.words.documentation import page_address

if TYPE_CHECKING:
    from zoe_client.client import Client
    from zoe_client.quick.quick import QuickClient

# A command that follows an execution for hours should survive a restart of the API.
FOLLOWING_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """The global options."""

    url: str | None = None
    token: str | None = None
    token_file: Path | None = None
    output: Format = Format.TABLE
    patience_s: float = 0.0
    context: str | None = None

    def client(self, patience_s: float = 0.0) -> Client:
        """Return a client of the server; a usage error if the URL or the token is invalid."""
        from zoe_client.client import Client

        return Client(*self._server(), patience_s=max(self.patience_s, patience_s))

    def quick(self) -> QuickClient:
        """Return a client for quick commands, with the same errors."""
        from zoe_client.quick.quick import QuickClient

        return QuickClient(*self._server(), patience_s=self.patience_s)

    def page(self, name: str) -> str:
        """Return the address of a page of the documentation, at the server of this command."""
        return page_address(self._server()[0], name)

    def following(self) -> Client:
        """Return a client for long operations, which survives a restart of the server."""
        return self.client(FOLLOWING_PATIENCE_S)

    def variables(self) -> dict[str, str]:
        """Return environment variables that make a child command use the same server."""
        url, token = self._server()
        return {"ZOE_URL": url, "ZOE_TOKEN": token}

    def arguments(self) -> tuple[list[str], str]:
        """Return options that make a later command use the same server, and its other requirements."""
        from zoe_client.contexts import read_contexts

        url, token = self._server()
        with plainly():
            contexts = read_contexts()
        for name, known in contexts.by_name.items():
            if (known.url, known.token) == (url, token):
                return ["--context", name], ""
        if self.token_file is not None and not self.token:
            return ["--url", url, "--token-file", str(self.token_file.absolute())], ""
        return [
            "--url",
            url,
        ], "programs that use this must have ZOE_TOKEN in their environment; `zoe login` avoids that"

    def _server(self) -> tuple[str, str]:
        """Return URL and token: the given ones, else those of the context. A token is sent to the server of its context
        only.
        """
        url, token = self.url, self.token or (None if self.token_file is None else token_in(self.token_file))
        if token is None and self.context is None and (own := own_service(url)) is not None:
            url, token = own
        if not (url and token):
            from zoe_client.contexts import with_context

            with plainly():
                url, token = with_context(url, token, self.context)
        url = checked_url(url or DEFAULT_URL)
        return url, checked_token(token) if token else _without_token(url)


@contextmanager
def plainly() -> Iterator[None]:
    """Convert errors of the file of contexts to usage errors."""
    from zoe_client.contexts import ContextError

    try:
        yield
    except ContextError as error:
        raise typer.BadParameter(str(error)) from None


def checked_url(url: str) -> str:
    """Return the address of a server without a final slash; a usage error if it is invalid."""
    if not url.startswith(("http://", "https://")) or not url.isprintable():
        raise typer.BadParameter(f"{url!r} is not an address such as {DEFAULT_URL} (--url or ZOE_URL)")
    return url.rstrip("/")


def checked_token(token: str) -> str:
    """Return a token; a usage error if it is malformed."""
    if not token:
        raise typer.BadParameter("the token is empty: give one on standard input, or by --token-file")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise typer.BadParameter("the token contains characters that a token cannot have")
    return token


def token_in(file: Path) -> str | None:
    """Return the token in a file, None if it is empty; a usage error if it cannot be read, or if other users can read a
    file that belongs to this user.
    """
    try:
        found = file.stat()
        # As ssh does with keys. A file of another owner, such as a container's secret, is that owner's responsibility.
        if found.st_uid == os.geteuid() and stat.S_ISREG(found.st_mode) and found.st_mode & 0o077:
            raise typer.BadParameter(
                f"other users can read the token in {file} (mode {stat.S_IMODE(found.st_mode):04o}): chmod 600 {file}"
            )
        return file.read_text("utf-8").strip() or None
    except OSError as error:
        raise typer.BadParameter(f"cannot read the token in {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} does not contain a token") from None


def _without_token(url: str) -> NoReturn:
    """Return the problem of a missing token, or that the server does not answer, which comes first for a newcomer."""
    from zoe_client import Client, NotAllowed
    from zoe_client.wire import Problem

    try:
        with Client(url, "none") as client:
            client.me()
    except NotAllowed:
        pass
    hint = (
        "`zoe login URL` keeps one; or set ZOE_TOKEN_FILE to a file with a token, or ZOE_TOKEN to one; `make serve` "
        "prints the line to copy"
    )
    raise NotAllowed(Problem(title="A token is required", status=401, code="no_token", hint=hint))


def options(context: typer.Context) -> Options:
    """Return the global options of this call."""
    found = context.find_object(Options)
    assert found is not None
    return found


def on_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return os.isatty(2)
