"""Orders and backfills on one pool of processors, written apart from Zoe's scheduler, to compare with job for job."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from zoe_simulator.jobs import Job

ESTIMATED_END, SUBMISSION, TERMINATION = range(3)


@dataclass
class Pool:
    """Processors, waiting jobs, running ones with their expected ends, coming jobs, and arrived ones.

    `sorted_at`: the number of arrivals when the waiting jobs were sorted.
    """

    processors: float
    free: float
    waiting: list[Job] = field(default_factory=list)
    running: dict[int, tuple[float, float]] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
    events: list[tuple[float, int, int, Job]] = field(default_factory=list)
    arrived: list[Job] = field(default_factory=list)
    sorted_at: int = 0


# Sort keys by name of the order, without ageing; ties go to the earlier arrival. PSBS uses more than the job.
ORDERS: dict[str, Callable[[Job, float], float]] = {
    "fifo": lambda job, now: 0.0,
    "sjf": lambda job, now: job.request_s,
    "size": lambda job, now: job.request_s * job.processors,
    "hrrn": lambda job, now: -(now - job.submit_s + job.request_s) / job.request_s,
    "wfp3": lambda job, now: -(((now - job.submit_s) / job.request_s) ** 3) * job.processors,
    "unicef": lambda job, now: _unicef(now - job.submit_s, job.request_s, job.processors),
    "f1": lambda job, now: math.log10(job.request_s) * job.processors + 870 * _arrival(job, now),
    "f2": lambda job, now: math.sqrt(job.request_s) * job.processors + 25_600 * _arrival(job, now),
    "f3": lambda job, now: job.request_s * job.processors + 6_860_000 * _arrival(job, now),
    "f4": lambda job, now: job.request_s * math.sqrt(job.processors) + 530_000 * _arrival(job, now),
}
STANDING = ("fifo", "sjf", "size")


def _unicef(waited: float, request: float, processors: float) -> float:
    """One processor makes it infinite; among these, by waiting."""
    return -waited / (math.log2(processors) * request) if processors > 1 else -1e12 - waited / request


def _arrival(job: Job, now: float) -> float:
    """Logarithm of the arrival, counted from 15 days ago."""
    return math.log10(max(15 * 86_400 - (now - job.submit_s), 1.0))


def simulate(processors: float, jobs: list[Job], backfill: str, order: str = "fifo") -> dict[int, float]:
    """Start of every job by id. At equal times: ends that were estimated so, submissions, other ends."""
    pool = Pool(processors, processors)
    pool.events = [(job.submit_s, SUBMISSION, number, job) for number, job in enumerate(jobs)]
    heapq.heapify(pool.events)
    while pool.events:
        now, kind, number, job = heapq.heappop(pool.events)
        if kind == SUBMISSION:
            pool.waiting.append(job)
            pool.arrived.append(job)
            if job.processors > pool.free:
                continue
        elif job.id in pool.running:
            pool.free += pool.running.pop(job.id)[1]
        if kind == ESTIMATED_END:
            heapq.heappush(pool.events, (now, TERMINATION, number, job))
        else:
            _sort(pool, now, order)
            _decide(pool, now, backfill)
    return pool.starts


def _sort(pool: Pool, now: float, order: str) -> None:
    """Sort the waiting jobs; the order changes with arrivals, and in most orders with time."""
    if pool.sorted_at == len(pool.arrived) and order in (*STANDING, "psbs"):
        return
    pool.sorted_at = len(pool.arrived)
    if order == "psbs":
        ends = _virtual_ends(pool.processors, pool.arrived)
        pool.waiting.sort(key=lambda j: (ends[j.id], j.submit_s, j.id))
    else:
        first = ORDERS[order]
        pool.waiting.sort(key=lambda j: (first(j, now), j.submit_s, j.id))


def _virtual_ends(processors: float, arrived: Iterable[Job]) -> dict[int, float]:
    """Return when each would end if all shared the pool and no others came."""
    left: dict[int, tuple[float, float]] = {}
    ends: dict[int, float] = {}
    upcoming, now = list(arrived), 0.0
    while upcoming or left:
        pace = min(1.0, processors / sum(wide for wide, _ in left.values())) if left else 1.0
        end, first = min(((now + rest / pace, number) for number, (_, rest) in left.items()), default=(math.inf, 0))
        until = min(end, upcoming[0].submit_s if upcoming else math.inf)
        left = {number: (wide, rest - (until - now) * pace) for number, (wide, rest) in left.items()}
        now = until
        if until == end:
            ends[first] = end
            del left[first]
        else:
            job = upcoming.pop(0)
            left[job.id] = (job.processors, job.request_s)
    return ends


def _decide(pool: Pool, now: float, backfill: str) -> None:
    while pool.waiting and pool.waiting[0].processors <= pool.free:
        _start(pool, pool.waiting[0], now)
    if not pool.waiting or backfill == "none":
        return
    if backfill == "conservative":
        _decide_conservatively(pool, now)
        return
    head, free, shadow, extra = pool.waiting[0], pool.free, now, 0
    for shadow in sorted({max(estimated, now) for estimated, _ in pool.running.values()}):
        free = pool.free + sum(n for estimated, n in pool.running.values() if max(estimated, now) <= shadow)
        if free >= head.processors:
            extra = free - head.processors
            break
    rest = pool.waiting[1:]
    for job in sorted(rest, key=lambda j: j.request_s) if backfill == "easy-sjbf" else rest:
        if job.processors > pool.free:
            continue
        if now + job.request_s <= shadow:
            _start(pool, job, now)
        elif job.processors <= extra:
            extra -= job.processors
            _start(pool, job, now)


def _decide_conservatively(pool: Pool, now: float) -> None:
    """Everybody in turn books the earliest span with enough processors beside all earlier bookings."""
    bookings = [(now, max(estimated, now), n) for estimated, n in pool.running.values()]
    total = pool.free + sum(n for _, n in pool.running.values())
    for job in list(pool.waiting):
        room = total - job.processors
        for begin in sorted({now} | {end for _, end, _ in bookings}):
            end = begin + job.request_s
            during = [booking for booking in bookings if booking[0] <= end and begin < booking[1]]
            points = [begin, *(b for b, _, _ in during if begin < b < end)]
            # Most spans are refused at their first point.
            if all(sum(n for b, e, n in during if b <= point < e) <= room for point in points):
                break
        if begin == now and job.processors <= pool.free:
            _start(pool, job, now)
        bookings.append((begin, begin + job.request_s, job.processors))


def _start(pool: Pool, job: Job, now: float) -> None:
    pool.waiting.remove(job)
    pool.free -= job.processors
    pool.running[job.id] = (now + job.request_s, job.processors)
    pool.starts[job.id] = now
    kind = ESTIMATED_END if job.run_s == job.request_s else TERMINATION
    heapq.heappush(pool.events, (now + job.run_s, kind, len(pool.starts), job))
