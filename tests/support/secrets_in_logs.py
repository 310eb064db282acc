"""The secrets that tests make, send and receive, and the search for them in logs."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Shorter ones occur in texts by chance.
_LETTERS_MIN = 10
_BODY_BYTES_MAX = 1 << 16
_FIELD = re.compile(rb'"(?:\w*password|old|new|\w*token|\w*secret)"\s*:\s*"((?:[^"\\]|\\.)*)"')
# A random one; with small letters only, it is the name of a key, such as "executions" in the traffic of a store.
_KEY = re.compile(rb'"key"\s*:\s*"(?=[^"]*[0-9A-Z])((?:[^"\\]|\\.)*)"')
_IN_HEADER = {
    b"authorization": re.compile(rb"\w+ (\S+)"),
    b"cookie": re.compile(rb"=([^;]*)"),
    b"set-cookie": re.compile(rb"^[^=]*=([^;]*)"),
    b"x-csrf-token": re.compile(rb"(.*)"),
    b"location": re.compile(rb"\b(?:ticket|code|state)=([^&]*)"),
}
_IN_FILE = re.compile(r'secret-key = "(.*)"|://[^:/@\s]*:([^@/\s]+)@|^([^\s#"=]{16,})$', re.MULTILINE)
_TICKET = re.compile(rb"ticket=([\w.-]+)")


class Secrets:
    """Secrets that must be in no log. A secret counts from its recording on."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def note(self, *secrets: str) -> None:
        self._known |= {secret for secret in secrets if len(secret) >= _LETTERS_MIN}

    def note_token(self, token: str) -> str:
        """Record the secret part; the id of a token may be logged."""
        self.note(token, token.rsplit("_", 1)[-1])
        return token

    def note_files(self, directory: Path) -> None:
        """Record keys, tokens, and passwords of databases in the files of a directory."""
        for path in directory.rglob("*"):
            if path.is_file() and path.stat().st_size < _BODY_BYTES_MAX:
                text = path.read_text(errors="replace")
                self.note(*("".join(groups) for groups in _IN_FILE.findall(text)))

    def found_in(self, text: str) -> list[str]:
        """Return the lines that contain a secret."""
        forms = {form for secret in self._known for form in (secret, json.dumps(secret)[1:-1])}
        leaked = [form for form in forms if form in text]
        return [line for line in text.splitlines() if any(form in line for form in leaked)] if leaked else []

    def forget(self) -> None:
        self._known.clear()


SECRETS = Secrets()


def check_logs(directory: Path, logs: Iterable[Path]) -> None:
    """Fail if a log contains a recorded secret, or one in the files of the directory."""
    SECRETS.note_files(directory)
    for path in logs:
        leaks = SECRETS.found_in(path.read_text(errors="replace"))
        assert not leaks, f"{path.name} contains secrets: {leaks[:3]}"


class Logged:
    """Collects the logs of the programs in this process, from one check to the next."""

    def __init__(self) -> None:
        self.file = io.StringIO()

    def take(self) -> str:
        text = self.file.getvalue()
        self.file.seek(0)
        self.file.truncate()
        return text


class NotingSecrets:
    """An application whose requests and responses are searched for secrets, which are recorded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_and_note() -> Message:
            message = await receive()
            _note_body(message)
            return message

        async def note_and_send(message: Message) -> None:
            _note_headers(message.get("headers", ()))
            _note_body(message)
            await send(message)

        _note_headers(scope.get("headers", ()))
        await self._app(scope, receive_and_note, note_and_send)


def _note_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
        if name in _IN_HEADER:
            _note(_IN_HEADER[name].findall(value))


def _note_body(message: Message) -> None:
    body = message.get("body", b"")
    if 0 < len(body) < _BODY_BYTES_MAX:
        _note(_FIELD.findall(body))
        _note(_KEY.findall(body))
        _note(_TICKET.findall(body))


def _note(found: list[bytes]) -> None:
    SECRETS.note(*(secret.decode("latin-1").strip('"') for secret in found))
