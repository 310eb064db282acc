"""Sign the account that runs `make serve` in: `zoe` of this account then needs no variables."""

from __future__ import annotations

from pathlib import Path

from zoe_client.contexts import Context, ContextError, read_contexts, write_contexts

_NAME = "serve"


def keep_context(url: str, token_file: Path, home: Path, chosen: bool) -> str:
    """Keep address and token of an installation among the contexts of this account, and return the command that uses
    them. Another context that is in use stays in use.

    chosen: whether ZOE_HOME names the home, which then has a context of its own. ContextError.
    """
    name = f"{_NAME}-{home.name}" if chosen else _NAME
    try:
        token = token_file.read_text("utf-8").strip()
    except OSError as error:
        raise ContextError(f"cannot read {token_file}: {error.strerror}") from None
    contexts = read_contexts().having(name, Context(url, token))
    write_contexts(contexts)
    return "zoe" if contexts.current == name else f"zoe --context {name}"
