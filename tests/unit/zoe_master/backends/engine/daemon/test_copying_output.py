"""Copying output from a slow or hanging engine ends when its reader leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zoe_master.backends.base import BackendError
from zoe_master.backends.engine.daemon import output
from zoe_master.backends.engine.services.containers import copy_output, output_of

LINES_MAX = 1_000


class Trickling:
    """An engine with endless output."""

    def __init__(self) -> None:
        self.given = 0
        self.api = self

    @contextmanager
    def waiting_at_most(self, _seconds: int) -> Iterator[None]:
        """It answers at once."""
        yield

    def logs(self, _container: str, **_options: Any) -> Iterator[bytes]:
        for number in range(LINES_MAX):
            self.given = number + 1
            yield b"2026-01-01T00:00:00.%09dZ line\n" % number


@pytest.fixture
def record() -> Any:
    mark = SimpleNamespace(end=None)
    return SimpleNamespace(
        service_id="x.c.0", output_lock=threading.Lock(), collected=False, final=True, container_id="c", mark=mark
    )


def registry(place: Path) -> Any:
    return SimpleNamespace(marks=SimpleNamespace(place=lambda _service: place))


def test_it_ends_with_its_asker_and_goes_on_for_the_next(record: Any, tmp_path: Path) -> None:
    engine: Any = Trickling()
    with pytest.raises(BackendError):
        copy_output(engine, record, registry(tmp_path), 1 << 20, lambda: engine.given > 10)
    assert engine.given == 11
    assert not record.collected
    kept = output.read(tmp_path, 0, 1 << 20)
    assert (kept.data, kept.complete) == (b"line\n" * 10, False)
    copy_output(engine, record, registry(tmp_path), 1 << 20)
    kept = output.read(tmp_path, 0, 1 << 20)
    assert (kept.data, kept.complete, record.collected) == (b"line\n" * LINES_MAX, True, True)


def test_reader_that_left_does_not_wait_for_another_copy(record: Any, tmp_path: Path) -> None:
    asked: list[int] = []

    def left() -> bool:
        asked.append(1)
        return len(asked) == 3

    with output_of(record, lambda: False), pytest.raises(BackendError):
        copy_output(None, record, registry(tmp_path), 1 << 20, left)
    assert len(asked) == 3
    assert not record.output_lock.locked()
