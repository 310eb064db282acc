"""Announce each write to an object to all proxies, before it begins and after it has ended; see `fence.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swift.common.swob import Request

from storage_filters.cache.fence import Fence, name_of

_OBJECT_PATH_PARTS = 4
_WRITES = ("PUT", "POST", "DELETE")
_UNCLEAR, _ERRORS_FROM = (408, 499), 500


class FencedWrites:
    """The WSGI application before the store, also at proxies without a cache."""

    def __init__(self, app: Any, fence: Fence) -> None:
        self._app = app
        self._fence = fence

    def __call__(self, env: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Fence writes of objects; pass all other requests on."""
        parts = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
        answered: Iterable[bytes]
        if env["REQUEST_METHOD"] not in _WRITES or len(parts) <= _OBJECT_PATH_PARTS or not parts[4]:
            answered = self._app(env, start_response)
            return answered
        name = name_of(parts)
        settled, begun = False, self._fence.begin(name)
        try:
            answer = Request(env).get_response(self._app)
            # the store may still apply a write that ended in any other way
            settled = answer.status_int < _ERRORS_FROM and answer.status_int not in _UNCLEAR
        finally:
            self._fence.end(name, begun, settled)
        answered = answer(env, start_response)
        return answered
