"""An installation with people, what belongs to them, and marks in all of it that other people must not see."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.hostile.marks import Marks
from tests.hostile.values import Header
from tests.local.support import LocalWorld
from tests.support.api import Api
from tests.support.browser import Browser
from tests.support.documents import Document, document, part
from tests.support.jobs import token_of
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_client.wire import ExecutionView
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.system_users import SystemUsers

OURS, THEIRS, THIRD = "red", "mktenantofeve", "blue"
ASKERS = ("nobody", "user", "viewer", "other", "lister", "expired admin", "ended job", "job", "cookie alone")
OPERATORS = ("lister",)
V1 = "/api/v1"
EXECUTIONS_MAX = 200
Ids = dict[str, list[str]]


class World:
    """Ada of `red` and her neighbour, Eve of another tenant, and those who ask."""

    def __init__(self, database_url: str) -> None:
        services = {"zoe": {"url": "http://127.0.0.1:1/auth/v1.0", "region": "R"}}
        self.api = Api(database_url, storage_services=services, insecure=True)
        self._local = LocalWorld()
        users = SystemUsers(self.api.store.accounts, 450_001, 450_999)
        self.master = self.api.start_master(files_by=self._local.backend, system_users=users)
        self.eve, self.neil = Marks("another tenant's user"), Marks("another user of the tenant")
        self.eve.seen.update(tenant=THEIRS, user="mkuserofeve")
        self.owners: dict[str, Ids] = {
            "foreign": self._planted(self.eve, "mkuserofeve", THEIRS),
            "neighbour": self._planted(self.neil, "neil", OURS),
            "never": {"execution_id": ["x1m00000000none"], "service_id": ["x0-1"], "array_id": ["a00000000000000"]},
        }
        self.ada, self._admin = (
            Marks("ada"),
            self.api.http(make_token(self.api.store, "root", OURS, "admin", ALL_SCOPES)),
        )
        self._ada = self._client("ada", OURS)
        self.owners["ended"] = self._ended()
        self._bounded()
        self.headers = self._headers()
        self.renew()

    def known(self) -> Mapping[str, Callable[[], Any]]:
        """Return values of properties of bodies that their schemas do not say."""
        job, workflow = self._job("walk", "main"), self._workflow("walk", "main")
        return {
            "application": lambda: job,
            "document": lambda: job,
            "workflow": lambda: workflow,
            "executions": lambda: [{"application": job}],
            "indices": lambda: "0-2",
            "expression": lambda: "@daily",
            "scopes": lambda: ["read"],
            "url": lambda: "https://hooks.example.org/x",
            "after": lambda: [f"ok:{self.owners['foreign']['execution_id'][0]}"],
            "tenant": lambda: THEIRS,
            "from_s": lambda: time.time() - 60,
            "to_s": time.time,
        }

    def renew(self) -> None:
        """Give Ada things anew: she cancels and removes them as she goes, and fills her quota."""
        kept = (self._caller, *self.owners.get("own", {}).get("execution_id", ()))
        active = "submitted", "queued", "starting", "running"
        params = {"user": "ada", "state": list(active), "limit": EXECUTIONS_MAX}
        for entry in self._admin.get(f"{V1}/executions", params=params).raise_for_status().json()["executions"]:
            if entry["id"] not in kept:
                self._admin.post(f"{V1}/executions/{entry['id']}/cancel")
        self.owners["own"] = self._things(self._ada, self.ada, "main", OURS)

    def close(self) -> None:
        """End all."""
        self.api.close()
        self._local.finish()

    def _bounded(self) -> None:
        """Bound what a long run leaves in the queue."""
        _sent(self._admin, "PUT", "/admin/limits", {"amounts": {"executions": EXECUTIONS_MAX}, "tenant": OURS})

    def _client(self, user: str, tenant: str) -> httpx.Client:
        return self.api.http(make_token(self.api.store, user, tenant, "user", ("read", "submit")))

    def _planted(self, marks: Marks, user: str, tenant: str) -> Ids:
        """Give a user one of everything, with marks."""
        http = self._client(user, tenant)
        marks.private["token"] = http.headers["Authorization"].rpartition("_")[2]
        self.master.behaviours[marks.name("component")] = ServiceBehaviour(output=marks.name("output").encode())
        found = self._things(http, marks, marks.name("component"), tenant)
        with tempfile.TemporaryDirectory() as name:
            source = Path(name, "source")
            source.write_text(marks.secret("contents of a file"))
            self.api.client(found.pop("bearer")[0]).files.upload(source, marks.secret("name of a file"))
        return found

    def _things(self, http: httpx.Client, marks: Marks, component: str, tenant: str) -> Ids:
        job, name = self._job(marks.name("execution"), component, marks.name("variable")), marks.name("name")
        made = _sent(http, "POST", "/executions", {"application": job})
        array = _sent(http, "POST", "/arrays", {"application": job, "indices": "0-3", "hold": True})
        flow = self._workflow(marks.name("workflow"), component)
        workflow = _sent(http, "POST", "/workflows", {"document": flow})
        token = _sent(http, "POST", "/tokens", {"scopes": ["read"], "lifetime_s": 3600, "note": marks.secret("note")})
        _sent(http, "PUT", f"/secrets/{name}", {"value": marks.secret("value of a secret")})
        _sent(http, "PUT", f"/applications/{name}", {"document": job})
        _sent(http, "PUT", f"/schedules/{name}", {"expression": "@yearly", "document": job})
        url = f"https://hooks.example.org/{marks.secret('URL of a target')}"
        _sent(http, "PUT", f"/notifications/{name}", {"url": url})
        _sent(http, "PUT", "/storage/credentials/zoe", {"user": "someone", "key": marks.secret("key of the store")})
        until(lambda: self._view(http, made["id"]).state is ExecutionState.RUNNING)
        return {
            "execution_id": [made["id"]], "service_id": [made["services"][0]["id"]], "array_id": [array["id"]],
            "workflow_id": [workflow["id"]], "token_id": [token["id"]], "name": [name], "tenant": [tenant],
            "root": ["workspace", "shared"], "port": ["web"], "upload_id": ["0" * 32], "service": ["zoe"],
            "entry_id": ["batch"], "user": ["mkuserofeve", "neil", "ada"], "code": ["BCDF-GHJK"], "list_id": ["1"],
            "month": ["2026-01"], "number": ["1"], "provider": ["none"], "sha256": ["0" * 12],
            "bearer": [http.headers["Authorization"].partition(" ")[2]],
        }  # fmt: skip

    def _ended(self) -> Ids:
        made = _sent(self._ada, "POST", "/executions", {"application": self._job("ended", "main")})
        _sent(self._ada, "POST", f"/executions/{made['id']}/cancel", {})
        until(lambda: self._view(self._ada, made["id"]).state is ExecutionState.CANCELLED)
        return {"execution_id": [made["id"]], "service_id": [made["services"][0]["id"]]}

    def _headers(self) -> dict[str, Sequence[Header]]:
        store = self.api.store
        tokens = {
            "user": self._ada.headers["Authorization"].partition(" ")[2],
            "viewer": make_token(store, "vera", OURS, "viewer", ("read",)),
            "other": make_token(store, "mallory", THIRD, "user", ("read", "submit")),
            "lister": make_token(store, "oscar", OURS, "operator", ("read",)),
            "expired admin": make_token(store, "root", OURS, "admin", ALL_SCOPES, lifetime_s=-60.0),
            "ended job": token_of(self.api, self.owners["ended"]["execution_id"][0]),
            "job": self._job_token(),
        }
        browser = Browser(self.api, "ben")
        browser.sign_in()
        cookie = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
        bearers = {name: ((b"Authorization", f"Bearer {token}".encode()),) for name, token in tokens.items()}
        return {"nobody": (), "cookie alone": ((b"Cookie", cookie.encode()),), **bearers}

    def _job_token(self) -> str:
        made = _sent(self._ada, "POST", "/executions", {"application": self._job("caller", "main")})
        until(lambda: self._view(self._ada, made["id"]).state is ExecutionState.RUNNING)
        self._caller = str(made["id"])
        return token_of(self.api, self._caller)

    def _view(self, http: httpx.Client, execution_id: str) -> ExecutionView:
        return ExecutionView.model_validate_json(http.get(f"{V1}/executions/{execution_id}").raise_for_status().text)

    def _job(self, name: str, component: str, variable: str = "x") -> Document:
        ports = [{"name": "web", "number": 8080, "protocol": "http", "proxied": True}]
        resources = {"memory": "1MiB", "cores": 0.001}
        made = part(
            component, "serve", ends_application=True, ports=ports, resources=resources, environment={"A": variable}
        )
        return document(made, name=name)

    def _workflow(self, name: str, component: str) -> Document:
        step = {"name": "first", "application": self._job(name, component)}
        return {"version": 1, "name": name, "steps": [step, {**step, "name": "second", "needs": ["first"]}]}


def _sent(http: httpx.Client, method: str, path: str, body: Document) -> Any:
    answer = http.request(method, f"{V1}{path}", json=body)
    assert answer.is_success, (method, path, answer.text)
    return answer.json() if answer.content else None
