"""CPU time of filters: measured without the time of other requests, booked, and paced by bounds of accounts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage_filters.counting.computing import LOOK_S, SLICE_NS, Computing
from storage_filters.counting.cpu_budget import CpuBudget
from storage_filters.counting.request_counters import request_name

MS = 1_000_000
NAME = request_name("PUT", "AUTH_acme", "c")


class Account:
    """Books without a bound."""

    def __init__(self) -> None:
        self.booked: list[tuple[int, int]] = []

    def book(self, cpu_ns: int, waited_ns: int) -> None:
        self.booked.append((cpu_ns, waited_ns))

    def left_s(self) -> float:
        return 0.0

    def cores(self) -> float:
        return 0.0

    @property
    def cpu_ns(self) -> int:
        return sum(cpu for cpu, _ in self.booked)


class Cpu:
    """The CPU time of a thread that several requests share."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.pauses: list[float] = []

    def __call__(self) -> int:
        return self.now_ns

    def pause(self, seconds: float) -> None:
        """Others run meanwhile."""
        self.pauses.append(seconds)
        self.now_ns += 1000 * MS


@pytest.fixture
def cpu() -> Cpu:
    return Cpu()


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def computing(cpu: Cpu, account: Account) -> Computing:
    return Computing(account, cpu.pause, cpu)


@pytest.mark.parametrize("seed", range(20))
def test_booked_time_is_the_time_of_the_filters(cpu: Cpu, account: Account, computing: Computing, seed: int) -> None:
    """Two nested stages, each with several pieces for a chunk or none, while others run whenever a source is asked."""
    draw = random.Random(seed)
    took = [0]

    def work() -> None:
        spent = draw.randrange(5 * MS)
        cpu.now_ns += spent
        took[0] += spent

    def source() -> Iterator[bytes]:
        for number in range(30):
            cpu.now_ns += draw.randrange(50 * MS)  # of other requests
            yield bytes([number])

    def stage(chunks: Iterator[bytes]) -> Iterator[bytes]:
        work()
        for chunk in chunks:
            for _ in range(draw.randrange(3)):
                work()
                yield chunk
            if draw.random() < 0.2:
                computing.yield_turn()
            work()

    found = list(computing.pieces(stage, computing.pieces(stage, source())))
    computing.close()
    assert account.cpu_ns == took[0]
    assert found == sorted(found)
    assert cpu.pauses.count(0) >= took[0] // (60 * SLICE_NS)


def test_an_error_ends_the_clock(cpu: Cpu, account: Account, computing: Computing) -> None:
    def broken(chunks: Iterator[bytes]) -> Iterator[bytes]:
        cpu.now_ns += 7 * MS
        yield next(chunks)
        cpu.now_ns += 3 * MS
        raise ZeroDivisionError

    def failing() -> Iterator[bytes]:
        yield b"a"
        raise BrokenPipeError

    one = computing.pieces(broken, [b"a", b"b"])
    assert next(one) == b"a"
    with pytest.raises(ZeroDivisionError):
        next(one)
    with pytest.raises(BrokenPipeError):
        list(computing.pieces(lambda chunks: chunks, failing()))
    cpu.now_ns += 1000 * MS
    computing.close()
    assert account.cpu_ns == 10 * MS


def test_without_an_account_nothing_is_measured(cpu: Cpu) -> None:
    uncounted = Computing(None, cpu.pause, lambda: pytest.fail("the clock is read"))
    assert list(uncounted.pieces(lambda chunks: chunks, [b"a"])) == [b"a"]
    assert uncounted.run(lambda: 5) == 5
    uncounted.add(5 * SLICE_NS)
    assert cpu.pauses == []
    uncounted.yield_turn()
    assert cpu.pauses == [0]


