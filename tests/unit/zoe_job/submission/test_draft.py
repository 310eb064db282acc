"""From options to an allocation and its description."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_job.common.job import variables
from zoe_job.submission.draft import job_draft, job_of
from zoe_job.submission.request import request_of
from zoe_job.submission.script_lines import ScriptLines, read_lines
from zoe_lib.descriptions.parsing import parse


def drafted(*lines: str) -> dict[str, Any]:
    script = "#!/bin/sh\n" + "".join(f"#SBATCH {line}\n" for line in lines)
    found = read_lines(script)
    request, _ = request_of(found.given)
    return job_draft(script, ["a{b"], job_of(request, found, "job.sh"), request)


@pytest.mark.parametrize(
    ("line", "nodes", "cores", "memory", "gpus"),
    [
        ("", 1, 1, "1024MiB", None),
        ("-n 8", 1, 8, "1024MiB", None),
        ("--mem=1M", 1, 1, "64MiB", None),
        ("-N 2 -n 4 -c 3 --mem=4G", 2, 6, "4096MiB", None),
        ("-N 4 -n 2", 2, 1, "1024MiB", None),
        ("-n 5 --ntasks-per-node=2", 3, 2, "1024MiB", None),
        ("-n 4 --mem-per-cpu=2G", 1, 4, "8192MiB", None),
        ("-N 2 --gpus=4", 2, 1, "1024MiB", 2),
        ("-n 4 --gpus-per-task=1 --mem-per-gpu=1G", 1, 4, "4096MiB", 4),
        ("--gres=gpu:a100:2", 1, 1, "1024MiB", 2),
        ("--nodes=2-4 --ntasks-per-node=2", 2, 2, "1024MiB", None),
    ],
)
def test_options_decide_the_resources_of_each_node(
    line: str, nodes: int, cores: int, memory: str, gpus: int | None
) -> None:
    document = drafted(line)
    assert sum(component.get("total_count", 1) for component in document["components"]) == nodes
    for entry in document["components"]:
        resources = entry["resources"]
        assert (resources["cores"], resources["memory"]) == (cores, memory)
        assert resources.get("devices", {}).get("gpu") == gpus


@pytest.mark.parametrize(
    ("line", "tasks", "on_each", "cores"),
    [
        ("", None, "1", "1"),
        ("-N 2", None, "1(x2)", "1(x2)"),
        ("-N 2 --ntasks-per-node=2", "4", "2(x2)", "2(x2)"),
        ("--ntasks-per-node=2", "2", "2", "2"),
        ("-n 2", "2", "2", "2"),
        ("-c 2", None, "1", "2"),
    ],
)
def test_variables_count_tasks_as_slurm_does(line: str, tasks: str | None, on_each: str, cores: str) -> None:
    """Debian's Slurm 22.05 printed them; without a number of tasks it sets none."""
    lines = read_lines(f"#!/bin/sh\n#SBATCH {line}\n")
    job = job_of(request_of(lines.given)[0], lines, "job")
    found = variables(job, ["a", "b"], {})
    assert (found.get("SLURM_NTASKS"), found.get("SLURM_NPROCS")) == (tasks, tasks)
    assert (found["SLURM_TASKS_PER_NODE"], found["SLURM_JOB_CPUS_PER_NODE"]) == (on_each, cores)
    assert found["SLURM_CPUS_ON_NODE"] == cores.partition("(")[0]


@pytest.mark.parametrize("line", ["-n 2", "-N 3 --time=1-0 --mail-type=END,FAIL --comment='a {b}'", "--job-name=/&{"])
def test_the_description_is_valid(line: str) -> None:
    assert parse(drafted(line)).components


def test_the_last_option_wins() -> None:
    assert drafted("--time=1", "--time=2")["time_limit_s"] == 120


def test_ineffective_options_are_harmless_and_unknown_ones_are_not() -> None:
    found = read_lines("#!/bin/sh\n#SBATCH -p gpu --exclusive\n#SBATCH -L foo --dependency=singleton --mem=0\n")
    _, findings = request_of(found.given)
    assert {finding.given.name: finding.harmless for finding in findings} == {
        "partition": True,
        "exclusive": True,
        "licenses": False,
        "dependency": False,
        "mem": False,
    }
    assert {finding.given.line for finding in findings if not finding.harmless} == {3}


def test_variables_of_this_machine_travel_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "1")
    monkeypatch.setenv("HIDDEN", "2")
    request, _ = request_of(read_lines("#!/bin/sh\n#SBATCH --export=ALL,MINE,X=3\n").given)
    assert request.export == {"MINE": "1", "X": "3"}
    assert job_of(request, ScriptLines(), "j").variables == {"MINE": "1", "X": "3"}


@pytest.mark.parametrize(
    ("line", "results"),
    [
        ("", ["slurm-*.out"]),
        ("--array=1-3", ["slurm-*_{index}.out"]),
        ("-o ./logs/%x-%j.txt -e err-%3t", ["logs/*-*.txt", "err-*"]),
        ("--chdir=runs/one", ["runs/one/slurm-*.out"]),
        ("--chdir=.", ["slurm-*.out"]),
        ("--chdir=runs -o ../all-%j.txt", ["all-*.txt"]),
        ("--chdir=/data", None),
        ("--chdir=..", None),
        ("-o /dev/null", None),
    ],
)
def test_output_files_in_the_workspace_are_results(line: str, results: list[str] | None) -> None:
    document = drafted(line)
    assert document.get("results") == results
    assert parse(document).components
