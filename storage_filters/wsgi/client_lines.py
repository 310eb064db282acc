"""Log lines that clients can cause at a proxy, limited for each client over all filters of the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoe_lib.logs.few_lines import LineLimiter

_FEW = LineLimiter()


class ClientLines:
    """Logger of a filter for such lines."""

    def __init__(self, logger: Any, few: LineLimiter = _FEW) -> None:
        self._logger = logger
        self._few = few

    def info(self, env: Mapping[str, Any], text: str, *values: object) -> None:
        """Log a line about a request, or count it and report the number with the client's next line."""
        self._log(self._logger.info, env, text, values)

    def warning(self, env: Mapping[str, Any], text: str, *values: object) -> None:
        """Like `info`, with the level of warnings."""
        self._log(self._logger.warning, env, text, values)

    def _log(self, log: Any, env: Mapping[str, Any], text: str, values: tuple[object, ...]) -> None:
        dropped = self._few.take(str(env.get("REMOTE_ADDR") or ""))
        if dropped is None:
            return
        # A path can have line ends, which would make separate lines.
        plain = [str(value).replace("\n", "\\n").replace("\r", "\\r") for value in values]
        log(text + (f" ({dropped} more like this)" if dropped else ""), *plain)