class World:
    """Requests of accounts at one process, in simulated time: a computing request uses a core, a sleeping one does not.

    The requests take turns, as greenlets do; time passes only while one of them computes or all of them sleep.
    """

    def __init__(self, budget: CpuBudget, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 100_000 * MS
        self.until_s: float | None = None
        self.budget = budget
        monkeypatch.setattr("storage_filters.counting.cpu_budget.time.monotonic", lambda: self.now_ns / 1e9)

    def run(self, requests: list[tuple[str, int]], for_s: float) -> list[int]:
        """Return what each request computed. requests: accounts, and CPU ns of each of their pieces."""
        end_ns = self.now_ns + round(for_s * 1e9)
        spending = [self.budget.spending_for(NAME, account) for account, _ in requests]
        wakes = [0] * len(requests)
        took = [0] * len(requests)
        while self.now_ns < end_ns:
            ready = [number for number, at_ns in enumerate(wakes) if at_ns <= self.now_ns]
            for number in ready:
                if (left_s := spending[number].left_s()) > 0:
                    wakes[number] = self.now_ns + round(min(left_s, LOOK_S) * 1e9) + 1
                    continue
                self.now_ns += requests[number][1]
                spending[number].book(requests[number][1], 0)
                took[number] += requests[number][1]
            if not ready:
                self.now_ns = min(wakes)
        return took


@pytest.fixture
def budget(tmp_path: Path) -> Iterator[CpuBudget]:
    made = CpuBudget(tmp_path / "rates")
    yield made
    made.close()


@pytest.mark.parametrize("seed", range(8))
def test_an_account_takes_its_cores_and_one_piece_more(
    budget: CpuBudget, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)
    cores = draw.choice([0.05, 0.2, 0.5])
    budget.bound({"AUTH_acme": cores}, None)
    pieces = [draw.randrange(1, 120) * MS for _ in range(draw.randrange(1, 12))]
    took = World(budget, monkeypatch).run([("AUTH_acme", piece) for piece in pieces], 60.0)
    most = cores * 60.5e9 + max(pieces)
    assert cores * 59e9 <= sum(took) <= most


def test_another_account_does_not_wait(budget: CpuBudget, monkeypatch: pytest.MonkeyPatch) -> None:
    budget.bound({"AUTH_acme": 0.25}, None)
    requests = [*[("AUTH_acme", 50 * MS)] * 6, ("AUTH_beta", MS)]
    *acme, beta = World(budget, monkeypatch).run(requests, 20.0)
    assert sum(acme) <= 0.25 * 20.5e9 + 50 * MS
    assert beta >= 14e9


def test_bounds_follow_what_is_told(budget: CpuBudget, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(budget, monkeypatch)
    budget.bound({"AUTH_acme": 0.5}, 0.1)
    one, other = world.run([("AUTH_acme", 10 * MS), ("AUTH_new", 10 * MS)], 30.0)
    assert one == pytest.approx(15e9, rel=0.05)
    assert other == pytest.approx(3e9, rel=0.05)
    budget.bound({}, None)
    assert world.run([("AUTH_acme", 10 * MS)], 5.0) == [pytest.approx(5e9, rel=0.01)]
    for wrong in ({"AUTH_acme": 0.0}, {"AUTH_acme": -1.0}):
        with pytest.raises(ValueError, match="cores"):
            budget.bound(wrong, None)
    with pytest.raises(ValueError, match="cores"):
        budget.bound({}, 0.0)


def test_used_time_is_counted(budget: CpuBudget) -> None:
    heard: list[int] = []
    spending = budget.spending_for(NAME, "AUTH_acme", heard.append)
    spending.book(5 * MS, 2 * MS)
    spending.book(1 * MS, 0)
    [(name, (_, cpu_us, waited_us))] = budget.counts().items()
    assert (name, cpu_us, waited_us) == (NAME, 6000, 2000)
    assert heard == [5000, 1000]


def test_the_expected_wait_is_that_of_the_booked_time_and_of_the_work_itself(
    budget: CpuBudget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage_filters.counting.cpu_budget.time.monotonic", lambda: 100.0)
    budget.bound({"AUTH_acme": 0.25, "AUTH_large": 2.0}, 0.5)
    waits = {}
    for account in ("AUTH_acme", "AUTH_large", "AUTH_other"):
        made = Computing(budget.spending_for(NAME, account), lambda _: None)
        waits[account] = made.expected_wait_s(0.2)
    assert waits == {"AUTH_acme": pytest.approx(0.6), "AUTH_large": 0.0, "AUTH_other": pytest.approx(0.2)}
    budget.spending_for(NAME, "AUTH_acme").book(1_000_000_000, 0)
    assert Computing(budget.spending_for(NAME, "AUTH_acme"), lambda _: None).expected_wait_s(0) > 3
    assert Computing(None, lambda _: None).expected_wait_s(9) == 0
