"""Notes and errors of `zoe sbatch` about scripts, and its submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import Server
from zoe_client.errors import Refused
from zoe_client.quick.quick import QuickClient
from zoe_client.wire import Diagnostic, Problem

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=sums -p gpu
#SBATCH --time=10
true
#SBATCH --nodes=2
"""
WRONG = """\
#!/bin/bash
#SBATCH --licenses=foo
#SBATCH --nonsense
#SBATCH --ntasks=none
sinfo --json
"""
NO_API = "services of this installation do not know the address of the API"
NOTE = f"note: {NO_API}; a job that calls sbatch, squeue or the like ends as failed"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    file = tmp_path / "job.sh"
    file.write_text(SCRIPT)
    return file


@pytest.mark.usefixtures("server")
def test_options_without_effect_are_listed_with_their_lines(zoe: Zoe, job: Path) -> None:
    done = zoe("sbatch", str(job))
    assert done.code == 0
    assert done.out.startswith("Submitted batch job x")
    assert done.err.splitlines() == [
        "job.sh: without effect:",
        "  line 2: --partition=gpu: there are no partitions, accounts and QOS",
        "job.sh: #SBATCH lines after the first command are not read: 5",
        NOTE,
    ]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_script_with_unknown_options_is_submitted_only_if_loose(zoe: Zoe, job: Path, words: tuple[str, ...]) -> None:
    job.write_text(WRONG)
    told = [
        "job.sh: not understood:",
        "  line 2: --licenses=foo: Zoe has no equivalent",
        "  line 3: --nonsense: sbatch has no such option",
        "  line 4: --ntasks=none: not a number above 0",
        "  line 5: sinfo --json: there is no sinfo in a job",
    ]
    refused = zoe("sbatch", *words, str(job))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines()[:-1] == told
    assert "zoe sbatch --loose" in refused.err
    assert zoe("sbatch", "--strict", "--loose", str(job)).code == 2
    done = zoe("sbatch", "--loose", str(job))
    assert (done.code, done.err.splitlines()) == (0, [*told, NOTE])


@pytest.mark.usefixtures("server")
def test_calls_of_the_api_are_refused_where_jobs_cannot_reach_it(zoe: Zoe, job: Path) -> None:
    job.write_text("#!/bin/sh\ntrue\nsbatch $0\nscontrol requeue $SLURM_JOB_ID\n")
    done = zoe("sbatch", str(job))
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[:3] == [
        "job.sh: not understood:",
        f"  line 3: sbatch $0: {NO_API}",
        f"  line 4: scontrol requeue $SLURM_JOB_ID: {NO_API}",
    ]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "line", ["--dependency=singleton", "--dependency=after:1", "--begin=someday", "--time=1:xx", "--array=x",
             "--deadline=now", "--deadline=now+0", "--deadline=now-1hour", "--deadline=someday"]
)  # fmt: skip
def test_option_that_delays_the_start_is_not_ignored(zoe: Zoe, job: Path, line: str) -> None:
    job.write_text(f"#!/bin/sh\n#SBATCH {line}\ntrue\n")
    done = zoe("sbatch", "--parsable", str(job))
    assert (done.code, done.out) == (2, "")


@pytest.mark.usefixtures("server")
def test_a_script_may_come_on_standard_input(zoe: Zoe) -> None:
    assert zoe("sbatch", "--parsable", stdin=b"#!/bin/sh\ntrue\n").code == 0


@pytest.mark.usefixtures("server")
def test_options_win_over_lines(zoe: Zoe, job: Path) -> None:
    shown = zoe("sbatch", "--show", "--time=1:00:00", "-Jother", str(job)).json()
    assert (shown["name"], shown["time_limit_s"]) == ("other", 3600)


@pytest.mark.usefixtures("server")
def test_the_same_key_is_the_same_job(zoe: Zoe, job: Path) -> None:
    words = ("sbatch", "--parsable", "--idempotency-key", "k1", str(job))
    assert zoe(*words).out == zoe(*words).out


@pytest.mark.usefixtures("server")
def test_a_job_may_be_held_and_have_a_priority(zoe: Zoe, job: Path) -> None:
    made = zoe("sbatch", "--parsable", "-H", "--nice=5", "--comment", "why", str(job)).out.strip()
    shown = zoe("show", made, "-o", "json").json()
    assert (shown["priority"], shown["description"]["description"]) == (-5, "why")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"echo no\n", "not a batch script"),
        (b"#!/bin/sh\r\ntrue\r\n", "DOS"),
        (b"#!/bin/sh\n\xff\n", "not UTF-8"),
        (b"#!/bin/sh\n" + b"#" * 300_000, "longer than"),
    ],
)
def test_invalid_script_is_refused(server: Server, zoe: Zoe, tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "job.sh"
    file.write_bytes(content)
    done = zoe("sbatch", str(file))
    assert done.code == 2
    assert why in " ".join(done.err.replace("│", " ").split())


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "words", [("--nonsense", "x"), ("-n", "0", "x"), ("--dependency=singleton", "x"), ("--wrap=true", "x"), ("-n",),
              ("absent.sh",), ("--strict",)]
)  # fmt: skip
def test_wrong_words_are_usage_errors(zoe: Zoe, words: tuple[str, ...]) -> None:
    assert zoe("sbatch", *words).code == 2


@pytest.mark.usefixtures("server")
def test_a_deadline_is_a_wish_of_the_job(zoe: Zoe, job: Path) -> None:
    done = zoe("sbatch", "--parsable", "--deadline=now+2hours", str(job))
    assert done.code == 0
    assert "deadline: " in done.err
    shown = zoe("show", done.out.strip(), "-o", "json").json()
    assert shown["deadline_s"] - shown["submitted_at_s"] == pytest.approx(7200, abs=60)
    refused = zoe("sbatch", "--deadline=2020-01-01", str(job))
    assert (refused.code, refused.out) == (2, "")
    assert "has passed" in " ".join(refused.err.split())


@pytest.mark.usefixtures("server")
def test_an_older_server_gets_the_job_without_the_calls_that_it_does_not_know(
    zoe: Zoe, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = Diagnostic(pointer="/components/0/api", code="unknown", message="there is no key api")
    older = Problem(title="invalid", status=422, code="invalid_description", errors=[error])
    submit, sent = QuickClient.submit, []

    def refuse(self: QuickClient, document: dict[str, Any], *args: Any, **more: Any) -> Any:
        sent.append(document["components"][0].get("api"))
        if sent[-1] is not None:
            raise Refused(older)
        return submit(self, document, *args, **more)

    monkeypatch.setattr(QuickClient, "submit", refuse)
    done = zoe("sbatch", str(job))
    assert (done.code, sent) == (0, ["jobs", None])
    assert "the server is older than this command" in done.err
