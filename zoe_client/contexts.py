"""Contexts: the servers of a user, each with a token, in a file that only the user can read."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from zoe_client.errors import ZoeError

DIRECTORY_MODE, FILE_MODE = 0o700, 0o600


class ContextError(ZoeError, ValueError):
    """The file cannot be read or written, or lacks the context."""


@dataclass(frozen=True, slots=True)
class Context:
    """A server, and the token for it if the user has signed in."""

    url: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts by name, and the one in use."""

    by_name: dict[str, Context] = field(default_factory=dict)
    current: str | None = None

    def find(self, name: str | None) -> Context | None:
        """Return the context with this name, or the one in use; None if there is none. ContextError."""
        if name is None:
            return self.by_name.get(self.current or "")
        return self.get(name)

    def get(self, name: str) -> Context:
        """Return a context; ContextError if it does not exist."""
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name)) or "none; `zoe login URL` makes one"
            raise ContextError(f"there is no context {name!r}; there are: {known}")
        return self.by_name[name]

    def using(self, name: str) -> Contexts:
        """Return the same contexts with this one in use."""
        self.get(name)
        return replace(self, current=name)

    def having(self, name: str, context: Context) -> Contexts:
        """Return the same contexts with this one added; the only context is the one in use."""
        if not name or not name.isprintable() or name != name.strip():
            raise ContextError(f"{name!r} cannot be the name of a context")
        by_name = {**self.by_name, name: context}
        return replace(self, by_name=by_name, current=self.current or name)

    def remove(self, name: str) -> Contexts:
        """Return the same contexts without this one."""
        self.get(name)
        by_name = {other: context for other, context in self.by_name.items() if other != name}
        return Contexts(by_name, None if self.current == name else self.current)


def contexts_file() -> Path:
    """Return the path of the file (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".config") / "zoe" / "contexts.json"


def read_contexts() -> Contexts:
    """Return the contexts of the file; none if there is no file. ContextError."""
    path = contexts_file()
    try:
        found = json.loads(path.read_text("utf-8"))
        by_name = {name: Context(str(entry["url"]), entry.get("token")) for name, entry in found["contexts"].items()}
        return Contexts(by_name, found.get("current"))
    except FileNotFoundError:
        return Contexts()
    except OSError as error:
        raise ContextError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ContextError(f"{path} is not a file of contexts; move it away, and sign in again") from None


def with_context(url: str | None, token: str | None, name: str | None = None) -> tuple[str | None, str | None]:
    """Return address and token, completed from the context with this name or the one in use. ContextError.

    The token of a context goes to its own server only.
    """
    if url and token:
        return url, token
    context = read_contexts().find(name)
    if context is None or (url is not None and url.rstrip("/") != context.url):
        return url, token
    return context.url, token or context.token


def write_contexts(contexts: Contexts) -> None:
    """Replace the file atomically; only its owner may read it. ContextError."""
    path = contexts_file()
    by_name = {
        name: {"url": context.url, **({"token": context.token} if context.token else {})}
        for name, context in contexts.by_name.items()
    }
    text = json.dumps({"current": contexts.current, "contexts": by_name}, indent=2) + "\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(DIRECTORY_MODE, parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ContextError(f"cannot write {path}: {error.strerror}") from None
