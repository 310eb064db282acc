"""A drill: an admin follows docs/operate/people.md for somebody who leaves, on a real stack that root runs."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.documents import job
from tests.support.needs import need_root
from tests.support.people import make_token
from tests.support.stack import ZOE, environment, running_stack, zoe
from tests.support.waiting import until
from zoe_client import Client, NotAllowed
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres.store import PostgresStore

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "operate" / "people.md"
NODE = {"name": "local", "cores": 4, "memory_bytes": 4 << 30}
WRITE = "echo hers > $0/notes; id -u > $0/uid; echo ready; exec sleep 600"


@pytest.fixture
def stack() -> Iterator[Stack]:
    need_root()
    with running_stack(forked=True, local_nodes=[NODE]) as running:
        yield running


@pytest.fixture
def clients(stack: Stack) -> Iterator[dict[str, Client]]:
    store = PostgresStore(stack.database_url)
    made = {user: Client(stack.url, make_token(store, user, "default")) for user in ("ada", "bob")}
    store.close()
    yield made
    for client in made.values():
        client.close()


def recipe() -> list[list[str]]:
    """The commands of the section, in order."""
    section = GUIDE.read_text().split("### When somebody leaves\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return [shlex.split(line, comments=True)[1:] for line in block[1].splitlines()]


def typed(stack: Stack, words: list[str]) -> subprocess.CompletedProcess[str]:
    return zoe(stack, *words)


def test_the_recipe_hands_everything_over(stack: Stack, clients: dict[str, Client]) -> None:
    ada, bob = clients["ada"], clients["bob"]
    ended = ada.submit(job("true", name="ended"))
    until(lambda: ada.execution(ended.id).state is ExecutionState.SUCCEEDED)
    application = job("sh", "-c", WRITE, "{workspace}", name="running")
    application["components"][0]["work_dir"] = "{workspace}"
    running = ada.submit(application)
    hers = stack.home.workspaces / "default" / "ada"
    until((hers / "uid").exists)
    his = bob.submit(job("sh", "-c", "id -u > {workspace}/uid", name="his"))
    until(lambda: bob.execution(his.id).state is ExecutionState.SUCCEEDED)
    numbers = [int((hers.parent / user / "uid").read_text()) for user in ("ada", "bob")]
    first, listing, cancel, second, leave = recipe()

    handed = typed(stack, first)
    assert handed.returncode == 5
    assert f"the files are not moved yet: {running.id} still run as ada" in handed.stderr
    with pytest.raises(NotAllowed):
        ada.me()
    assert {execution.id for execution in bob.executions().executions} == {ended.id, running.id, his.id}
    listed = typed(stack, listing)
    assert (listed.returncode, running.id in listed.stdout) == (0, True)
    [service] = bob.execution(running.id).services
    assert int((hers / "uid").read_text()) == numbers[0]
    assert bob.logs(running.id, service.id).next_offset == len("ready\n")
    inside = subprocess.run(
        [str(ZOE), "exec", running.id, "--", "sh", "-c", "id -u; cat notes"],
        env={**environment(stack), "ZOE_TOKEN": bob._token}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert inside.stdout.split() == [str(numbers[0]), "hers"]  # it goes on as ada, also for bob

    assert typed(stack, [running.id if word == "ID" else word for word in cancel]).returncode == 0
    until(lambda: bob.execution(running.id).state is ExecutionState.CANCELLED)
    moved = typed(stack, second)
    assert (moved.returncode, "from-ada" in moved.stdout) == (0, True), moved.stderr
    given = hers.parent / "bob" / "from-ada"
    assert (given / "notes").read_text() == "hers\n"
    assert {path.lstat().st_uid for path in (given, *given.rglob("*"))} == {numbers[1]}
    assert not hers.exists()
    read = bob.submit(job("cat", "{workspace}/from-ada/notes", name="reads"))
    until(lambda: bob.execution(read.id).state is ExecutionState.SUCCEEDED)
    again = typed(stack, second)
    assert (again.returncode, " nothing" in again.stdout) == (0, True)
    assert typed(stack, leave).returncode == 0
