"""Programs that report progress, on a real stack: by a file, by a port, and with lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Zoe
from tests.support.documents import document, part
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_cli.commands.words.progress_words import progress_words
from zoe_client import Client, InvalidDescription
from zoe_client.running.handles import ExecutionHandle
from zoe_embedded.stack import Stack
from zoe_lib.descriptions import parse, to_document
from zoe_lib.domain.values.progress import ProgressProbe

TELLS = """
import http.server, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(pathlib.Path("far").read_bytes())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
"""


def by_file(command: str, path: str = "out/progress") -> dict[str, Any]:
    component = part(
        "main", "sh", "-c", command, work_dir="{workspace}", ends_application=True, progress={"file": path}
    )
    return document(component, name="tells")


def by_port(**progress: Any) -> dict[str, Any]:
    return document(
        part(
            "main",
            *("python3", "{files}/tells.py", "{port:http}"),
            files={"tells.py": TELLS},
            work_dir="{workspace}",
            ports=[{"name": "http", "number": 8000, "protocol": "http"}, {"name": "raw", "number": 8001}],
            readiness={"http": "http"},
            progress=progress or {"port": "http", "path": "/progress"},
        ),
        name="tells",
    )


def share(run: ExecutionHandle) -> float | None:
    progress = run.refresh().view.progress
    return None if progress is None else progress.share


def test_a_file_tells_how_far_it_is_until_the_end(stack: Stack, zoe: Zoe) -> None:
    with Client(stack.url, stack.token) as client:
        try:
            run = client.run(by_file("mkdir -p out; echo 0.25 > out/progress; while [ ! -e go ]; do sleep 0.1; done"))
            until(lambda: share(run) == 0.25, run.output)
            assert "25 %" in zoe("show", run.id).out
            listed = next(execution for execution in client.executions().executions if execution.id == run.id)
            assert listed.progress is not None
            assert (listed.progress.share, listed.progress.problem) == (0.25, "")
            assert "25 %" in zoe("ls").out
            (stack.home.workspaces / "default" / "admin" / "go").touch()
            run.wait()
            assert run.refresh().view.progress is None
        finally:
            (stack.home.workspaces / "default" / "admin" / "go").unlink(missing_ok=True)
            cancel_all(client)


def test_a_link_to_what_only_the_master_may_read_is_not_followed(stack: Stack) -> None:
    with Client(stack.url, stack.token) as client:
        try:
            run = client.run(by_file("mkdir -p out; echo 0.5 > out/progress; sleep 600"))
            until(lambda: share(run) == 0.5, run.output)
            out = stack.home.workspaces / "default" / "admin" / "out"
            (out / "progress").unlink()
            (out / "progress").symlink_to("/proc/uptime")

            def problem() -> str:
                progress = run.refresh().view.progress
                return "" if progress is None else progress.problem

            until(lambda: "reached by a link" in problem(), run.output)
            view = run.refresh().view.progress
            assert view is not None
            assert view.share == 0.5
            assert "progress not understood" in progress_words(view.model_dump())  # type: ignore[arg-type]
        finally:
            cancel_all(client)
            (stack.home.workspaces / "default" / "admin" / "out" / "progress").unlink(missing_ok=True)


def test_a_port_tells_how_far_it_is_and_lies_change_nothing(stack: Stack, tmp_path: Path) -> None:
    with Client(stack.url, stack.token) as client:

        def tell(text: str) -> None:
            (tmp_path / "far").write_text(text)
            client.files.upload(tmp_path / "far", "far")

        try:
            tell('{"progress": 0.5}')
            run = client.run(by_port())
            until(lambda: share(run) == 0.5, run.output)
            tell('{"progress": NaN}')
            until(lambda: (told := run.refresh().view.progress) and told.problem == "it is not a finite number")
            assert share(run) == 0.5
            tell("3 4")
            until(lambda: share(run) == 0.75, run.output)
            told = run.refresh().view.progress
            assert told is not None
            assert (told.text, told.problem) == ("3 of 4", "")
        finally:
            cancel_all(client)


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        ({"file": "a", "port": "http"}, "exactly one of 'file', 'port' and 'spark'"),
        ({"path": "/a"}, "exactly one of 'file', 'port' and 'spark'"),
        ({"port": "web"}, "no port 'web'"),
        ({"spark": "raw"}, "not an http port"),
        ({"file": "a", "path": "/x"}, "with 'port' only"),
        ({"file": "../a"}, "relative path"),
        ({"file": "/etc/passwd"}, "relative path"),
    ],
)
def test_a_probe_that_cannot_be_is_refused(stack: Stack, progress: dict[str, Any], said: str) -> None:
    with Client(stack.url, stack.token) as client, pytest.raises(InvalidDescription) as refused:
        client.validate(by_port(**progress))
    assert any(said in error.message or said in str(error.hint) for error in refused.value.problem.errors)


def test_only_one_component_tells_it(stack: Stack) -> None:
    two = by_port()
    two["components"].append({**two["components"][0], "name": "other"})
    with Client(stack.url, stack.token) as client, pytest.raises(InvalidDescription) as refused:
        client.validate(two)
    assert any("already reports the progress" in error.message for error in refused.value.problem.errors)


def test_a_document_is_the_same_again() -> None:
    for progress in ({"file": "a/b"}, {"port": "http", "path": "/x"}, {"spark": "http"}):
        application = parse(by_port(**progress))
        assert application.components[0].progress == ProgressProbe(**progress)
        assert parse(to_document(application)) == application
