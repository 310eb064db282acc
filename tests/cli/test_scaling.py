"""A component that reports its backlog is scaled on a real stack, and settles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import document, part
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_client import Client, InvalidDescription
from zoe_client.vocabulary import ServiceState
from zoe_embedded.stack import Stack

TELLS = """
import http.server, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(pathlib.Path("left").read_bytes())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
"""


def told(**scaling: Any) -> dict[str, Any]:
    return document(
        part("main", "sleep", "600", ends_application=True),
        part(
            "worker",
            *("python3", "{files}/tells.py", "{port:http}"),
            files={"tells.py": TELLS},
            work_dir="{workspace}",
            ports=[{"name": "http", "number": 8000, "protocol": "http"}],
            scaling={"maximum": 4, "port": "http", "interval_s": 1, "calm_s": 1, **scaling},
        ),
        name="scaled",
    )


def test_the_number_of_workers_follows_what_one_tells(stack: Stack, tmp_path: Path) -> None:
    left = stack.home.workspaces / "default" / "admin" / "left"
    with Client(stack.url, stack.token) as client:
        try:
            (tmp_path / "left").write_text('{"backlog": 25}')
            client.files.upload(tmp_path / "left", "left")
            assert left.exists()
            run = client.run(told(per_instance=10))

            def workers() -> int:
                services = run.refresh().view.services
                return sum(
                    service.name.startswith("worker") and service.state is ServiceState.READY for service in services
                )

            until(lambda: workers() == 3, run.output)
            (tmp_path / "left").write_text("1000000")
            client.files.upload(tmp_path / "left", "left")
            until(lambda: workers() == 4, run.output)
            (tmp_path / "left").write_text("nothing")
            client.files.upload(tmp_path / "left", "left")
            (tmp_path / "left").write_text("0")
            client.files.upload(tmp_path / "left", "left")
            until(lambda: workers() == 1, run.output)
            scaled = [event for event in client.events(run.id).events if event.kind == "scaled"]
            assert [event.data["total_counts"] for event in scaled] == [{"worker": 3}, {"worker": 4}, {"worker": 1}]
            assert scaled[0].data["why"] == "25 to do, 10 for each instance"
        finally:
            cancel_all(client)


@pytest.mark.parametrize(
    ("scaling", "said"),
    [
        ({"cpu": 0.5}, "exactly one of"),
        ({"port": "web"}, "no port 'web'"),
        ({"minimum": 9}, "less than the 9"),
        ({"maximum": 10**9}, "10000"),
        ({"path": "no"}, "path"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(stack: Stack, scaling: dict[str, Any], said: str) -> None:
    with Client(stack.url, stack.token) as client, pytest.raises(InvalidDescription) as refused:
        client.validate(told(**scaling))
    assert any(said in error.message or said in error.pointer for error in refused.value.problem.errors)
