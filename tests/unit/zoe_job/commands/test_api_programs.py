"""The programs of Slurm inside a job, with an API in memory: their output, their changes, and their exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.zoe_job.commands.fake_api import FakeApi, array, view
from zoe_job.commands import calling, sacct, sattach, sbatch, scancel, scontrol_jobs, squeue
from zoe_job.commands.api import NoApiError, RefusedError
from zoe_job.commands.calling import NotHereError, job_ids, run_program
from zoe_job.common.slurm_options import BadOptionError

ARRAY = "a1m00000000aaaa"
Program = Callable[[list[str]], int]
PROGRAMS: dict[str, Program] = {
    "squeue": squeue.squeue,
    "sacct": sacct.sacct,
    "scancel": scancel.scancel,
    "scontrol": scontrol_jobs.scontrol,
    "sattach": sattach.sattach,
    "sbatch": sbatch.sbatch,
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    made = FakeApi(
        [
            view("x1"),
            view("x2", "queued", conditions={"held": "user", "after": []}, priority=5),
            view("x3", "failed", exit_code=3),
            view("x4", "failed", cause="time_limit", exit_code=143),
            view(f"{ARRAY}_0", "succeeded", exit_code=0),
            view(f"{ARRAY}_1"),
        ],
        [array(ARRAY, "2-3")],
    )
    for module in (squeue, sacct, scancel, scontrol_jobs, sattach, sbatch):
        monkeypatch.setattr(module, "Api", lambda: made)
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("HOME", "/work")
    monkeypatch.setenv("SLURM_JOB_ID", "x1")
    monkeypatch.delenv("ZOE_SRUN", raising=False)
    return made


def run(name: str, *words: str) -> int:
    return PROGRAMS[name](list(words))


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("-h", "-o", "%i %t"), ["x2 PD", f"{ARRAY}_[2-3] PD", f"{ARRAY}_1 R", "x1 R"]),
        (("-h", "-o", "%i", "-u", "eve"), []),
        (("-h", "-j", "x1", "-O", "stdout:40"), ["/work/sub/o-x1.txt".ljust(40)]),
        (("-h", "-o", "%i", "--me", "-t", "R"), [f"{ARRAY}_1", "x1"]),
        (("-h", "-o", "%i %T", "-j", "x3"), []),
        (("-h", "-o", "%i %T", "-t", "all", "-j", "x3,x4"), ["x3 FAILED", "x4 TIMEOUT"]),
        (("-h", "-r", "-o", "%i %K %F", "-t", "PD"), ["x2 N/A x2", f"{ARRAY}_2 2 {ARRAY}", f"{ARRAY}_3 3 {ARRAY}"]),
        (("-h", "-O", "jobid:4,state:8", "-j", "x1"), ["x1  RUNNING "]),
        (("-ho", "%.10l|%.5C|%m|%R", "-jx1"), ["   1:01:40|    2|64M|n1"]),
        (("-h", "-o", "%r", "-j", "x2"), ["JobHeldUser"]),
        (("-n", "many", "-o", "%i"), ["JOBID", f"{ARRAY}_[2-3]"]),
        (("-h", "-o", "%i|%l|%m", "-j", ARRAY), [f"{ARRAY}_[2-3]|1:01:40|64M", f"{ARRAY}_1|1:01:40|64M"]),
    ],
)
def test_squeue(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], lines: list[str]) -> None:
    assert run("squeue", *words) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.usefixtures("api")
def test_squeue_has_the_columns_of_slurm(capsys: pytest.CaptureFixture[str]) -> None:
    run("squeue", "-j", "x2")
    head, line = capsys.readouterr().out.splitlines()
    assert head == "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    assert line.split()[:5] == ["x2", "zoe", "sums", "ada", "PD"]
    assert line.endswith(" 1 (JobHeldUser)")


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("-nP", "-j", "x3,x4", "--format=JobID,State,ExitCode,Elapsed,CPUTime,CPUTimeRAW"),
         ["x3|FAILED|3:0|00:01:00|00:02:00|120", "x4|TIMEOUT|0:15|00:01:00|00:02:00|120"]),
        (("-n", "-p", "-X", "-j", ARRAY, "-o", "jobid,state"),
         [f"{ARRAY}_1|RUNNING|", f"{ARRAY}_0|COMPLETED|", f"{ARRAY}_[2-3]|PENDING|"]),
        (("-P", "-j", "x3", "-o", "jobname%5,timelimit"), ["JobName|Timelimit", "sums|01:01:40"]),
        (("-n", "-j", "x3", "-o", "jobname%-6,exitcode"), ["sums        3:0 "]),
    ],
)  # fmt: skip
def test_sacct(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], lines: list[str]) -> None:
    assert run("sacct", *words) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        (("x2",), ["/executions/x2/cancel"]),
        (("x2", "-Q", "x1"), ["/executions/x2/cancel", "/executions/x1/cancel"]),
        ((ARRAY,), [f"/arrays/{ARRAY}/cancel"]),
        ((f"{ARRAY}_[0-1]",), [f"/arrays/{ARRAY}/cancel?indices=0", f"/arrays/{ARRAY}/cancel?indices=1"]),
        (("-n", "many"), [f"/arrays/{ARRAY}/cancel"]),
        (("-u", "ada", "-t", "R"), [f"/arrays/{ARRAY}/cancel?indices=1", "/executions/x1/cancel"]),
        (("-u", "ada", "-t", "PENDING"), ["/executions/x2/cancel", f"/arrays/{ARRAY}/cancel?indices=2-3"]),
        (("-n", "sum/s", "x1"), []),
        (("-n", "sums", "x1", "x2"), ["/executions/x2/cancel", "/executions/x1/cancel"]),
        (("-s", "KILL", "x2"), ["/executions/x2/cancel"]),
        (("--name=none",), []),
    ],
)
def test_scancel(api: FakeApi, words: tuple[str, ...], paths: list[str]) -> None:
    assert run("scancel", *words) == 0
    assert [path for path, _ in api.calls] == paths


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        (("requeue", "x1"), [("/executions/x1/requeue", None)]),
        (("requeue", "JobId=x1,x2"), [("/executions/x1/requeue", None), ("/executions/x2/requeue", None)]),
        (("requeuehold", "x1"), [("/executions/x1/requeue?hold=true", None)]),
        (("requeue", ARRAY), [(f"/executions/{ARRAY}_1/requeue", None)]),
        (("hold", ARRAY), [(f"/arrays/{ARRAY}/hold", None)]),
        (("release", "job=x2"), [("/executions/x2/release", None)]),
        (("update", "JobId=x2", "TimeLimit=1:00:00"), [("/executions/x2", {"time_limit_s": 3600.0})]),
        (("update", "jobid=x2", "timelimit=UNLIMITED", "nice=3"),
         [("/executions/x2", {"time_limit_s": None, "priority": -3})]),
    ],
)  # fmt: skip
def test_scontrol(api: FakeApi, words: tuple[str, ...], calls: list[tuple[str, Any]]) -> None:
    assert run("scontrol", *words) == 0
    assert api.calls == calls


@pytest.mark.usefixtures("api")
def test_scontrol_shows_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("scontrol", "show", "job", "x3") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("JobId=x3 JobName=sums\n   UserId=ada(")
    for text in ("JobState=FAILED Reason=None", "ExitCode=3:0", "RunTime=00:01:00 TimeLimit=01:01:40", "NumCPUs=2",
                 "WorkDir=/work/sub", "StdOut=/work/sub/o-x3.txt"):  # fmt: skip
        assert text in shown
    assert run("scontrol", "-o", "show", "job") == 0
    assert len(capsys.readouterr().out.splitlines()) == 7


def test_memory_of_a_job_is_that_of_its_nodes(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    api.executions["x1"]["description"]["components"][0]["files"]["zoe-job.json"] = '{"memory_mib": 64, "nodes": 2}'
    assert run("scontrol", "show", "job", "x1") == 0
    shown = capsys.readouterr().out
    assert "mem=128M," in shown
    assert "\n   MinMemoryNode=64M\n" in shown


@pytest.fixture
def het(api: FakeApi) -> FakeApi:
    """x1 has two groups: one node with 2 cores, and three of 128 MiB with 4."""
    one = api.executions["x1"]
    of_first = {"memory_mib": 64, "name": "sums", "others": [{"memory_mib": 128, "nodes": 3, "name": "more/1"}]}
    first = {**one["description"]["components"][0], "files": {"zoe-job.json": json.dumps(of_first)}}
    second = {"name": "group-1", "total_count": 3, "resources": {"cores": 4}}
    services = [{"id": f"x1.{name}.1", "attempt": 1, "node": node} for name, node in GROUP_NODES]
    description = {**one["description"], "components": [first, second]}
    api.executions["x1"] = {**one, "core_total": 4, "services": services, "description": description}
    return api


GROUP_NODES = (("main.0", "n1"), ("group-1.0", "n1"), ("group-1.1", "n2"), ("group-1.2", "n2"))


@pytest.mark.usefixtures("het")
@pytest.mark.parametrize("job", ["x1", "x1+1"])
def test_components_of_a_heterogeneous_job_are_listed_as_in_slurm(capsys: pytest.CaptureFixture[str], job: str) -> None:
    assert run("squeue", "-h", "-j", job, "-o", "%i %A %j %D %C %m %N") == 0
    assert run("squeue", "-h", "-j", job, "-O", "jobarrayid:6,minmemory:5") == 0
    assert run("squeue", "-h", "-n", "more/1", "-o", "%i %t") == 0
    assert run("sacct", "-nP", "-j", job, "-o", "jobid,jobidraw,reqmem,nnodes,alloccpus") == 0
    assert capsys.readouterr().out.splitlines() == [
        "x1+0 x1 sums 1 2 64M n1",
        "x1+1 x1 more-1 3 12 128M n1,n2",
        "x1+0  64M  ",
        "x1+1  128M ",
        "x1+1 R",
        "x1+0|x1|64M|1|2",
        "x1+1|x1|128M|3|12",
    ]
    assert run("scontrol", "show", "job", job) == 0
    shown = capsys.readouterr().out
    assert "JobId=x1 HetJobId=x1 HetJobOffset=1 JobName=more-1\n   HetJobIdSet=x1\n" in shown
    assert "TRES=cpu=2,mem=64M,node=1" in shown
    assert "TRES=cpu=12,mem=384M,node=3" in shown


def test_a_component_of_a_heterogeneous_job_is_not_changed_alone(het: FakeApi) -> None:
    with pytest.raises(BadOptionError, match="Operation not permitted on individual component"):
        run("scancel", "x1+1")
    for words in (("hold", "x1+1"), ("update", "JobId=x1+0", "TimeLimit=5")):
        with pytest.raises(NotHereError, match="name x1"):
            run("scontrol", *words)
    assert het.calls == []
    assert run("scancel", "x1+0") == 0  # as in Slurm, all of it
    assert het.calls == [("/executions/x1/cancel", None)]


FOREIGN = [
    ("squeue", ("-j", "x9")),
    ("sacct", ("-j", "x9")),
    ("scancel", ("x9",)),
    ("sattach", ("x9.0",)),
    *(("scontrol", (verb, "x9")) for verb in ("requeue", "requeuehold", "hold", "release")),
    ("scontrol", ("update", "JobId=x9", "TimeLimit=1")),
    ("scontrol", ("show", "job", "x9")),
]


@pytest.mark.parametrize(("name", "words"), FOREIGN)
def test_a_foreign_id_is_an_error_that_does_not_fail_the_job(
    api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, words: tuple[str, ...]
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(calling, "report", reported.append)
    monkeypatch.setattr(sys, "argv", [name, *words])
    with pytest.raises(SystemExit) as ended:
        run_program(PROGRAMS[name])
    assert (ended.value.code, reported, api.calls) == (1, [], [])
    told = capsys.readouterr().err
    assert told.startswith(f"{name}: error: ")
    assert "x9 was not submitted by job x1" in told


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("squeue", ("--json",)),
        ("squeue", ("-o", "%w")),
        ("squeue", ("-o", "%o")),
        ("squeue", ("-O", "tres",)),
        ("sacct", ("--long",)),
        ("sacct", ("-o", "maxvmsize")),
        ("scancel", ("-s", "USR1", "x2")),
        ("scancel", ("--batch", "x2")),
        ("scontrol", ("suspend", "x2")),
        ("scontrol", ("show", "config")),
        ("scontrol", ("update", "JobId=x2", "NumNodes=2")),
        ("sattach", ("--pty", "x2.0")),
        ("sbatch", ("--test-only", "--wrap=true")),
        ("sbatch", ("--licenses=a", "--wrap=true")),
    ],
)  # fmt: skip
def test_unsupported_command_fails_the_job(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, name: str, words: tuple[str, ...]
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(calling, "report", reported.append)
    monkeypatch.setattr(sys, "argv", [name, *words])
    with pytest.raises(SystemExit) as ended:
        run_program(PROGRAMS[name])
    assert (ended.value.code, reported, api.calls) == (1, [" ".join([name, *words])], [])


def test_a_job_without_a_token_fails(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> FakeApi:
        raise NoApiError("this job cannot reach the API of Zoe")

    reported: list[str] = []
    monkeypatch.setattr(scontrol_jobs, "Api", none)
    monkeypatch.setattr(calling, "report", reported.append)
    monkeypatch.setattr(sys, "argv", ["scontrol", "requeue", "x1"])
    with pytest.raises(SystemExit):
        run_program(scontrol_jobs.scontrol)
    assert (reported, api.calls) == (["scontrol requeue x1"], [])


@pytest.mark.parametrize(
    ("name", "words"),
    [("squeue", ("--bogus",)), ("squeue", ("-t", "FOO")), ("scancel", ()), ("scancel", ("-t", "FOO")),
     ("scancel", ("-t", "COMPLETED")), ("sacct", ("-s", "FOO")), ("scontrol", ("requeue",)),
     ("scontrol", ("update", "TimeLimit=1")), ("scontrol", ("update", "JobId=x1")), ("scontrol", ("hold", "x1;rm")),
     ("scontrol", ("update", "JobId=x1", "TimeLimit=soon")), ("sattach", ()), ("sattach", (ARRAY,)),
     ("sbatch", ("--bogus",)), ("sbatch", ("absent.sh",)), ("sacct", ("word",))]
)  # fmt: skip
@pytest.mark.usefixtures("api")
def test_wrong_words_are_errors(name: str, words: tuple[str, ...]) -> None:
    with pytest.raises(BadOptionError):
        run(name, *words)


def test_a_job_that_has_ended_is_no_error_of_scancel_alone(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    ended = RefusedError(409, "already_ended", "it is failed")
    api.refusals = {"/executions/x3/cancel": ended, "/executions/x3/requeue": ended}
    assert run("scancel", "x3", "x2") == 0
    assert run("scontrol", "requeue", "x3") == 1
    assert "completed for job x3" in capsys.readouterr().err


def test_a_requeue_of_an_array_says_which_indices_do_not_run_again(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("scontrol", "requeue", ARRAY) == 0
    assert capsys.readouterr().err == f"scontrol: 1 indices of array {ARRAY} have ended and do not run again\n"
    del api.executions[f"{ARRAY}_1"]
    assert run("scontrol", "requeue", ARRAY) == 1
    assert f"no index of array {ARRAY} is running" in capsys.readouterr().err


def sample(service: str, memory_kib: int, cpu_s: float, node: str = "n1") -> dict[str, Any]:
    return {"service_id": service, "node": node, "at_s": 1.0, "memory_bytes": memory_kib * 1024, "cpu_s": cpu_s}


def test_sacct_knows_memory_and_cpu_time_that_the_last_attempt_used(
    het: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    het.usage = [
        *(sample("x1.main.0.1", 9000, 9.0), sample("x1.main.0.2", 2048, 1.0), sample("x1.main.0.2", 1000, 62.5)),
        *(sample("x1.group-1.0.2", 100, 1.0), sample("x1.group-1.1.2", 301, 3600.0, "n2")),
    ]
    fields = "jobid,maxrss,averss,maxrssnode,totalcpu"
    assert run("sacct", "-nP", "-j", "x1,x2", "-o", f"{fields},reqmem") == 0
    assert run("sacct", "-nP", "-j", "x1", "-o", "maxrss,reqmem", "--units=M") == 0
    assert capsys.readouterr().out.splitlines() == [
        "x1+0|2M|2M|n1|01:02.500|64M",
        "x1+1|301K|200K|n2|01:00:01|128M",
        "x2|||||64M",
        "2.00M|64.00M",
        "0.29M|128.00M",
    ]
    with pytest.raises(BadOptionError):
        run("sacct", "--units=X")


WAITS, GONE = f"{ARRAY}_2", f"{ARRAY}_9"


@pytest.mark.usefixtures("api")
def test_an_index_that_has_not_begun_is_shown_as_slurm_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("squeue", "-h", "-j", WAITS, "-o", "%i %K %F %t") == 0
    assert run("sacct", "-nP", "-j", WAITS, "-o", "jobid,state") == 0
    assert run("scontrol", "show", "job", WAITS) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{WAITS} 2 {ARRAY} PD\n{WAITS}|PENDING\nJobId={WAITS} ArrayJobId={ARRAY} ArrayTaskId=2 ")
    assert run("scontrol", "show", "job", GONE) == 1


@pytest.mark.parametrize("words", [("hold",), ("release",), ("update", "TimeLimit=5")])
@pytest.mark.parametrize("job", [WAITS, f"x2,{ARRAY}_[1-2]"])
def test_an_index_that_has_not_begun_is_not_changed_alone(api: FakeApi, words: tuple[str, ...], job: str) -> None:
    command, *changes = words
    name = f"JobId={job}" if changes else job
    with pytest.raises(
        NotHereError, match=rf"{WAITS} has not begun.*`scontrol {command} (JobId=)?{ARRAY}` applies to all"
    ):
        run("scontrol", command, name, *changes)
    assert api.calls == []


@pytest.mark.usefixtures("api")
def test_a_requeue_of_an_index_that_has_not_begun_is_an_error_as_in_slurm(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("scontrol", "requeue", WAITS) == 1
    assert f"{WAITS}: Job is pending execution" in capsys.readouterr().err
    assert run("scontrol", "requeue", GONE) == 1
    assert "Invalid job id specified" in capsys.readouterr().err


def test_priority_0_holds_as_in_slurm(api: FakeApi) -> None:
    assert run("scontrol", "update", "JobId=x2", "Priority=0", "TimeLimit=5") == 0
    assert api.calls == [("/executions/x2", {"time_limit_s": 300.0}), ("/executions/x2/hold", None)]


def test_scancel_goes_on_until_no_job_is_left_that_another_has_submitted(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = api.post

    def submitting(path: str, body: Any = None, key: str | None = None) -> Any:
        found = post(path, body, key)
        if path == "/executions/x5/cancel":  # it was faster
            api.executions["x6"] = view("x6", name="loop/1")
        return found

    monkeypatch.setattr(api, "post", submitting)
    api.executions["x5"] = view("x5", name="loop-1")
    assert run("scancel", "-n", "loop/1") == 0
    assert [path for path, _ in api.calls] == ["/executions/x5/cancel", "/executions/x6/cancel"]


def test_ids_may_be_ranges_and_steps() -> None:
    assert list(job_ids(f"x1.0,{ARRAY}_[1-5:2,9],{ARRAY}_7")) == [
        "x1", *(f"{ARRAY}_{index}" for index in (1, 3, 5, 9, 7))
    ]  # fmt: skip
    for text in ("../x", f"{ARRAY}_[1-999999999]", f"{ARRAY}_[x]", ""):
        with pytest.raises(BadOptionError):
            list(job_ids(text))


def test_sbatch_submits_with_the_variables_and_directory_of_the_script(
    api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sbatch, "changed_variables", lambda: {"FOO": "1", "BAR": "2"})
    words = ["--dependency=afterok:x1", "--begin=now+1hour", "--export=ALL,BAR=3", "--wrap", "echo $FOO", "-J", "next"]
    assert run("sbatch", *words) == 0
    assert run("sbatch", "--parsable", "--array=0-3", "--export=NONE", "--wrap=true") == 0
    assert capsys.readouterr().out == f"Submitted batch job x1new\n{ARRAY}\n"
    (path, body), (array_path, array_body) = api.calls
    assert (path, array_path) == ("/executions", "/arrays")
    assert (body["after"], body["begin_in_s"], array_body["indices"]) == (["ok:x1"], 3600.0, "0-3")
    main = body["application"]["components"][0]
    assert main["api"] == "jobs"
    assert '"variables": {"FOO": "1", "BAR": "3"}' in main["files"]["zoe-job.json"]
    assert '"directory": "sub"' in main["files"]["zoe-job.json"]
    assert '"variables": {}' in array_body["application"]["components"][0]["files"]["zoe-job.json"]


def test_sbatch_reads_files_that_a_script_sources(
    api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "lib.sh").write_text("true\nsinfo -h\n")
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sbatch, "changed_variables", dict)
    with pytest.raises(NotHereError):
        run("sbatch", "--wrap", "source lib.sh")
    assert "  line 2: sub/lib.sh, line 2: sinfo -h: there is no sinfo in a job" in capsys.readouterr().err
    assert run("sbatch", "--loose", "--wrap", "source lib.sh") == 0
    assert [path for path, _ in api.calls] == ["/executions"]


def test_not_here_is_no_bad_option() -> None:
    assert not issubclass(NotHereError, BadOptionError)


def test_indices_that_were_cancelled_before_they_began_are_told(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.arrays["a9"] = array("a9", counts={"cancelled": 5}, cancelled=[2, 3, 4, 6, 8], ended_at_s=1100.0)
    api.executions["a9_3"] = view("a9_3", "cancelled")
    assert run("sacct", "-nP", "-j", "a9", "-o", "jobid,state,elapsed") == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("a9_[2,4,6,8]|CANCELLED by ")
    assert last.endswith("|00:00:00")
    assert run("sacct", "-nP", "-s", "CANCELLED", "-o", "jobid") == 0
    assert "a9_[2,4,6,8]" in capsys.readouterr().out
    assert run("sacct", "-nP", "-j", "a9_4", "-o", "jobid,state") == 0
    assert capsys.readouterr().out.startswith("a9_4|CANCELLED by ")
