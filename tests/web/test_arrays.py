"""Arrays in a real browser, over real processes."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.documents import document, part
from tests.support.web import Visitor
from zoe_client import Client


def test_failed_index_is_found_and_run_again(admin: Visitor, client: Client) -> None:
    """Index 2 fails in its first run."""
    script = (
        'if [ "$ZOE_ARRAY_INDEX" = 2 ] && [ "$ZOE_EXECUTION_ID" = "$ZOE_ARRAY_ID"_2 ]; then exit 3; fi; echo {index}'
    )
    main = part("main", ends_application=True, command=["sh", "-c", script])
    array = client.arrays.submit(document(main, name="sweep"), "0-3%2")
    failed = client.arrays.wait(array.id, 60)
    assert {state.value: text for state, text in failed.ranges.items()} == {"succeeded": "0-1,3", "failed": "2"}
    execution = client.execution(f"{array.id}_3")
    assert b"".join(client.follow_logs(execution.id, execution.services[0].id)) == b"3\n"
    page = admin.open("/executions")
    row = page.get_by_role("region", name="Arrays").get_by_role("row").filter(has_text="sweep")
    expect(row).to_contain_text("4 of 4")
    expect(row).to_contain_text("3 succeeded, 1 failed")
    row.get_by_role("link", name="sweep").click()
    expect(page.get_by_role("region", name="Progress")).to_contain_text("0-1,3")
    expect(page.get_by_role("region", name="Failed indices").get_by_role("row").nth(1)).to_contain_text("3")
    assert admin.violations() == []
    steps = admin.open(f"/executions/{execution.id}/steps").get_by_role("region", name="All steps")
    expect(steps.get_by_role("row").nth(1)).to_contain_text("submitted")
    expect(steps).to_contain_text(f"{execution.services[0].name} started")
    page = admin.open(f"/arrays/{array.id}")
    page.get_by_role("button", name="Run 1 again").click()
    expect(page.get_by_role("status").first).to_contain_text("4 succeeded", timeout=30_000)
    assert client.arrays.array(array.id).run == 2
    succeeded = page.get_by_role("region", name="Succeeded indices")
    expect(succeeded.get_by_role("link", name=f"{array.id}_3")).to_be_visible()
    page.get_by_role("link", name="Clone and edit").click()
    expect(page.get_by_role("textbox", name="Array")).to_have_value("0-3%2")
    held = client.arrays.submit(document(main, name="later"), "0-99", hold=True)
    page = admin.open(f"/arrays/{held.id}")
    expect(page.get_by_text("It is held.")).to_be_visible()
    some = page.get_by_role("form", name="Cancel indices")
    some.get_by_label("Indices").fill("3-5,9")
    page.on("dialog", lambda dialog: dialog.accept())
    some.get_by_role("button", name="Cancel these indices").click()
    expect(page.get_by_role("status").first).to_contain_text("4 cancelled")
    assert client.arrays.array(held.id).ranges["cancelled"] == "3-5,9"
    some.get_by_label("Indices").fill("3-")
    some.get_by_role("button", name="Cancel these indices").click()
    expect(some.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the array").click()
    expect(page.get_by_role("status").first).to_contain_text("100 cancelled")
