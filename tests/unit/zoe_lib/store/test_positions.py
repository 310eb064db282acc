"""The position of own writes: of transactions that were committed, whichever thread made them."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from zoe_lib.store import positions


def test_only_committed_ids_count() -> None:
    with positions.collect() as written:
        positions.begin()
        positions.note(7)
        assert written.newest == 0
        positions.begin()  # the first try was rolled back
        positions.note(9)
        positions.note(8)
        positions.commit()
        assert written.newest == 9
        positions.begin()
        positions.note(12)
    assert written.newest == 9


def test_threads_of_a_request_share_what_it_wrote() -> None:
    def write() -> None:
        positions.begin()
        positions.note(5)
        positions.commit()

    with positions.collect() as written, ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, write).result()
    assert written.newest == 5


def test_outside_of_a_request_nothing_is_collected() -> None:
    positions.begin()
    positions.note(5)
    positions.commit()
    assert not positions.is_collecting()
    with positions.collect() as written:
        assert positions.is_collecting()
        positions.note(None)
        positions.commit()
    assert written.newest == 0
