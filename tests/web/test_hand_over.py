"""An admin hands over what a user has who leaves, in a real browser."""

from __future__ import annotations

from contextlib import closing

from playwright.sync_api import expect

from tests.support.documents import job
from tests.support.people import make_token
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres.store import PostgresStore

WRITE = "echo hers > {workspace}/notes; exec sleep 600"


def test_executions_come_at_once_and_files_when_nothing_uses_them(admin: Visitor, stack: Stack, client: Client) -> None:
    with closing(PostgresStore(stack.database_url)) as store:
        tokens = [make_token(store, user, "default") for user in ("leaver", "heir")]
        store.accounts.ensure_member("onlooker", "default", Role.VIEWER)
    with Client(stack.url, tokens[0]) as leaver, Client(stack.url, tokens[1]) as heir:
        running = leaver.submit(job("sh", "-c", WRITE, name="hers"))
        notes = stack.home.workspaces / "default" / "leaver" / "notes"
        until(notes.exists)
        page = admin.open("/admin")
        page.get_by_role("button", name="hand over what leaver has").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("Secrets are not handed over")).to_be_visible()
        expect(dialog.get_by_label("To").locator("option")).to_have_text(["admin", "heir"])
        dialog.get_by_label("To").select_option("heir")
        give = dialog.get_by_role("button", name="Hand over to heir")
        give.click()
        said = dialog.get_by_role("status")
        expect(said).to_contain_text("Executions handed over: 1.")
        expect(said).to_contain_text(f"{running.id} still run as leaver")
        assert admin.violations() == []
        heir.cancel(running.id)
        until(lambda: heir.execution(running.id).state is ExecutionState.CANCELLED)
        give.click()
        expect(said).to_contain_text("The files are in from-leaver of heir's workspace.")
        assert (notes.parents[1] / "heir" / "from-leaver" / "notes").read_text() == "hers\n"
        dialog.get_by_role("button", name="Close").click()
        expect(page.get_by_role("row", name="leaver")).to_contain_text("disabled")
        events = admin.open(f"/executions/{running.id}/events")
        changed = events.get_by_role("row", name="owner changed")
        expect(changed).to_contain_text("user: heir")
        expect(changed).to_contain_text("former: leaver")
