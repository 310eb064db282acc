"""Executions as rows and lines."""

from __future__ import annotations

from typing import cast

from zoe_cli.commands.words.views import instances_text, is_short_of_instances, left_files_text, ready_text
from zoe_client.quick.plain import Execution, Summary


def test_left_files_are_shown_by_service() -> None:
    services = [
        {"name": "main-0", "left_files": "model.bin (3 KiB)"},
        {"name": "worker-0", "left_files": ""},
        {"name": "old-0"},
    ]
    [told] = left_files_text(cast(Execution, {"services": services}))
    assert told == "scratch directory of main-0 with model.bin (3 KiB); keep files in the workspace"


def test_instances_are_shown_with_the_preferred_number_while_it_runs() -> None:
    counts = [{"component": "worker", "given": 2, "preferred": 3, "total": 4}]
    running = cast(Execution, {"state": "running", "instances": counts})
    assert list(instances_text(running)) == [("instances", "worker 2 of 4, preferred 3")]
    assert is_short_of_instances(running)
    assert not list(instances_text(cast(Execution, {**running, "state": "succeeded"})))
    assert not is_short_of_instances(cast(Execution, {**running, "instances": [{**counts[0], "given": 3}]}))
    assert not list(instances_text(cast(Execution, {"state": "running"})))


def test_a_line_of_the_list_names_the_preferred_number() -> None:
    counts = {"core_ready": 1, "core_total": 1, "elastic_ready": 1, "elastic_total": 3}
    row = cast(Summary, {**counts, "state": "running", "elastic_preferred": 2})
    assert ready_text(row) == "1/1+1/3 (preferred 2)"
    assert ready_text(cast(Summary, {**row, "elastic_preferred": None})) == "1/1+1/3"
    assert ready_text(cast(Summary, {**row, "state": "succeeded"})) == "1+3"
