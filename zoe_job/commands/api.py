"""Requests to the API with the token of this attempt, for the programs of Slurm inside a job."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_ANSWER_S = 60.0
_PATIENCE_S = 300.0
"""Seconds for which a rate-limited call, or one to an API that is away, is retried."""
_PAUSE_S, _PAUSE_MAX_S = 0.5, 30.0
_AGAIN = (429, 502, 503, 504)
_ERRORS_SHOWN = 5
_BYTES_MAX = 16 << 20


class NoApiError(Exception):
    """This service has no token, or no address of the API."""


class RefusedError(Exception):
    """The API refused a call; `code` is stable, `status` is the HTTP status."""

    def __init__(self, status: int, code: str, why: str) -> None:
        self.status = status
        self.code = code
        super().__init__(why)


class Api:
    """Client of the API at `ZOE_API_URL` with `ZOE_API_TOKEN_FILE`. Raises NoApiError."""

    def __init__(
        self,
        environment: Mapping[str, str] = os.environ,
        sleep: Callable[[float], None] = time.sleep,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        url, file = environment.get("ZOE_API_URL"), environment.get("ZOE_API_TOKEN_FILE")
        if not url or not file:
            raise NoApiError("this job cannot reach the API of Zoe")
        try:
            self._token = Path(file).read_text().strip()
        except OSError as error:
            raise NoApiError(f"the token of this job cannot be read: {error.strerror}") from None
        self._url = url.rstrip("/")
        self._sleep = sleep
        self._now_s = now_s
        # Proxies of the environment are for external hosts.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path: str, **query: Any) -> Any:
        """Return the answer to a GET. Raises RefusedError."""
        text = urllib.parse.urlencode({name: entry for name, entry in query.items() if entry is not None}, doseq=True)
        return self._ask("GET", f"{path}?{text}" if text else path)

    def post(self, path: str, body: Any = None, key: str | None = None) -> Any:
        """Return the answer to a POST, which may be sent repeatedly with the same effect. Raises RefusedError. key: an
        idempotency key, for submissions.
        """
        return self._ask("POST", path, body, key)

    def patch(self, path: str, body: Any) -> Any:
        """Return the changed object. Raises RefusedError."""
        return self._ask("PATCH", path, body)

    def _ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        until_s, pause_s = self._now_s() + _PATIENCE_S, _PAUSE_S
        while True:
            refused, after_s = self._try_once(method, path, body, key)
            if not isinstance(refused, RefusedError):
                return refused
            wait_s = max(pause_s, after_s)
            if refused.status not in (0, *_AGAIN) or self._now_s() + wait_s > until_s:
                raise refused
            self._sleep(wait_s)
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    def _try_once(self, method: str, path: str, body: Any, key: str | None) -> tuple[Any, float]:
        """Return the answer or the refusal, and the seconds to wait before a retry."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(f"{self._url}/api/v1{path}", data, headers, method=method)  # noqa: S310
        try:
            with self._opener.open(request, timeout=_ANSWER_S) as answer:
                return json.loads(answer.read(_BYTES_MAX)), 0.0
        except urllib.error.HTTPError as error:
            with error:
                return _refusal(error), _seconds(error.headers.get("Retry-After"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            return RefusedError(0, "unreachable", f"the API of Zoe does not answer: {reason}"), 0.0


def _refusal(error: urllib.error.HTTPError) -> RefusedError:
    try:
        told = json.loads(error.read(_BYTES_MAX))
        sentence, hint = told.get("detail") or told["title"], told.get("hint")
        if errors := told.get("errors"):  # the sentence only has their number
            sentence = "; ".join(f"{error['pointer']}: {error['message']}" for error in errors[:_ERRORS_SHOWN])
        return RefusedError(error.code, told["code"], f"{sentence}; {hint}" if hint else sentence)
    except (ValueError, KeyError, AttributeError, OSError):
        return RefusedError(error.code, "unreadable", f"the API of Zoe answered with {error.code}")


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isascii() and text.isdecimal() else 0.0
