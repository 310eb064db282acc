"""A job that fails where it reads through a view has one plain try for that: by real master, controller and Swift."""

from __future__ import annotations

from tests.storage.test_views import meters
from tests.support.documents import job
from tests.support.installation import Installation
from tests.support.object_store import logged_in
from tests.support.whole_storage import Whole
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_lib.domain.executions.execution import ExecutionState, Mark

READS_PLAIN_OBJECTS_ONLY = 'if grep -q zoe-view- "$ZOE_INPUTS"; then exit 7; fi'
ROWS = 40_000


def test_a_job_without_retries_reads_plainly_after_it_failed_through_a_view_and_its_user_is_told(
    installation: Installation, client: Client, whole: Whole
) -> None:
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", meters(1, ROWS)[0])
    key = whole.store.user("acme:ann").key
    client.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
    installation.start_master()
    pushdown = {"columns": ["id"], "where": "city = 'Nice' and kwh > 90"}
    inputs = [{"name": "meters", "uri": "swift2d://meters.zoe/2015", "pushdown": pushdown}]
    application = job("sh", "-c", READS_PLAIN_OBJECTS_ONLY, retries=0, storage={"inputs": inputs})
    told = client.wait(client.submit(application).id, 120)
    decided = [event for event in client.events(told.id).events if event.kind == "inputs_decided"]
    assert (told.state, told.attempt) == (ExecutionState.SUCCEEDED, 2), decided
    assert Mark.VIEW_FAILED in told.marks
    first, second = (event.data["inputs"][0] for event in decided)
    assert first["view"], first["why"]
    assert second["uri"] == "swift2d://meters.zoe/2015"
    assert second["why"].endswith("that attempt does not count as one of its retries")
