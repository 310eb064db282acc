"""Structured logs on standard error: one JSON object a line, with the ids of its subject."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Sequence
from typing import TextIO, cast

import structlog
from structlog.typing import Processor

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.logs.few_lines import LineLimiter

_QUIET = ("debug", "info")


def configure_logging(
    log_format: str,
    level: str,
    process: str,
    troubles_a_second_max: int | None = None,
    of_client: LineLimiter | None = None,
) -> None:
    """Log as JSON or for a console, libraries included; every line names the process.

    `of_client` limits the lines with the `address` of a client, for each client. `troubles_a_second_max` limits
    warnings and errors together, for a process that strangers can reach: their faults must not fill a disk. The first
    line afterwards reports how many were dropped (`lines_dropped`).
    """
    few = TroubleLimiter(troubles_a_second_max)
    shared: Sequence[Processor] = (
        structlog.contextvars.merge_contextvars,
        _naming(process),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    )
    renderer: Processor = structlog.processors.JSONRenderer()
    if log_format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            *([] if of_client is None else [_bounding(of_client)]),
            few.drop,
            *shared,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, LossyStream(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    _adopt_libraries(shared, renderer, few)


class TroubleLimiter:
    """Count the warnings and errors of each second by the log's time stamps. Thread-safe."""

    def __init__(self, a_second_max: int | None, clock: Clock = SYSTEM_CLOCK) -> None:
        self._max = a_second_max
        self._clock = clock
        self._lock = threading.Lock()
        self._second = 0
        self._written = 0
        self._dropped = 0

    def take(self) -> int | None:
        """Return how many were dropped before this line; None if it must be dropped, too."""
        with self._lock:
            second = int(self._clock.now_s())
            if second != self._second:
                self._second, self._written = second, 0
            if self._max is not None and self._written >= self._max:
                self._dropped += 1
                return None
            self._written += 1
            dropped, self._dropped = self._dropped, 0
            return dropped

    def drop(self, _logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        """Pass one of Zoe's lines, or drop it."""
        if method in _QUIET:
            return event
        dropped = self.take()
        if dropped is None:
            raise structlog.DropEvent
        return {**event, "lines_dropped": dropped + event.get("lines_dropped", 0)} if dropped else event

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass a library's line, or drop it."""
        if record.levelno < logging.WARNING:
            return True
        dropped = self.take()
        if dropped:
            record.msg = f"{record.msg} (lines_dropped: {dropped})"
        return dropped is not None


class LossyStream:
    """A stream that hides write errors: with a full disk only logs are lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as much as possible."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as much as possible; the rest is retried with the next line, within the stream's buffer."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _bounding(of_client: LineLimiter) -> Processor:
    """Drop lines of a client beyond its limit; the next written line reports how many (`lines_dropped`)."""

    def bound(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        if "address" not in event:
            return event
        dropped = of_client.take(str(event["address"]))
        if dropped is None:
            raise structlog.DropEvent
        return {**event, "lines_dropped": dropped} if dropped else event

    return bound


def _naming(process: str) -> Processor:
    """Add the process name with a processor instead of a context: existing threads have their own contexts."""

    def name(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {**event, "process": process}

    return name


def _adopt_libraries(shared: Sequence[Processor], renderer: Processor, few: TroubleLimiter) -> None:
    """Log the standard library's warnings in the same form."""
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    handler.addFilter(few.filter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
