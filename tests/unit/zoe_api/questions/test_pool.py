"""Questions answered by processes: their results and errors, their limits, and turns of tenants."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.waiting import until
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.questions import pool as pools
from zoe_api.questions import worker
from zoe_api.questions.pool import OF_TENANT_MAX, QuestionPool
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.settings.config import Settings
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused


def pid_of(_: SubmissionPlace) -> int:
    return os.getpid()


def refuse(place: SubmissionPlace, code: str) -> None:
    raise SubmissionRefused(code, place.settings.public_url or "none")


def fail(_: SubmissionPlace) -> None:
    class Local(Exception):  # noqa: N818 - it cannot be pickled
        pass

    raise Local("here")


def use_memory(_: SubmissionPlace) -> int:
    return len(bytearray(worker.MEMORY_BYTES_MAX))


def spin(_: SubmissionPlace, seconds: float) -> None:
    """Use this much CPU time."""
    while time.process_time() < seconds:
        pass


def end(_: SubmissionPlace) -> None:
    os.kill(os.getpid(), signal.SIGXCPU)


def wait(_: SubmissionPlace, path: Path) -> int:
    until(path.exists)
    return os.getpid()


@pytest.fixture(scope="module", autouse=True)
def _functions_of_this_module() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(CLONE))
        yield


@pytest.fixture(scope="module")
def pool() -> Iterator[QuestionPool]:
    made = QuestionPool(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))
    yield made
    made.close()


def problem_of(pool: QuestionPool, *question: object) -> tuple[str, str]:
    with pytest.raises(ApiProblem) as refused:
        pool.answer("red", *question)  # type: ignore[arg-type]
    return refused.value.problem.code, refused.value.problem.detail


def test_one_process_answers_one_question_after_the_other(pool: QuestionPool) -> None:
    first = pool.answer("red", pid_of)
    assert first == pool.answer("blue", pid_of) != os.getpid()


def test_errors_are_those_of_the_function(pool: QuestionPool) -> None:
    with pytest.raises(SubmissionRefused) as refused:
        pool.answer("red", refuse, "never_fits")
    assert (refused.value.code, refused.value.detail) == ("never_fits", "none")
    with pytest.raises(RuntimeError, match="Local: here"):
        pool.answer("red", fail)


def test_a_question_ends_at_its_limits_and_the_next_is_answered(
    pool: QuestionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problem_of(pool, use_memory) == ("check_too_long", "the check took more than 2 GiB of memory")
    assert problem_of(pool, end) == ("check_too_long", "the check took more than 10 s of CPU time")
    monkeypatch.setattr(pools, "SECONDS_MAX", 0.05)
    assert problem_of(pool, spin, 60.0) == ("check_too_long", "the check took longer than 0.05 s")
    monkeypatch.undo()
    assert pool.answer("red", pid_of)


def test_a_tenant_has_one_process_and_a_few_places(pool: QuestionPool, tmp_path: Path) -> None:
    path = tmp_path / "may-end"
    with ThreadPoolExecutor(OF_TENANT_MAX) as threads:
        asked = [threads.submit(pool.answer, "red", wait, path) for _ in range(OF_TENANT_MAX)]
        until(lambda: pool._lane.inside == OF_TENANT_MAX)
        assert problem_of(pool, pid_of)[0] == "check_busy"
        other = pool.answer("blue", pid_of)
        path.touch()
        assert {task.result(60) for task in asked} != {other}


def test_processes_end_with_the_pool() -> None:
    made = QuestionPool(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))
    number = made.answer("red", pid_of)
    made.close()
    until(lambda: not Path(f"/proc/{number}").exists())
