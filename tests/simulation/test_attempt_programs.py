"""Prologue and epilogue: real programs beside a master over the simulated back-end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.simulation.world import World, application, component, node
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import Cause, ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.background.attempt_runner import AttemptRunner
from zoe_master.loop.attempt_programs import AttemptProgramKind

E = ExecutionState
ONE = application(component("main", 1, 1), retries=0)


class Site:
    """A world whose programs are shell scripts; each writes its variables into `told`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder, folder / "told"
        self.told.touch()
        self.runners: list[AttemptRunner] = []
        self.world = World([node("n1"), node("n2")], lambda _: ServiceBehaviour(run_s=10.0))

    def set(self, timeout_s: float = 30.0, **scripts: str) -> None:
        """Lead anew with these programs."""
        programs = {}
        for name, script in scripts.items():
            path = self.folder / f"{name}{len(self.runners)}"
            line = "$ZOE_PROGRAM $ZOE_EXECUTION_ID $ZOE_TENANT $ZOE_USER $ZOE_ATTEMPT $ZOE_NODES $ZOE_CAUSE"
            path.write_text(f"#!/bin/sh\necho {line} >> {self.told}\n{script}\n")
            path.chmod(0o755)
            programs[AttemptProgramKind(name)] = str(path)
        self.runners.append(AttemptRunner(programs, timeout_s, self.world.waker.wake))
        self.world.programs = self.runners[-1]
        self.world.restart()

    def lines(self) -> list[str]:
        return self.told.read_text().splitlines()

    def until(self, condition: Callable[[], object]) -> None:
        def ticked() -> object:
            self.world.tick()
            return condition()

        until(ticked)

    def reaches(self, execution_id: str, state: ExecutionState) -> None:
        self.until(lambda: self.world.state(execution_id) is state)

    def kinds(self, execution_id: str) -> list[str]:
        return [entry.kind for entry in self.world.store.journal(0, 1000, execution_id=execution_id)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    for runner in site.runners:
        runner.close()


def wait_for(path: Path) -> str:
    return f"while [ ! -e {path} ]; do sleep 0.02; done; echo ready"


def test_they_run_before_the_first_service_and_after_the_last(site: Site) -> None:
    go = site.folder / "go"
    site.set(prologue=wait_for(go), epilogue="echo done; exit 3")
    one = site.world.submit(ONE)
    site.until(site.lines)
    assert site.world.state(one) is E.STARTING
    assert site.world.backend.observe() == []
    reason = site.world.master.waits_for_prologue(one)
    assert reason is not None
    assert "waits for the prologue" in reason.sentence
    go.touch()
    site.reaches(one, E.RUNNING)
    assert site.world.master.waits_for_prologue(one) is None
    site.world.clock.advance(11.0)
    site.reaches(one, E.SUCCEEDED)
    assert site.lines() == [f"prologue {one} default ada 1 n1", f"epilogue {one} default ada 1 n1 exited"]
    kinds = [kind for kind in site.kinds(one) if kind in ("attempt_opened", "service_started", "running", "ended")
             or kind.endswith("logue_ended")]  # fmt: skip
    assert kinds == ["attempt_opened", "prologue_ended", "service_started", "running", "epilogue_ended", "ended"]
    ends = {
        e.kind: e.data for e in site.world.store.journal(0, 1000, execution_id=one) if e.kind.endswith("logue_ended")
    }
    assert ends["prologue_ended"]["output"] == "ready"
    assert (ends["epilogue_ended"]["exit_code"], ends["epilogue_ended"]["output"]) == (3, "done")


def test_an_attempt_whose_prologue_fails_starts_nothing_and_is_tried_again_as_often_as_after_other_failures(
    site: Site,
) -> None:
    site.set(prologue="echo no licence; exit 7", epilogue="true")
    one = site.world.submit(ONE)

    def ended() -> bool:
        site.world.clock.advance(5.0)
        return site.world.get(one).terminal

    site.until(ended)
    execution = site.world.get(one)
    assert (execution.state, execution.cause, execution.failed_attempts) == (E.FAILED, Cause.PROLOGUE_FAILED, 0)
    assert execution.message == "the prologue failed with exit code 7: no licence"
    attempts = site.world.master.policy.start_attempts_max
    assert [line.split()[0] for line in site.lines()] == ["prologue", "epilogue"] * attempts
    assert "service_started" not in site.kinds(one)


def test_a_cancelled_execution_ends_after_both_programs(site: Site) -> None:
    go = site.folder / "go"
    site.set(prologue=wait_for(go), epilogue="true")
    one = site.world.submit(ONE)
    site.until(site.lines)
    site.world.cancel(one)
    site.world.run(30.0)
    assert (site.world.state(one), len(site.lines())) == (E.STOPPING, 1)
    go.touch()
    site.reaches(one, E.CANCELLED)
    assert site.lines()[1:] == [f"epilogue {one} default ada 1 n1 cancelled"]
    assert "service_started" not in site.kinds(one)


def test_another_master_runs_them_again_unless_their_end_is_known(site: Site) -> None:
    go = site.folder / "go"
    site.set(prologue=wait_for(go))
    one = site.world.submit(ONE)
    site.until(site.lines)
    site.set(prologue="true")
    site.reaches(one, E.RUNNING)
    assert len(site.lines()) == 2
    site.set(prologue="true", epilogue="true")
    site.world.clock.advance(11.0)
    site.reaches(one, E.SUCCEEDED)
    assert len(site.lines()) == 2, "its attempt was opened without an epilogue"
    site.runners[0].close()


def test_what_runs_when_a_prologue_is_set_goes_on_without_it(site: Site) -> None:
    site.world.restart()
    one = site.world.submit(application(component("first", 1, 1), component("second", 1, 1, startup_order=1)))
    site.until(site.world.backend.observe)
    site.set(prologue="exit 1")
    site.reaches(one, E.RUNNING)
    assert site.lines() == []


def test_a_program_that_is_not_set_any_more_holds_up_nothing(site: Site) -> None:
    site.set(prologue="sleep 60", epilogue="true")
    one = site.world.submit(ONE)
    site.until(site.lines)
    site.runners[0].close()
    site.set()
    site.reaches(one, E.RUNNING)
    site.world.clock.advance(11.0)
    site.reaches(one, E.SUCCEEDED)
