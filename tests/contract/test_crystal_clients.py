"""Requests and lists of Crystal's clients, by their sources.

Requests are those of Crystal's dashboard (github.com/Crystal-SDS/dashboard, commit d4c1f78: api/policies.py,
api/filters.py and the forms of policies/bw_slos, whose fields are texts), rows those of its controller
(github.com/Crystal-SDS/controller, commit a08ec9d: policies/views.py; 8a6405e: bw/views.py), which keeps any value as
the sent text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from storage_bridge.crystal_controller import CrystalController
from storage_bridge.crystal_dialects import AppendixDialect, LaterDialect
from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import BandwidthSlo
from storage_controller.dialects import SpokenDialect
from tests.support.storage_controller import MB, Served, served_controller


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


def test_the_form_of_an_slo_of_the_later_dashboard_makes_changes_and_removes_it(served: Served) -> None:
    target = "a59dad0a#0"
    with served.http() as http:
        for name in ("get_bw", "put_bw"):
            form = {"dsl_filter": "bandwidth", "slo_name": name, "target": target, "value": "30"}
            assert http.post("/policies/slos", json=form).status_code == 201
        path = "/policies/slo/bandwidth/get_bw/a59dad0a%230"
        assert http.get(path).json()["value"] == 30
        assert http.put(path, json={"value": " 40 "}).status_code == 201
        found = {row["slo_name"]: row["value"] for row in http.get("/policies/slos").json()}
        assert found == {"get_bw": 40, "put_bw": 30}
        for name in found:
            assert http.delete(f"/policies/slo/bandwidth/{name}/a59dad0a%230").status_code == 204
        assert http.get("/policies/slos").json() == []


def test_the_forms_of_an_sla_of_the_first_dashboard_make_and_change_it(served: Served) -> None:
    with served.http() as http:
        sla = {"project_id": "0123456789abcdef", "policy_id": "4", "bandwidth": "40"}
        assert http.post("/bw/slas", json=sla).status_code == 201
        assert http.get("/bw/sla/0123456789abcdef:4").json()["bandwidth"] == 40
        assert http.put("/bw/sla/0123456789abcdef:4", json={"bandwidth": "50"}).status_code == 201
        assert [row["bandwidth"] for row in http.get("/bw/slas").json()] == [50]


def test_dependency_requests_deploy_no_filter(served: Served) -> None:
    with served.http() as http:
        http.post("/filters/", json={"dsl_name": "f7"})
        assert http.get("/filters/dependencies").json() == []
        for method, path, body, status in (
            ("PUT", "/filters/dependencies/a59dad0a/deploy/f7", None, 404),
            ("PUT", "/filters/dependencies/a59dad0a/undeploy/f7", None, 404),
            ("PUT", "/filters/dependencies/f7", {"version": "2", "permissions": "0755"}, 404),
            ("DELETE", "/filters/dependencies/f7", None, 204),
            ("GET", "/filters/dependencies/a59dad0a/deploy", None, 404),
        ):
            answer = http.request(method, path, json=body)
            assert answer.status_code == status, path
        assert http.put("/filters/dependencies/f7/data", files={"file": b"x"}).status_code == 404
        assert http.get("/policies/static").json() == []
        assert http.get("/filters").json() == [{"dsl_name": "f7"}]


def sla(project: object, policy: object, bandwidth: object) -> dict[str, object]:
    return {
        "project_id": project,
        "project_name": "x",
        "policy_id": policy,
        "policy_name": None,
        "bandwidth": bandwidth,
    }


def slo(target: object, name: str, value: object, of: str = "bandwidth") -> dict[str, object]:
    return {"dsl_filter": of, "slo_name": name, "target": target, "value": value}


APPENDIX = ("/bw/slas", [sla("a", "zoe", "30"), sla("b", "zoe", None), sla("c", "2", "20.5"), sla("d", "3", 10)])
LATER = (
    "/policies/slos",
    [
        *(slo("a#zoe", name, "30") for name in ("get_bw", "put_bw")),
        *(slo("AUTH_c#0", name, "20.5") for name in ("get_bw", "put_bw", "ssync_bw")),
        *(slo("d#3", name, 10) for name in ("get_bw", "put_bw")),
        slo("a#zoe", "get_bw", "7", of="caching"),
    ],
)
ODD_VALUES: list[Any] = ["", "fast", "-5", "nan", "1e400", None, True, [], {"value": 5}]
ODD_SLAS: list[object] = [None, 5, "x", [], {}, *(sla("e", "5", value) for value in ODD_VALUES)]
ODD_SLOS: list[object] = [None, 5, "x", [], {}, *(slo("e#5", "get_bw", value) for value in ODD_VALUES)]


@pytest.mark.parametrize("dialect", [AppendixDialect, LaterDialect])
def test_rows_are_texts_and_those_that_cannot_be_read_are_passed_by_and_logged_once(
    dialect: type[AppendixDialect | LaterDialect], caplog: pytest.LogCaptureFixture
) -> None:
    path, rows = APPENDIX if dialect is AppendixDialect else LATER
    listed: list[Any] = []
    with listing(path, listed) as url:
        settings = ControllerSettings(url, "t", "zoe", BandwidthSlo(100 * MB, 100 * MB))
        for odd in ODD_SLAS if dialect is AppendixDialect else ODD_SLOS:
            caplog.clear()
            listed[:] = [odd, *rows]
            line = ControllerHttp(settings)
            controller = CrystalController(line, settings, dialect(line, "zoe"))
            for _ in range(2):
                assert dict(controller.slos()) == {"a": BandwidthSlo(30 * MB, 30 * MB)}, odd
                capacity = controller.capacity()
                promised = (capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
                assert promised == (60_500_000, 60_500_000), odd
            warned = [record for record in caplog.records if record.levelno == logging.WARNING]
            without_an_slo = isinstance(odd, dict) and odd.get("bandwidth", "") is None
            assert len(warned) == (0 if without_an_slo else 1), odd


@contextmanager
def listing(path: str, rows: list[Any]) -> Iterator[str]:
    """A controller that answers one path, with these rows."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(rows).encode()
            self.send_response(200 if self.path == path else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("dialect", "answered", "not_answered"),
    [
        (
            SpokenDialect.APPENDIX,
            ("/bw/slas", "/registry/gtenants", "/filters"),
            ("/policies/slos", "/projects/groups"),
        ),
        (SpokenDialect.LATER, ("/policies/slos", "/projects/groups", "/filters/"), ("/bw/slas", "/registry/gtenants")),
    ],
)
def test_a_client_finds_the_one_dialect_that_is_answered(
    postgres_url: str, dialect: SpokenDialect, answered: tuple[str, ...], not_answered: tuple[str, ...]
) -> None:
    """Our own client, too, which asks for `/policies/slos` as Crystal's do."""
    with served_controller(postgres_url, dialect=dialect) as served, served.http() as http:
        assert [http.get(path).status_code for path in answered] == [200] * len(answered)
        assert [http.get(path).status_code for path in not_answered] == [404] * len(not_answered)
        assert http.get("/v1/capacity").status_code == 200
        assert http.get("/swift/storage_policies").status_code == 503, "its Swift is away"
