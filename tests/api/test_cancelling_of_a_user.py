"""An operator cancels all of a user, in every tenant."""

from __future__ import annotations

from typer.testing import CliRunner

from tests.support.api import Api
from tests.support.documents import job
from tests.support.people import make_token
from zoe_cli.main import app
from zoe_lib.domain.executions.execution import ExecutionState


def test_all_of_a_user_is_cancelled_by_an_operator_and_nothing_of_others(api: Api) -> None:
    ada, elsewhere = api.client(), api.client(make_token(api.store, "ada", "blue"))
    bob = api.client(make_token(api.store, "bob"))
    theirs = [ada.submit(job()).id, elsewhere.submit(job()).id, ada.arrays.submit(job(), "0-3").id]
    other = bob.submit(job()).id
    done = CliRunner().invoke(app, ["--url", api.url, "--token", api.admin, "cancel", "--user", "ada"])
    assert done.exit_code == 0, done.output
    assert {*done.output.split()} >= {*theirs}
    assert elsewhere.execution(theirs[1]).state is ExecutionState.CANCELLED
    assert bob.execution(other).state is ExecutionState.SUBMITTED
    assert CliRunner().invoke(app, ["--url", api.url, "--token", api.admin, "cancel", "--user", "ada"]).exit_code == 0
    unknown = CliRunner().invoke(app, ["--url", api.url, "--token", api.admin, "cancel", "--user", "nosuch"])
    assert (unknown.exit_code, "no user nosuch" in unknown.output) == (3, True)
    refused = CliRunner().invoke(app, ["--url", api.url, "--token", api.token, "cancel", "--user", "bob"])
    assert refused.exit_code != 0
    assert bob.execution(other).state is ExecutionState.SUBMITTED
