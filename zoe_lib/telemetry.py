"""Structured logs on standard error: one JSON object a line, with the ids of what they are about."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Sequence
from typing import TextIO, cast

import structlog
from structlog.typing import Processor


def configure_logging(log_format: str, level: str, process: str) -> None:
    """Log as JSON or for a console, libraries included; every line names the process."""
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
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, Unfailing(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    _adopt_libraries(shared, renderer)


class Unfailing:
    """A stream whose writer never learns that it could not be written: a full disk shall cost logs and nothing else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write as far as that works."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as far as that works; what is left is tried again with the next line, within the stream's buffer."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _naming(process: str) -> Processor:
    """By a processor, not by a context: threads that exist already have contexts of their own."""

    def name(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {**event, "process": process}

    return name


def _adopt_libraries(shared: Sequence[Processor], renderer: Processor) -> None:
    """Let warnings of the standard library's logging come out in the same form."""
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
