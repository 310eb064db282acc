"""Rewrites objects by the present rules, slowly: one at a time, within the rate of the job.

The cursor is in the database, so a controller that starts, or takes the lead, continues where the last one ended. The
job waits for a store that is away, up to a bound; an object that cannot be rewritten stays unchanged and is counted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from storage_bridge.model import VIEW_PREFIX, RewriteOutcome
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.objects import ListedEntry, SwiftObjects
from storage_controller.swift.rewrite_ledger import Counts, RewriteJob, RewriteLedger, Running
from storage_filters.rules.documents import RuleBook, digest_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
LOOK_BYTES = 64 * 1024
"""Least bytes that an examined object counts."""
PATIENCE_S = 3600.0
"""Seconds for which a job waits for the store."""
_INTERVAL_S = 1.0
_NOTE_S = 1.0
_CLOSE_S = 5.0
_AWAY = 503
_NO_NAME = 422
_TRIES = 3
_LATER_S, _LATER_TRIES = 0.25, 240


class Rewriter:
    """A thread that carries out the running job. leads: whether this controller leads. wait: returns True to end."""

    def __init__(
        self,
        jobs: RewriteLedger,
        book: Callable[[], RuleBook],
        objects: SwiftObjects,
        leads: Callable[[], bool],
        clock: Clock = SYSTEM_CLOCK,
        wait: Callable[[float], bool] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._patience_s = patience_s
        self._jobs = jobs
        self._book = book
        self._objects = objects
        self._leads = leads
        self._clock = clock
        self._closing = threading.Event()
        self._wait = wait or self._closing.wait
        self._thread = threading.Thread(target=self._run, name="zoe-rewriter", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after its object, or leave it behind: the proxy stores an object whole or not at all."""
        self._closing.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._wait(_INTERVAL_S):
            try:
                if self._leads():
                    self.go_on()
            except RequestRefusedError as refusal:
                _log.debug("objects are not rewritten: %s", refusal)
            except Exception:  # without this thread, the job would never end
                _log.exception("cannot rewrite objects now")

    def go_on(self) -> None:
        """Carry out the running job until it is complete or cancelled, or until the store is away; after too long an
        absence, the job fails.
        """
        running = self._jobs.running()
        if running is None:
            return
        _Walk(running, self._jobs, self._book, self._objects, self._clock, self._wait).go()
        if self._jobs.give_up(running.id, self._patience_s):
            _log.warning("job %s ends: the store was away for %g s", running.id, self._patience_s)


class _Walk:
    """One job, from its cursor on."""

    def __init__(
        self,
        running: Running,
        jobs: RewriteLedger,
        book: Callable[[], RuleBook],
        objects: SwiftObjects,
        clock: Clock,
        wait: Callable[[float], bool],
    ) -> None:
        self._running = running
        self._job: RewriteJob = running.job
        self._jobs = jobs
        self._book = book
        self._objects = objects
        self._clock = clock
        self._wait = wait
        self._counts = Counts()
        self._sentence: str | None = None
        self._at = running.at_container, running.at_object
        self._noted_s = clock.monotonic_s()
        self._digest = ""

    def go(self) -> None:
        try:
            self._digest = digest_of(self._book())
            if not self._running.expected:
                self._jobs.expect(self._running.id, self._count_objects())
            for container in self._containers():
                if not self._walk(container):
                    self._note()
                    return
        except RequestRefusedError as refusal:
            self._note(refusal.sentence)
            return
        if self._note():
            self._jobs.end(self._running.id)

    def _count_objects(self) -> int:
        if self._job.container:
            return self._objects.count(self._job.tenant, self._job.container)
        return sum(page.size for page in _pages(lambda after: self._objects.containers(self._job.tenant, after)))

    def _containers(self) -> Iterator[str]:
        """Yield the remaining containers, without views, which show objects of other containers."""
        if self._job.container:
            yield self._job.container
            return
        at = self._running.at_container
        if at:
            yield at
        for page in _pages(lambda after: self._objects.containers(self._job.tenant, after), at):
            if not page.name.startswith(VIEW_PREFIX):
                yield page.name

    def _walk(self, container: str) -> bool:
        """Rewrite the objects of a container; return False if the job ended meanwhile."""
        begin = self._at[1] if self._at[0] == container else ""
        for listed in _pages(lambda after: self._objects.objects(self._job.tenant, container, after), begin):
            began_s = self._clock.monotonic_s()
            found = self._rewrite(container, listed)
            if found is None:
                return False
            outcome, size = found.get("outcome"), int(found.get("bytes") or 0)
            self._count(outcome, size, str(found.get("sentence", "")), f"{container}/{listed.name}")
            self._at = container, listed.name
            if self._clock.monotonic_s() - self._noted_s >= _NOTE_S and not self._note():
                return False
            moved = size if outcome == RewriteOutcome.CHANGED and not self._job.dry_run else 0
            left_s = began_s + max(moved, LOOK_BYTES) / self._job.bytes_per_s - self._clock.monotonic_s()
            if left_s > 0 and self._wait(left_s):
                return False
        return True

    def _count(self, outcome: Any, size: int, sentence: str, name: str) -> None:
        counts = self._counts
        counts.looked += 1
        counts.bytes += size
        if outcome == RewriteOutcome.CHANGED:
            counts.changed += 1
            counts.changed_bytes += size
        elif outcome == RewriteOutcome.FAILED:
            counts.failed += 1
            self._sentence = f"{name}: {sentence}"
        else:
            counts.kept += 1

    def _rewrite(self, container: str, listed: ListedEntry) -> Mapping[str, Any] | None:
        """Return the result for an object; None to end. Raises RequestRefusedError while the store is away, or has
        other rules.
        """
        failures, later = 0, 0
        while True:
            try:
                found = self._objects.rewrite(self._job, container, listed, self._digest)
            except RequestRefusedError as refusal:
                failures += 1
                if refusal.status != _NO_NAME:
                    if refusal.status != _AWAY:
                        raise
                    # Raises RequestRefusedError if the failure is not of this object alone.
                    self._objects.count(self._job.tenant, container)
                if refusal.status == _NO_NAME or failures == _TRIES:
                    return {"outcome": RewriteOutcome.FAILED, "sentence": refusal.sentence}
            else:
                if found["outcome"] != RewriteOutcome.LATER:
                    return found
                later += 1
                if later == _LATER_TRIES:
                    raise RequestRefusedError(
                        _AWAY, f"a proxy is not ready: {found.get('sentence') or 'it does not say why'}"
                    )
                self._digest = digest_of(self._book())
            if self._wait(_LATER_S):
                return None

    def _note(self, waits: str = "") -> bool:
        counts, self._counts = self._counts, Counts()
        self._noted_s = self._clock.monotonic_s()
        return self._jobs.note(self._running.id, *self._at, counts, waits, self._sentence)


def _pages(page: Callable[[str], list[ListedEntry]], after: str = "") -> Iterator[ListedEntry]:
    """Yield the entries of all pages. A page begins after the last name of the one before, so that this ends."""
    while found := page(after):
        yield from found
        if found[-1].name <= after:
            raise RequestRefusedError(_AWAY, "Swift lists the same names again")
        after = found[-1].name
