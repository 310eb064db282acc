"""Cases on Debian's Slurm."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import time
from pathlib import Path

from benchmarks.slurm import Slurm
from benchmarks.slurm_scripts import case as cases
from benchmarks.slurm_scripts.case import Case, Outcome
from benchmarks.slurm_scripts.normal import normal, normal_files
from benchmarks.slurm_scripts.stand_ins import HANDLE, HANDLE_TEXT, SYSTEM_PATH

ACCOUNT = "nobody"
"""Account of all cases."""
VALUES = {
    "ClusterName": "zoe",
    "Partition": "zoe",
    "Node": "CPUs=256 RealMemory=9000000",
    "MinJobAge": 7200,
    "FirstJobId": 7_100_001,
    "MailProg": "/bin/true",
}
_ENDED_WITHIN_S = 300.0
_ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "BOOT_FAIL")
_LAUNCH_FAILED = 53
_FIELD = re.compile(r"(\w[\w:/]*)=(\S*)")


def run(slurm: Slurm, case: Case, work: Path, programs: Path) -> Outcome:
    """Run a case to the end of its jobs."""
    account = pwd.getpwnam(ACCOUNT)
    before = cases.snapshot(work)
    cases.give(work, account.pw_uid, account.pw_gid)
    environment = {
        "PATH": os.pathsep.join((str(programs), *SYSTEM_PATH)),
        "HOME": str(work),
        "USER": case.user,
        "LOGNAME": case.user,
        "LANG": "C.UTF-8",
        "SLURM_CONF": str(slurm.configuration_file),
        "SBATCH_PARTITION": "zoe",
        "SBATCH_ACCOUNT": case.user,
        HANDLE: HANDLE_TEXT,
    }
    started = cases.start(
        case,
        work,
        work.parent / "tools" / case.user,
        ["/usr/bin/sbatch"],
        environment,
        (account.pw_uid, account.pw_gid),
    )
    jobs = _ended_jobs(slurm, case)
    names = [(str(work), "WORK"), (ACCOUNT, "USER"), (case.user, "USER"), *_ids(jobs)]
    return Outcome(
        [_word(job) for job in jobs],
        normal_files(cases.files_of(work, before), names),
        normal(started.stdout + started.stderr, names, drop_lines=False),
        started.returncode,
    )


def _ended_jobs(slurm: Slurm, case: Case) -> list[dict[str, str]]:
    """Return the jobs of a case after all have ended, or wait for an impossible condition."""
    give_up_s = time.monotonic() + _ENDED_WITHIN_S
    while True:
        jobs = _jobs(slurm, case)
        left = [job for job in jobs if job["JobState"] not in _ENDED]
        waiting = [job for job in left if job["Reason"] != "DependencyNeverSatisfied"]
        if not waiting or time.monotonic() > give_up_s:
            for job in left:
                _call(slurm, "scancel", job["JobId"])
            return jobs
        time.sleep(0.5)


def _jobs(slurm: Slurm, case: Case) -> list[dict[str, str]]:
    lines = _call(slurm, "scontrol", "show", "job", "-o").splitlines()
    # Jobs that a job submits with `--export=NAME=VALUE` lose the account, but keep its directory.
    own = re.compile(rf" Account={case.user} | WorkDir=\S*/{case.user}(?:/|\s)")
    found = [dict(_FIELD.findall(line)) for line in lines if own.search(line)]
    found = [job for job in found if job.get("HetJobOffset", "0") == "0"]  # further groups are parts of the first
    return sorted(found, key=lambda job: (int(job.get("ArrayJobId", job["JobId"])), int(_index(job) or 0)))


def _index(job: dict[str, str]) -> str | None:
    text = job.get("ArrayTaskId", "")
    return text if text.isdecimal() else None


def _ids(jobs: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Return ids and their replacements: the array with the index, for indices."""
    found: dict[str, str] = {}
    for job in jobs:
        first = found.setdefault(
            job.get("ArrayJobId", job["JobId"]), f"JOB{len({text for text in found.values() if '_' not in text}) + 1}"
        )
        if (index := _index(job)) is not None:
            found[job["JobId"]] = f"{first}_{index}" if job["JobId"] != job.get("ArrayJobId") else first
    return list(found.items())


def _word(job: dict[str, str]) -> str:
    """Return the end of a job: a state, and the exit code if the script ended by itself."""
    state, (code, signal_number) = job["JobState"], map(int, job["ExitCode"].split(":"))
    if state == "PENDING":
        return "never" if job["Reason"] == "DependencyNeverSatisfied" else "pending"
    if state == "FAILED":
        return "not started" if signal_number == _LAUNCH_FAILED else f"failed {code or 128 + signal_number}"
    return {"COMPLETED": "succeeded"}.get(state, state.lower())


def _call(slurm: Slurm, *words: str) -> str:
    environment = {**os.environ, "SLURM_CONF": str(slurm.configuration_file)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stdout
