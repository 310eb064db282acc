"""Heterogeneous jobs: from lines and options to components."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_job.common.slurm_options import SBATCH
from zoe_job.submission.draft import job_draft, job_of
from zoe_job.submission.group_options import other_groups, read_groups
from zoe_job.submission.request import request_of
from zoe_job.submission.script_lines import read_lines
from zoe_lib.descriptions.parsing import parse


def drafted(lines: str, words: str = "job.sh") -> tuple[dict[str, Any], list[str]]:
    """Return the description, and the refused options."""
    script = "#!/bin/sh\n" + "".join(f"#SBATCH {line}\n" for line in lines.split("|") if line)
    given, more, _, _ = read_groups(words.split(), SBATCH)
    found = read_lines(script)
    of_first = [*found.given, *given]
    request, _ = request_of(of_first)
    others, findings = other_groups(request, of_first, found.others, more)
    document = job_draft(script, [], job_of(request, found, "job.sh", others), request)
    return document, [f"{finding.given.name}: {finding.why}" for finding in findings if not finding.harmless]


def shapes(document: dict[str, Any]) -> list[tuple[str, int, int, str, int]]:
    """Return name, number, cores, memory and GPUs of each component."""
    return [
        (
            component["name"],
            component.get("total_count", 1),
            component["resources"]["cores"],
            component["resources"]["memory"],
            component["resources"].get("devices", {}).get("gpu", 0),
        )
        for component in document["components"]
    ]


def test_each_group_is_a_component_with_its_own_resources() -> None:
    document, refused = drafted("-N1 -n2 --mem=1G|hetjob|-N2 -n4 -c3 --mem-per-cpu=2G --gres=gpu:1 -J other")
    assert refused == []
    assert shapes(document) == [("main", 1, 2, "1024MiB", 0), ("group-1", 2, 6, "12288MiB", 1)]
    assert document["components"][0]["environment"]["ZOE_JOB_NODES"] == "{addresses:group-1.srun}"
    assert parse(document).components
    # Further nodes of the first group come before other groups' nodes, and each knows its number.
    document, _ = drafted("-N3|hetjob|-N2|hetjob|")
    assert shapes(document)[1:] == [
        ("node", 2, 1, "1024MiB", 0),
        ("group-1", 2, 1, "1024MiB", 0),
        ("group-2", 1, 1, "1024MiB", 0),
    ]
    assert [component["command"][6] for component in document["components"][1:]] == ["1", "3", "5"]
    assert parse(document).components


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "-n2 --mem=2G : -n8 -c2 job.sh"),
        ("-n2|packjob|-n8", "--mem=2G : -c2 job.sh"),
        ("-n2 --mem=2G|hetjob|-n7 -c2", "job.sh : -n8"),  # `:` after the script is its own
    ],
)
def test_options_of_the_command_win_group_by_group(lines: str, words: str) -> None:
    document, refused = drafted(lines, words)
    assert refused == []
    cores = 14 if words.startswith("job") else 16
    assert shapes(document) == [("main", 1, 2, "2048MiB", 0), ("group-1", 1, cores, "2048MiB", 0)]


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ("--time=5 -p a|hetjob|--time=5 -p b", []),
        ("--time=5|hetjob|--time=6", []),
        ("--time=5|hetjob|--time=4", ["time: it applies to the whole job; give it in the first group"]),
        ("-n1|hetjob|--time=4", ["time: it applies to the whole job; give it in the first group"]),
        ("-o a|hetjob|-o b", ["output: it applies to the whole job; give it in the first group"]),
        ("-n1|hetjob|-C big", ["constraint: Zoe has no equivalent"]),
        ("-a 1-3|hetjob|-n2", ["array: Slurm has no arrays of heterogeneous jobs"]),
    ],
)
def test_impossible_group_option_is_refused(lines: str, refused: list[str]) -> None:
    assert drafted(lines)[1] == refused
