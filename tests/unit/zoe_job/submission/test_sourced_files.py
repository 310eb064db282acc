"""Calls in files that a script reads."""

from __future__ import annotations

import pytest

from zoe_job.submission.script_lines import ScriptLines
from zoe_job.submission.sourced_files import DEPTH_MAX, FILES_MAX, add_calls, sourced_paths

REFUSED = "there is no sinfo in a job"


def found(script: str, files: dict[str, str], directory: str | None = None) -> ScriptLines:
    lines = ScriptLines()
    add_calls(lines, f"#!/bin/bash\n{script}\n", directory, files.get)
    return lines


@pytest.mark.parametrize(
    "line",
    [
        "source lib.sh",
        ". ./lib.sh",
        "source 'lib.sh' a b",
        '. "lib.sh"; true',
        "f() { . lib.sh; }",
        "if true; then source lib.sh; fi",
        "bash <<EOF\n. lib.sh\nEOF",
        "source $HOME/lib.sh",
        "source ~/lib.sh",
        "cd $SLURM_SUBMIT_DIR\n. lib.sh",
        "cd $SLURM_SUBMIT_DIR; . ./lib.sh",
    ],
)
def test_a_call_in_a_sourced_file_is_named_with_file_and_line(line: str) -> None:
    [(number, text, why)] = found(line, {"lib.sh": "# sinfo\ntrue\nf() { sinfo -h; }\n"}).refused
    assert (number, text, why) == (line.count("\n", 0, line.find("lib.sh")) + 2, "lib.sh, line 3: sinfo -h", REFUSED)


@pytest.mark.parametrize(
    "line",
    [
        "source $LIB/lib.sh",
        "source /opt/lib.sh",
        "source ../lib.sh",
        "cd elsewhere && . ./lib.sh",
        "cd elsewhere\nsource lib.sh",
        "echo source lib.sh",
        "echo '; source lib.sh'",
        "# source lib.sh",
        "cat <<EOF\nsource lib.sh\nEOF",
        "./lib.sh",
    ],
)
def test_other_lines_read_no_file_of_the_workspace(line: str) -> None:
    assert found(line, {"lib.sh": "sinfo", "../lib.sh": "sinfo", "/opt/lib.sh": "sinfo"}).refused == []


def test_paths_begin_in_the_directory_of_the_job_also_in_sourced_files() -> None:
    files = {"run/lib/a.sh": "source lib/b.sh", "run/lib/b.sh": "\nsinfo", "lib/b.sh": "sbcast"}
    assert [text for _, text, _ in found("source lib/a.sh", files, "run").refused] == ["run/lib/b.sh, line 2: sinfo"]
    assert found("source lib/a.sh", files, "/data").refused == []


def test_calls_that_ask_the_api_are_found() -> None:
    assert found("true\n. lib.sh", {"lib.sh": "squeue -h"}).api_calls == [(3, "lib.sh, line 1: squeue -h")]


def test_a_name_that_the_file_defines_passes() -> None:
    assert found(". lib.sh", {"lib.sh": "sinfo() { true; }\nsinfo"}).refused == []


def test_files_that_read_each_other_are_read_once() -> None:
    files = {"a": ". ./b\nsinfo", "b": ". ./a\n. ./b\nsinfo"}
    assert [text for _, text, _ in found(". ./a", files).refused] == ["a, line 2: sinfo", "b, line 3: sinfo"]


def test_depth_and_number_of_files_are_bounded() -> None:
    deep = {f"{number}": f". ./{number + 1}\nsinfo" for number in range(DEPTH_MAX + 3)}
    assert len(found(". ./0", deep).refused) == DEPTH_MAX
    many = {f"{number}": "sinfo" for number in range(FILES_MAX + 3)}
    assert len(found("\n".join(f". ./{name}" for name in many), many).refused) == FILES_MAX


def test_the_search_ends_for_a_script_of_many_lines() -> None:
    assert len(list(sourced_paths("source lib.sh\n" * 10_000, None))) == 10_000
