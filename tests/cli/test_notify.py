"""notify, and run --notify, over the real API."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Zoe
from tests.cli.server import Server

URL = "https://hooks.example.org/7"


def test_targets_are_set_listed_and_removed(server: Server, zoe: Zoe) -> None:
    made = zoe("notify", "set", "chat", URL, "--on", "failed,started")
    assert (made.code, "whsec_" in made.err) == (0, True)
    again = zoe("notify", "set", "chat", URL, "--on", "asked")
    assert (again.code, "whsec_" in again.err) == (0, False)
    assert "whsec_" in zoe("notify", "set", "chat", URL, "--new-secret", "-o", "json").err
    [target] = zoe("notify", "ls", "-o", "json").json()["targets"]
    assert (target["name"], target["on"], target["secret"]) == ("chat", ["cancelled", "failed", "succeeded"], None)
    assert "not used yet" in zoe("notify", "ls").out
    assert zoe("notify", "rm", "chat").code == 0
    assert zoe("notify", "rm", "chat").code == 3


def test_invalid_target_or_event_is_refused(server: Server, zoe: Zoe) -> None:
    for url in ("http://hooks.example.org/", "https://10.0.0.1/", "mailto:ada@example.org", "chat"):
        assert zoe("notify", "set", "chat", url).code == 2, url
    wrong = zoe("notify", "set", "chat", URL, "--on", "finished")
    assert (wrong.code, "'finished' is none of submitted, started" in wrong.err) == (2, True)


def test_an_execution_asks_for_what_its_owner_is_told(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "--notify", "ended,started", "-o", "name").out.strip()
    notify = server.get(execution_id).application.notify
    assert list(notify) == ["cancelled", "failed", "started", "succeeded"]
    assert zoe("run", str(app_file), "--notify", "sometimes").code == 2
