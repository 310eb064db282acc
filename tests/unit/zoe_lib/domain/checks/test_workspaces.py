from __future__ import annotations

from tests.support.scheduling import component
from zoe_lib.domain.checks.workspaces import check_workspaces
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform

ASKING = component(
    command=("ls", "{workspace}/a"),
    environment=(("A", "{{workspace}}"), ("B", "{shared}:{workspace}:{workspace}")),
    work_dir="{shared}",
)


def test_each_text_is_found_that_names_a_missing_directory() -> None:
    found = list(check_workspaces(ASKING, Platform(capabilities=BackendCapabilities(workspaces=False))))
    assert [(finding.place, finding.message.partition(":")[0]) for finding in found] == [
        (("command", 1), "{workspace}"),
        (("environment", "B"), "{workspace}"),
        (("environment", "B"), "{shared}"),
        (("work_dir",), "{shared}"),
    ]
    assert {(finding.code, finding.certain) for finding in found} == {("no_workspaces", True)}
    assert list(check_workspaces(ASKING, Platform())) == []
