"""Cases on Zoe: the local back-end, submitted by `zoe sbatch`."""

from __future__ import annotations

import os
import sysconfig
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.slurm_scripts import case as cases
from benchmarks.slurm_scripts.case import Case, Outcome
from benchmarks.slurm_scripts.normal import normal, normal_files
from benchmarks.slurm_scripts.stand_ins import HANDLE, HANDLE_TEXT, SYSTEM_PATH
from zoe_client import Client, Conflict
from zoe_client.vocabulary import IndexState
from zoe_embedded.stack import Stack
from zoe_lib.settings.config import Settings
from zoe_lib.store.people import Token
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.accounts.system_ids import IdKind
from zoe_lib.tokens.api_tokens import ALL_SCOPES, FIRST_TENANT, TokenText
from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.files.workspaces import workspaces

_CLONE = Path(__file__).resolve().parents[2]
_LIBRARIES = os.pathsep.join((sysconfig.get_paths()["purelib"], str(_CLONE)))
# Only root may be able to read the interpreter of this environment; the system's has the same version.
_COMMAND = (
    "env",
    f"PYTHONPATH={_LIBRARIES}",
    "/usr/bin/python3",
    "-c",
    "'import sys; sys.argv[0] = \"zoe\"; from zoe_cli.main import main; main()'",
    "sbatch",
)
_ENDED_WITHIN_S = 300.0
_GOING_ON = ("pending", "running")
_CAUSES = {
    "time_limit": "timeout",
    "dependency_failed": "never",
    "out_of_memory": "out_of_memory",
    "start_failed": "not started",
}


def settings(programs: dict[str, Path]) -> dict[str, object]:
    """Return settings of a stack whose images have these stand-ins: image -> directory."""
    return {
        "local_nodes": [
            {"name": f"node{number}", "cores": 4096, "memory_bytes": 1 << 44, "devices": {"gpu": 256}}
            for number in range(2)
        ],
        "local_images": {
            image: {"path": [str(place), *SYSTEM_PATH], "environment": {HANDLE: HANDLE_TEXT, "LANG": "C.UTF-8"}}
            for image, place in programs.items()
        },
    }


def image(case: Case) -> str:
    """Return the image of a case."""
    return f"zoe/{case.user}"


class Person:
    """A user with a token and a workspace."""

    def __init__(self, stack: Stack, case: Case) -> None:
        config = Settings(database_url=SecretStr(stack.database_url))
        text = TokenText.new()
        with closing(PostgresStore(stack.database_url)) as store:
            store.accounts.ensure_member(case.user, FIRST_TENANT, "user")
            scopes = ALL_SCOPES - {"admin"}
            store.accounts.add_token(
                Token(text.id, case.user, FIRST_TENANT, text.secret_hash, scopes, time.time(), None, "benchmark")
            )
            self.uid, self.gid = (
                store.accounts.system_id(kind, name, config.user_ids_first, config.user_ids_last)
                for kind, name in ((IdKind.USER, case.user), (IdKind.TENANT, FIRST_TENANT))
            )
        self.token = str(text)
        owner = ComponentUser(self.uid, self.gid)
        self.workspace, _ = workspaces(stack.home.workspaces, FIRST_TENANT, case.user, owner)


def run(stack: Stack, case: Case, person: Person, programs: Path, tools: Path) -> Outcome:
    """Run a case, whose files are in the person's workspace, to the end of its jobs."""
    work = person.workspace
    before = cases.snapshot(work)
    cases.give(work, person.uid, person.gid)
    environment = {
        "PATH": os.pathsep.join((str(programs), *SYSTEM_PATH)),
        "HOME": str(tools),
        "USER": case.user,
        "LANG": "C.UTF-8",
        "ZOE_URL": stack.url,
        "ZOE_TOKEN": person.token,
        HANDLE: HANDLE_TEXT,
    }
    command = [*_COMMAND, f"--image={image(case)}"]
    started = cases.start(case, work, tools, command, environment, (person.uid, person.gid))
    with Client(stack.url, person.token, timeout_s=60) as client:
        jobs = _ended_jobs(client)
    names = [
        (str(work), "WORK"),
        (case.user, "USER"),
        *((job["id"], f"JOB{place}") for place, job in enumerate(jobs, start=1)),
    ]
    return Outcome(
        [word for job in jobs for word in job["words"]],
        normal_files(cases.files_of(work, before), names),
        normal(started.stdout + started.stderr, names, drop_lines=False),
        started.returncode,
    )


def _ended_jobs(client: Client) -> list[dict[str, Any]]:
    """Return the jobs in the order of submission, after all have ended or their time is up."""
    give_up_s = time.monotonic() + _ENDED_WITHIN_S
    while True:
        jobs = _jobs(client)
        if all(word not in _GOING_ON for job in jobs for word in job["words"]):
            return jobs
        if time.monotonic() > give_up_s:
            for job in jobs:
                with suppress(Conflict):  # it has ended since
                    client.cancel(job["id"]) if not job["array"] else client.arrays.cancel(job["id"])
            return jobs
        time.sleep(0.5)


def _jobs(client: Client) -> list[dict[str, Any]]:
    found = []
    for execution in client.executions(limit=200).executions:
        if "_" not in execution.id:  # otherwise an index of an array
            found.append(
                {
                    "id": execution.id,
                    "at": execution.submitted_at_s,
                    "array": False,
                    "words": [_word(str(execution.state), execution.exit_code, str(execution.cause))],
                }
            )
    for array in client.arrays.list(limit=200).arrays:
        words = [
            _word(_index_state(index.state), index.exit_code, str(index.cause))
            for index in client.arrays.indices(array.id)
        ]
        found.append({"id": array.id, "at": array.submitted_at_s, "array": True, "words": words})
    return sorted(found, key=lambda job: job["at"])


def _index_state(state: IndexState) -> str:
    return {IndexState.WAITING: "waiting", IndexState.ACTIVE: "running"}.get(state, str(state))


def _word(state: str, code: int | None, cause: str) -> str:
    if state not in ("succeeded", "failed", "cancelled"):
        return "pending" if state in ("submitted", "queued", "waiting") else "running"
    if state == "failed":
        return _CAUSES.get(cause, f"failed {code}")
    return state
