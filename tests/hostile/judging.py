"""Judge an answer to a hostile request, and the log lines meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import structlog

from tests.hostile.drawing import Hostile
from tests.hostile.exchange import Answer
from tests.hostile.marks import Marks

_UNAVAILABLE = 503
_TRACES = (b"Traceback (most recent", b'File "/', b"site-packages", b"sqlalchemy", b"psycopg")


def faults(
    request: Hostile, sent: bytes, answer: Answer, all_marks: Sequence[Marks], known: Collection[str], operator: bool
) -> list[str]:
    """Return the faults of an answer; empty if it is right. known: marks that the caller has sent."""
    found = []
    if answer.status >= 500 and not (answer.status == _UNAVAILABLE and answer.header("Retry-After")):
        found.append(f"status {answer.status}")
    if answer.status == 0:
        found.append("no answer")
    found += [f"shows {trace.decode()}" for trace in _TRACES if trace in answer.text and trace not in sent]
    for marks in all_marks:
        found += [f"shows {text}" for text in marks.leaked(answer.text, known, operator)]
    at = f"{request.asker}, {request.owner}: {request.method} {request.target.decode()[:300]}"
    return [f"{text}: {at} -> {answer.status} {answer.body[:300]!r}" for text in found]


class Lines(logging.Handler):
    """The lines that were logged: by Zoe, and by libraries."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.wrong: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note a line of a library."""
        self._note(record.levelname.lower(), record.exc_info, f"{record.name}: {record.getMessage()}")

    def process(self, _logger: object, method: str, event: Mapping[str, Any]) -> Any:
        """Note a line of Zoe's, which is not written."""
        self._note(method, event.get("exc_info"), str(dict(event)))
        raise structlog.DropEvent

    def _note(self, level: str, trace: object, text: str) -> None:
        self.number += 1
        if level in ("error", "exception", "critical") or trace:
            self.wrong.append(f"logged by level {level}: {text}"[:2000])


@contextmanager
def lines(noted: Lines | None = None) -> Iterator[Lines]:
    """Note all lines of this process instead of writing them."""
    noted = Lines() if noted is None else noted
    before = structlog.get_config()["processors"]
    merged = structlog.contextvars.merge_contextvars
    structlog.configure(processors=[merged, structlog.processors.format_exc_info, noted.process])
    logging.getLogger().addHandler(noted)
    try:
        yield noted
    finally:
        logging.getLogger().removeHandler(noted)
        structlog.configure(processors=before)
