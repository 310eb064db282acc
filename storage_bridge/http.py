"""HTTP requests to a storage controller, with a valid answer in time or one kind of error."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from storage_bridge.model import BandwidthSlo, StorageRefusedError, StorageUnavailableError
from zoe_client.http.tls import verification
from zoe_client.words.connections import failure_words
from zoe_lib.settings.storage import StorageSettings

_log = logging.getLogger(__name__)
_NOT_FOUND = 404
_FIRST_REST_S = 1.0
_ANSWER_BYTES_MAX = 64 * 2**20
_NEVER = object()
_HEAD = 200
Clock = Callable[[], float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Address and options of the controller; for several with one database, all addresses, separated by commas.

    owner: marks Zoe's objects. capacity: for a controller that cannot report its own. After `failures_max` failures in
    a row requests pause for `rest_s` seconds, so that an absent controller costs no timeouts. A controller that has
    never answered may be starting: then the pause is at most a second.
    """

    url: str
    token: str
    owner: str
    capacity: BandwidthSlo = field(default_factory=BandwidthSlo)
    timeout_s: float = 2.0
    attempts: int = 2
    lease_s: float = 120.0
    failures_max: int = 3
    rest_s: float = 5.0

    @classmethod
    def from_settings(cls, settings: StorageSettings) -> ControllerSettings | None:
        """Return the options of the configured controller; None without one. Raises OSError and ValueError if its token
        cannot be read, or is invalid.
        """
        if settings.storage_url is None:
            return None
        return cls(
            settings.storage_url,
            _token(settings.storage_token_file) if settings.storage_token_file else "",
            settings.storage_owner,
            BandwidthSlo(settings.storage_read_bytes_per_s, settings.storage_write_bytes_per_s),
            timeout_s=settings.storage_timeout_s,
            lease_s=settings.storage_lease_s,
        )


def _token(path: Path) -> str:
    """Return the token in a file. Raises ValueError, without the token, for a value that is not valid in a header."""
    token = path.read_text().strip()
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError("the token must be one line of ASCII letters, digits and signs")
    return token


class _BadAnswer(httpx.HTTPError):
    """An answer is too long, or takes too long; the message says so."""


class _Deadline:
    """Closes the connection if there is no answer in time: the client's timeout starts again with each byte."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._hang_up)
        self._timer.daemon = True
        self._connection: socket.socket | None = None
        self._over = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._timer.cancel()
        if self._over and isinstance(error, httpx.HTTPError):
            raise _BadAnswer("the answer takes too long: check the effect before repeating the request") from None

    def follow(self, event: str, info: Mapping[str, Any]) -> None:
        """Follow the client's trace to learn its connection."""
        if event == "connection.connect_tcp.complete":
            self._connection = info["return_value"].get_extra_info("socket")

    def _hang_up(self) -> None:
        self._over = True
        if self._connection is not None:
            with contextlib.suppress(OSError):  # closed just now
                self._connection.shutdown(socket.SHUT_RDWR)


class ControllerHttp:
    """Sends requests that answer in time or raise StorageUnavailableError; all are idempotent, so they may be
    repeated.
    """

    def __init__(self, settings: ControllerSettings, clock: Clock = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._failures = 0
        self._rests_until_s = 0.0
        self._answered = False
        headers = {"X-Auth-Token": settings.token, "User-Agent": "zoe"}
        # Polls are seconds apart: a kept connection would mostly be dead.
        fresh = httpx.Limits(max_keepalive_connections=0)
        self._controllers = [
            httpx.Client(
                base_url=url,
                headers=headers,
                timeout=settings.timeout_s,
                limits=fresh,
                verify=verification(url),
            )
            for url in (text.strip() for text in settings.url.split(","))
        ]
        self._at = 0

    @property
    def circuit_open(self) -> bool:
        """Return whether requests are suspended after too many failures."""
        return self._clock() < self._rests_until_s

    def ask(
        self,
        method: str,
        path: str,
        json: object = None,
        absent: object = _NEVER,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the answer's JSON, None for an empty one; `absent` for 404 if that is a valid answer."""
        if self.circuit_open:
            raise StorageUnavailableError(
                "the storage controller has not answered lately; requests are paused for some seconds"
            )
        story = ""
        for _ in range(self._settings.attempts * len(self._controllers)):
            at = self._at
            try:
                answer = self._complete_answer(self._controllers[at], method, path, json, headers)
            except httpx.HTTPError as error:
                why = error if isinstance(error, _BadAnswer) else failure_words(error)
                story = f"the storage controller does not answer: {why}"
                _log.info("%s %s%s: %r", method, self._controllers[at].base_url, path, error)
                self._switch_controller(at)
                continue
            if answer.is_success or answer.is_client_error:
                self._failures, self._answered = 0, True
            if answer.status_code == _NOT_FOUND and absent is not _NEVER:
                return absent
            if answer.is_success:
                return self._read(answer)
            story = f"{method} {path} answers {answer.status_code}: {answer.text[:200]}"
            if answer.is_client_error:
                said = _refusal_text(answer) or f"it answers {answer.status_code}"
                raise StorageRefusedError(story, said, answer.status_code)
            _log.info("%s", story)
            story = f"the storage controller answers {answer.status_code}: {_refusal_text(answer)[:200]}"
            self._switch_controller(at)
        self._failures += 1
        if self._failures >= self._settings.failures_max:
            rest_s = self._settings.rest_s if self._answered else min(self._settings.rest_s, _FIRST_REST_S)
            self._rests_until_s = self._clock() + rest_s
        raise StorageUnavailableError(story)

    def _switch_controller(self, at: int) -> None:
        """Send to the next controller from now on, unless another thread does so already."""
        if self._at == at:
            self._at = (at + 1) % len(self._controllers)

    def _complete_answer(
        self, http: httpx.Client, method: str, path: str, json: object, headers: Mapping[str, str] | None
    ) -> httpx.Response:
        """Return the answer with its complete body."""
        with (
            _Deadline(self._settings.timeout_s) as deadline,
            http.stream(method, path, json=json, headers=headers, extensions={"trace": deadline.follow}) as answer,
        ):
            body = bytearray()
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > _ANSWER_BYTES_MAX:
                    raise _BadAnswer(f"the answer has more than {_ANSWER_BYTES_MAX} bytes")
            return httpx.Response(answer.status_code, content=bytes(body), request=answer.request)

    def _read(self, answer: httpx.Response) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError:
            _log.info("%s does not answer in JSON", answer.url)
            raise StorageUnavailableError("the answer of the storage controller is not JSON") from None


def _refusal_text(answer: httpx.Response) -> str:
    """Return the text of a refusal: its `error`, as Zoe's controller writes it, a bare string, or the whole body."""
    try:
        body = answer.json()
    except ValueError:
        return "" if "<html" in answer.text[:_HEAD].lower() else answer.text  # another server's page
    message = body.get("error") if isinstance(body, dict) else body
    return message if isinstance(message, str) else answer.text


def convert_answer(look: Callable[[], T]) -> T:
    """Convert the controller's answer to Zoe's values. Raises StorageUnavailableError for an invalid answer."""
    try:
        return look()
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise StorageUnavailableError(f"cannot parse the storage controller's answer: {error}") from None
