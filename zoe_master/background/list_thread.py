"""The thread that reads the lists of workflow steps with `for_each`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import structlog

from zoe_client.vocabulary import ListProblem
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.entries import ENTRIES_MAX
from zoe_lib.domain.applications.entry_reading import ListRefused, read_entries
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId, awaits_list, list_refused, use_of_entries
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound, StoreError
from zoe_lib.store.values import ArrayChange
from zoe_master.background.list_reading import ListUnavailable

log = structlog.get_logger(__name__)

_LOOK_S = 0.2
WORKERS = 4
"""Lists read at once, one per owner: a user who slows the file program down occupies one worker, for
`list_reading.READ_S`.
"""
GIVEN_UP_S = 600.0
"""How long reads of an unreadable list are retried."""
MISSING_S = 60.0
"""How long reads of a missing list are retried: a network file system may show a new file late on another machine."""
_PAUSE_S, _PAUSE_MAX_S = 1.0, 30.0
_CAUSE = "list"
Read = Callable[[Array], bytes]
DueLists = Callable[[], "list[Array]"]


@dataclass(slots=True)
class _PendingList:
    """A list being read, or to be retried; times by the monotonic clock."""

    owner: tuple[str, str]
    since_s: float
    pause_s: float = _PAUSE_S
    next_s: float = 0.0
    asked: Future[None] | None = None

    @property
    def running(self) -> bool:
        """Return whether a worker reads it, or will."""
        return self.asked is not None and not self.asked.done()


class EntryListThread:
    """Runs beside one master until it is closed; the next leader reads unwritten lists again.

    due: returns the arrays whose lists are needed. read: returns the content of one; ListRefused, ListUnavailable.
    wake: called when an array has got its entries, or has failed. entries_max: maximum entries of a list.
    """

    def __init__(
        self,
        due: DueLists,
        store: ExecutionStore,
        read: Read,
        wake: Callable[[], None],
        entries_max: int = ENTRIES_MAX,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._due, self._store, self._read, self._wake = due, store, read, wake
        self._entries_max, self._clock = min(entries_max, ENTRIES_MAX), clock
        self._tried: dict[ArrayId, _PendingList] = {}
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="zoe-lists")
        self._thread = threading.Thread(target=self._run, name="zoe-lists", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread without waiting for pending reads."""
        self._closing.set()
        self._thread.join()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while not self._clock.wait(self._closing, _LOOK_S):
            try:
                self.look(self._clock.monotonic_s())
            except Exception:  # a failed list must not end the others
                log.exception("looking for lists failed")

    def look(self, now_s: float) -> None:
        """Begin to read due lists, one for each owner."""
        due = {array.id: array for array in self._due()}
        self._tried = {text: tried for text, tried in self._tried.items() if text in due or tried.running}
        busy = {tried.owner for tried in self._tried.values() if tried.running}
        for array in due.values():
            owner = (array.tenant, array.user)
            tried = self._tried.setdefault(array.id, _PendingList(owner, now_s))
            if owner in busy or tried.next_s > now_s:
                continue
            busy.add(owner)
            tried.asked = self._pool.submit(self.settle, array, tried)

    def settle(self, array: Array, tried: _PendingList) -> None:
        """Give an array its entries, or let it fail; retry later if the list cannot be read now."""
        try:
            entries = read_entries(self._read(array), use_of_entries(array.application), self._entries_max)
            self._store.list_array(array.id, entries, self._clock.now_s(), _CAUSE)
            log.info("read a list", array=array.id, entries=len(entries), tenant=array.tenant, user=array.user)
        except (ListRefused, ListUnavailable) as why:
            refused = self._final(why, tried)
            if refused is None:
                self._pause(tried)
                return
            self._refuse(array, refused)
        except NotFound:
            return
        except StoreError as error:
            log.warning("a list waits", array=array.id, why=str(error))
            self._pause(tried)
            return
        except Exception:
            log.exception("reading a list failed", array=array.id)
            self._pause(tried)
            return
        self._pause(tried)  # the next tick takes it from the due ones
        self._wake()

    def _final(self, why: ListRefused | ListUnavailable, tried: _PendingList) -> ListRefused | None:
        """Return the final failure of an array; None if a retry may help."""
        tried_s = self._clock.monotonic_s() - tried.since_s
        if isinstance(why, ListRefused):
            return None if why.problem is ListProblem.MISSING and tried_s < MISSING_S else why
        if tried_s < GIVEN_UP_S:
            return None
        hint = "run it again with zoe workflow resume; if it stays so, ask an operator"
        return ListRefused(ListProblem.UNREADABLE, str(why), hint)

    def _pause(self, tried: _PendingList) -> None:
        tried.next_s = self._clock.monotonic_s() + tried.pause_s
        tried.pause_s = min(2 * tried.pause_s, _PAUSE_MAX_S)

    def _refuse(self, array: Array, why: ListRefused) -> None:
        def decide(stored: Array, states: bytearray) -> ArrayChange | None:
            if not awaits_list(stored):
                return None
            data = {"problem": why.problem.value, "message": str(why), "hint": why.hint}
            return ArrayChange(list_refused(stored, states, why), ArrayEventKind.LIST_REFUSED, data)

        try:
            self._store.change_array(array.id, decide, self._clock.now_s(), _CAUSE)
        except StoreError as error:
            log.warning("a list waits", array=array.id, why=str(error))
        else:
            log.info("refused a list", array=array.id, problem=why.problem.value, why=str(why))
