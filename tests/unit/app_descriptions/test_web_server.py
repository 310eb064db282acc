"""The web server of the catalogue: files of a workspace, and none that is hidden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.runtime import CLONE

DESCRIPTION = json.loads((CLONE / "app_descriptions" / "web-server.json").read_text())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[httpx.Client]:
    program, root = tmp_path / "serve.py", tmp_path / "workspace"
    program.write_text(DESCRIPTION["components"][0]["files"]["serve.py"])
    (root / "data").mkdir(parents=True)
    (root / ".ssh").mkdir()
    for name in ("page.txt", "data/a <b>.txt", ".ssh/key", "data/.zoe-note"):
        (root / name).write_text(f"the text of {name}")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).write_text("")
    (root / "link").symlink_to(".ssh")
    with HeldPorts(1) as held:
        [port] = held.numbers
        process = subprocess.Popen([sys.executable, program, "127.0.0.1", str(port), root])
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
                until(lambda: _answers(client))
                yield client
        finally:
            process.kill()
            process.wait()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/").is_success
    except httpx.ConnectError:
        return False


def test_it_serves_and_lists_what_is_not_hidden(served: httpx.Client) -> None:
    found = {path: served.get(path).text for path in ("/page.txt", "/data/a%20%3Cb%3E.txt", "/data/")}
    assert found["/page.txt"] == "the text of page.txt"
    assert found["/data/a%20%3Cb%3E.txt"] == "the text of data/a <b>.txt"
    assert '<a href="./a%20%3Cb%3E.txt">a &lt;b&gt;.txt</a>' in found["/data/"]
    listed = served.get("/").text
    assert ["page.txt" in listed, "%FF.txt" in listed, ".ssh" in listed, "link" in listed] == [True, True, False, False]
    assert ".zoe-note" not in found["/data/"]
    for path in (
        "/.ssh/key",
        "/%2essh/key",
        "/data/%2e%2e/.ssh/key",
        "/link/key",
        "/.ssh/",
        "/data/.zoe-note",
        "/absent",
    ):
        assert served.get(path).status_code == 404, path
