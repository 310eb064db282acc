from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.postgres.grouping import GROUP_MAX, Grouping

WAIT_S_MAX = 60.0


class Disk:
    """Keeps the groups it was given; the first write waits until it may go on."""

    def __init__(self, error: Exception | None = None, bad: int = -1) -> None:
        self.groups: list[list[int]] = []
        self.may_go_on = Event()
        self.busy = Event()
        self._error = error
        self._bad = bad

    def write(self, items: Sequence[int]) -> None:
        self.busy.set()
        assert self.may_go_on.wait(WAIT_S_MAX)
        self.groups.append(list(items))
        if self._error is not None and self._bad in items:
            raise self._error


def write_all(disk: Disk, items: Sequence[int], key: int = 1000) -> list[Exception | None]:
    """Item 0 first; the others come while it is being written."""
    grouping = Grouping(disk.write, key=lambda item: item % key)

    def do(item: int) -> Exception | None:
        try:
            grouping.do(item)
        except Exception as error:
            return error
        return None

    with ThreadPoolExecutor(len(items) + 1) as pool:
        first = pool.submit(do, 0)
        assert disk.busy.wait(WAIT_S_MAX)
        others = [pool.submit(do, item) for item in items]
        while len(grouping._waiting) < len(items):
            pass
        disk.may_go_on.set()
        return [future.result(WAIT_S_MAX) for future in (first, *others)]


def test_writes_that_come_meanwhile_go_together() -> None:
    disk = Disk()
    assert write_all(disk, [1, 2, 3]) == [None] * 4
    assert [sorted(group) for group in disk.groups] == [[0], [1, 2, 3]]


def test_a_group_is_bounded() -> None:
    disk = Disk()
    write_all(disk, range(1, GROUP_MAX + 3))
    assert [len(group) for group in disk.groups] == [1, GROUP_MAX, 2]


def test_equal_keys_do_not_go_together() -> None:
    disk = Disk()
    write_all(disk, [1, 11, 2], key=10)
    assert [len(group) for group in disk.groups] == [1, 2, 1]


def test_a_bad_item_fails_alone() -> None:
    error = ValueError("bad")
    disk = Disk(error, bad=2)
    assert write_all(disk, [1, 2, 3]) == [None, None, error, None]


def test_without_a_database_nobody_tries_alone() -> None:
    error = StoreUnavailable("gone")
    disk = Disk(error, bad=2)
    assert write_all(disk, [1, 2, 3]) == [None, error, error, error]
    assert len(disk.groups) == 2


def test_one_alone_is_written_at_once() -> None:
    disk = Disk(ValueError("bad"), bad=5)
    disk.may_go_on.set()
    grouping = Grouping(disk.write, key=lambda item: item)
    grouping.do(1)
    with pytest.raises(ValueError, match="bad"):
        grouping.do(5)
    assert disk.groups == [[1], [5]]


def test_an_interrupted_write_leaves_nobody_waiting() -> None:
    def interrupted(items: Sequence[int]) -> None:
        raise KeyboardInterrupt

    grouping = Grouping(interrupted, key=lambda item: item)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            grouping.do(1)
    assert not grouping._waiting
