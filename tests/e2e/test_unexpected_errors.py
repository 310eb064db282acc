"""An error that no code expected, here of a plugin's back-end: the master starts anew, and all work is done once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api import Api
from tests.support.documents import job
from tests.support.installation import Installation
from tests.support.plugins import install
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.plugins import installed_plugins

CODE = '''
from pathlib import Path
from zoe_master.backends.base import BackendUnavailable
from zoe_master.backends.factory import local_backend

def flaky(settings, waker):
    """The local back-end, whose observation fails as often as a file has lines."""
    made, failures = local_backend(settings, waker), Path(settings.backend_options["failures"])
    observe = made.observe

    def observed():
        left = failures.read_text().splitlines()
        if left:
            failures.write_text("\\n".join(left[1:]))
            raise LookupError(left[0])
        return observe()

    made.observe = observed
    return made

def late(settings, waker):
    """The local back-end, which cannot be reached as often as the file has lines."""
    failures = Path(settings.backend_options["failures"])
    left = failures.read_text().splitlines()
    if left:
        failures.write_text("\\n".join(left[1:]))
        raise BackendUnavailable(left[0])
    return local_backend(settings, waker)
'''


@pytest.fixture
def failures(tmp_path: Path) -> Path:
    file = tmp_path / "failures"
    file.write_text("")
    return file


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "acme_code.py").write_text(CODE)
    install(tmp_path, "acme", {"zoe.backends": {name: f"acme_code:{name}" for name in ("flaky", "late")}})
    monkeypatch.syspath_prepend(str(tmp_path))
    installed_plugins.cache_clear()
    yield tmp_path
    installed_plugins.cache_clear()


@pytest.fixture
def installation(postgres_url: str, failures: Path) -> Iterator[Installation]:
    made = Installation(postgres_url, forked=False, backend_options={"failures": str(failures)})
    yield made
    made.close()


def test_a_master_starts_anew_after_an_unexpected_error(
    installation: Installation, postgres_url: str, site: Path, failures: Path
) -> None:
    api = Api(postgres_url, keys_dir=installation.keys_dir, master_endpoint=installation.endpoint)
    client = api.client(installation.token, patience_s=60.0)
    master = installation.start_master(PYTHONPATH=str(site), ZOE_BACKEND="flaky")
    installation.until_leading()
    script = "echo main-{index} >> {workspace}/{execution}; sleep 2"
    running = client.submit(job("sh", "-c", script))
    until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
    failures.write_text("first\nsecond")
    waiting = client.submit(job("sh", "-c", script))
    for execution in (running, waiting):
        assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
        assert installation.ran(execution.id) == ["main-0"]
    log = installation.log("master")
    assert log.count('"event": "leading"') == 3
    assert "LookupError: second" in log
    assert installation.stop(master) == 0
    api.close()


def test_a_master_waits_for_a_back_end_that_does_not_answer_yet(
    installation: Installation, postgres_url: str, site: Path, failures: Path
) -> None:
    """As when it takes the lead while the manager of a swarm is restarted."""
    failures.write_text("nobody there\nstill nobody")
    api = Api(postgres_url, keys_dir=installation.keys_dir, master_endpoint=installation.endpoint)
    client = api.client(installation.token, patience_s=60.0)
    master = installation.start_master(PYTHONPATH=str(site), ZOE_BACKEND="late")
    submitted = client.submit(job("true"))
    assert client.wait(submitted.id, 60).state is ExecutionState.SUCCEEDED
    assert installation.log("master").count("cannot reach the back-end; this master gives up the lead") == 2
    assert installation.stop(master) == 0
    api.close()
