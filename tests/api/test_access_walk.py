"""A random walk of users through all operations on their own, their tenant's, foreign and missing objects.

The expected results come from docs/operate/people.md and docs/operate/security.md, independent of the code: the scope
of each operation, and what each user sees. It prints its seed; ZOE_PROPERTY_CHECKS makes it longer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.checks import of_checks
from tests.support.documents import Document, document, part
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from zoe_api.http.request_context import PREFIX
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.volumes import BlockVolume
from zoe_lib.store.errors import NameTaken

PRICES = {"currency": "EUR", "from": "2026-01-01", "rates": [{"meter": "core_hours", "rate": "1"}]}
DENIED = {"scope_missing", "role_missing", "not_admin"}
STEPS = of_checks(0.2, 30_000)
OURS, THEIRS = "red", "hidden-tenant"
STRANGER, STRANGE_NAME, STRANGE_NOTE = "hidden-user", "hidden-name", "hidden-note"
SCOPES = {
    "viewer": {"read"},
    "user": {"read", "submit"},
    "operator": {"read", "submit", "operate"},
    "admin": {"read", "submit", "operate", "admin"},
}
READ_BY_POST = {
    "/validate", "/plan", "/convert", "/catalogue/{entry_id}/fill", "/session/password", "/session/tenant",
    "/session/machines/{code}", "/workflows:validate", "/workflows:plan", "/arrays:plan", "/storage/try",
}  # fmt: skip
ADMIN = {("GET", "/storage/rules"), ("POST", "/storage/rules"), ("DELETE", "/storage/rules/{number}")}
ADMIN |= {("GET", "/storage/rewrites"), ("POST", "/storage/rewrites"), ("DELETE", "/storage/rewrites/{number}")}
ADMIN |= {("POST", "/storage/rewrites/{number}/resume"), ("PUT", "/storage/rules/{number}/filters/{name}")}
ADMIN |= {("POST", "/storage/rules/{number}/restore")}
ADMIN |= {("DELETE", "/storage/filters/{name}/versions/{sha256}")}
ADMIN |= {("GET", "/storage/slos"), ("PUT", "/storage/slos/{tenant}"), ("DELETE", "/storage/slos/{tenant}")}
ADMIN |= {("GET", "/storage/metrics"), ("POST", "/storage/metrics/{name}"), ("DELETE", "/storage/metrics/{name}")}
ADMIN |= {("GET", "/storage/controllers"), *((method, "/storage/controllers/{name}") for method in ("GET", "PUT"))}
ADMIN |= {("GET", "/storage/cores"), ("PUT", "/storage/cores/{tenant}"), ("DELETE", "/storage/cores/{tenant}")}
ADMIN |= {("GET", "/storage/nodes"), ("POST", "/storage/nodes/{name}/restart")}
OPERATE = {("PUT", "/policy"), ("POST", "/policy/dry-run"), ("POST", "/replays"), ("GET", "/usage/over-time")}
OPERATE |= {("POST", "/nodes/loss")}
OPEN = {
    ("POST", "/session"), ("DELETE", "/session"), ("GET", "/session/providers"), ("GET", "/session/oidc/start"),
    ("GET", "/session/oidc/callback"), ("GET", "/session/oidc/callback/{provider}"),
    ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"),
    ("POST", "/session/machines"), ("POST", "/session/machine-token"),
}  # fmt: skip
# These need browser sessions, which the walk does not have.
OF_SESSIONS = {
    ("GET", "/session"), ("PUT", "/session/password"), ("PUT", "/session/tenant"),
    ("GET", "/session/machines/{code}"), ("PUT", "/session/machines/{code}"),
}  # fmt: skip


def wanted(method: str, path: str) -> str | None:
    """Return the scope that an operation needs, by the rules in docs/operate/people.md; None: open to all."""
    if (method, path) in OPEN:
        return None
    if path.startswith("/admin/") or (method, path) in ADMIN:
        return "admin"
    if (method, path) in OPERATE:
        return "operate"
    if method == "GET" or path in READ_BY_POST or path == "/tokens/{token_id}":
        return "read"
    return "submit"


@dataclass(frozen=True)
class Person:
    """A caller: a role in a tenant; None: without a token."""

    name: str
    tenant: str
    role: str | None
    http: httpx.Client

    def may(self, scope: str | None) -> bool:
        return scope is None or (self.role is not None and scope in SCOPES[self.role])


@dataclass(frozen=True)
class Thing:
    """An object, with its creator and tenant; None: it does not exist."""

    fields: dict[str, str]
    tenant: str | None
    user: str | None = None


class Walk:
    """The installation of the walk: three members of each role in our tenant, and one of another tenant."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api, self.random = api, random.Random(seed)
        self.operations = sorted(
            (method.upper(), path.removeprefix(PREFIX))
            for path, methods in api.app.openapi()["paths"].items()
            for method in methods
            if method != "head"  # its answers have no code
        )
        self.people = [
            *(self._person(f"{role}-{tenant}", tenant, role) for role in SCOPES for tenant in (OURS, THEIRS)),
            Person("nobody", "", None, api.http(None)),
        ]
        self._person(STRANGER, THEIRS, "user")
        self.executions = [self._execution(OURS, "user-red", "ours"), self._execution(THEIRS, STRANGER, STRANGE_NAME)]
        self.arrays = [self._array(OURS, "user-red", "ours"), self._array(THEIRS, STRANGER, STRANGE_NAME)]
        self.workflows = [self._workflow(OURS, "user-red", "ours"), self._workflow(THEIRS, STRANGER, STRANGE_NAME)]
        self.missing = 0.3
        self.seen: set[tuple[str, str, int]] = set()
        self.refusals: dict[str, str] = {}  # the last one of each operation
        self.began_s = time.time()  # there are records of the master from now on

    def _person(self, name: str, tenant: str, role: str) -> Person:
        token = make_token(self.api.store, name, tenant, role, ALL_SCOPES)
        return Person(name, tenant, role, self.api.http(token))

    def _execution(self, tenant: str, user: str, name: str) -> Thing:
        client = self.api.client(make_token(self.api.store, user, tenant))
        made = client.submit(long_job(name))
        until(lambda: client.execution(made.id).state is ExecutionState.RUNNING)
        fields = {"execution_id": made.id, "service_id": made.services[0].id, "port": "web"}
        return Thing(fields, tenant, user)

    def _array(self, tenant: str, user: str, name: str) -> Thing:
        http = self.api.http(make_token(self.api.store, user, tenant))
        body = {"application": long_job(name), "indices": "0-9", "hold": True}
        made = http.post(f"{PREFIX}/arrays", json=body).raise_for_status().json()
        return Thing({"array_id": made["id"]}, tenant, user)

    def _workflow(self, tenant: str, user: str, name: str) -> Thing:
        client = self.api.client(make_token(self.api.store, user, tenant))
        return Thing({"workflow_id": client.workflows.run(long_workflow(name)).id}, tenant, user)

    def steps(self) -> Iterator[str | None]:
        """Apply random operations by random users to random objects; yield the faults."""
        for _ in range(STEPS):
            method, path = self.random.choice(self.operations)
            yield self._tried(method, path, self.random.choice(self.people), self._thing(path))

    def admin_steps(self) -> Iterator[str | None]:
        """An admin applies each operation once to existing objects, so that the walk tries no operation in vain."""
        admin = next(person for person in self.people if person.name == "admin-red")
        for method, path in self.operations:
            self.missing = 0.0
            thing = self._thing(path)
            if "{execution_id}" in path:
                thing = self.executions[0]
            if "{array_id}" in path:
                thing = self.arrays[0]
            if "{workflow_id}" in path:
                thing = self.workflows[0]
            if "{token_id}" in path and thing.user != admin.name:
                token = make_token(self.api.store, admin.name, admin.tenant, "admin")
                thing = Thing({"token_id": token.split("_")[1]}, admin.tenant, admin.name)
            self.missing = 0.3
            yield self._tried(method, path, admin, thing)

    def _tried(self, method: str, path: str, person: Person, thing: Thing) -> str | None:
        try:
            self._try(method, path, person, thing)
        except AssertionError as error:
            return str(error).split("\n", 1)[0]
        except httpx.TransportError as error:
            return f"{person.name} {method} {path} {thing.fields}: {error!r}"
        return None

    def _try(self, method: str, path: str, person: Person, thing: Thing) -> None:
        url = (PREFIX if path not in ("/healthz", "/readyz", "/metrics") else "") + path.format(**thing.fields)
        status, text, code = ask(person.http, method, url, self._arguments(method, path))
        story = f"{person.name} {method} {url}: {status} {text[:300]}"
        # Answers of the master take long on a busy machine; the simulated back-end has no files, and there is no store.
        assert status < 500 or code in ("master_unreachable", "files_unavailable", "storage_rules_unavailable"), story
        scope = wanted(method, path)
        visible = person.role is not None and self._visible(person, path, thing)
        if path == "/tokens/{token_id}" and visible:
            scope = "submit"  # another one than the caller's
        if method == "PUT" and path.endswith("/shares"):
            self._end_shares()  # test_private_executions tests shares
        if person.role is None and scope is not None:
            assert (status, code) == (401, "no_token"), story
        elif not person.may(scope):
            assert status == 403, story
            assert code in DENIED, story
        elif (method, path) in OF_SESSIONS or scope is None:
            assert status not in (401, 403) or (method, path) in OF_SESSIONS | {
                ("POST", "/session"),
                ("GET", "/session/oidc/callback"),
                ("GET", "/session/oidc/callback/{provider}"),
            }, story
        elif path in (
            "/storage/slos/{tenant}",
            "/storage/cores/{tenant}",
        ):  # the controller knows which tenants the store has; here is none
            assert (status, code) == (422, "storage_rule_refused"), story
        elif not visible:
            assert (status, code) == (404, "not_found"), story
        elif path == "/tokens/{token_id}" and not person.may("submit"):
            assert (status, code) == (403, "role_missing"), story  # only a token itself, which the walk does not use
        elif path.endswith("/shares") and thing.user != person.name and code == "share_too_low":
            assert method == "PUT", story  # only its owner shares it
        elif path.endswith("/open") and thing.user != person.name:
            assert (status, code) == (403, "share_too_low"), story  # operators see it, and do not enter it
        elif path == "/workflows/{workflow_id}/resume" and thing.user != person.name:
            assert (status, code) == (403, "share_too_low"), story  # steps run as its owner
        elif path.endswith("/results") and thing.user != person.name:
            assert (status, code) == (403, "file_denied"), story  # they are in its owner's workspace
        elif path.endswith("/shares") and method == "DELETE":
            assert status in (204, 404), story
        else:
            # A port of an ended execution is not there.
            gone = "/ports/" in path
            assert status not in ((401, 403) if gone else (401, 403, 404)), story
        if person.tenant == OURS and not person.may("operate"):
            told = text.replace(url, "")
            for entry in self.people:  # it names the user who cancelled or held something of one's own
                told = told.replace(entry.name, "") if entry.may("operate") else told
            for strange in (THEIRS, STRANGER, STRANGE_NAME, STRANGE_NOTE):
                assert strange not in told or strange in url, f"{strange} is told: {story}"
        self.seen.add((person.name, f"{method} {path}", status))
        if status >= 400:
            self.refusals[f"{method} {path}"] = text[:500]

    def _end_shares(self) -> None:
        accounts = self.api.store.accounts
        for execution in self.executions:
            for share in accounts.shares(execution.fields["execution_id"]):
                accounts.end_share(share.execution_id, share.user)

    def _visible(self, person: Person, path: str, thing: Thing) -> bool:
        """Return whether a user sees it: their own executions and tokens; operators see all executions, and admins
        everything.
        """
        if thing.tenant is None:
            return False
        if path.startswith("/admin/") or not thing.fields:
            return True
        if "token_id" in thing.fields:
            return thing.user == person.name
        if path.startswith(("/schedules/", "/applications/")):
            return person.may("submit")  # each user has one, and sees no other user's
        if {"execution_id", "array_id", "workflow_id"} & thing.fields.keys():
            return (person.tenant, person.name) == (thing.tenant, thing.user) or person.may("operate")
        return True

    def _thing(self, path: str) -> Thing:
        if "{execution_id}" in path:
            nothing = Thing({"execution_id": "x0", "service_id": "x0-1", "port": "web"}, None)
            return self.random.choice([*self.executions, nothing])
        if "{array_id}" in path:
            return self.random.choice([*self.arrays, Thing({"array_id": "a00000000000000"}, None)])
        if "{workflow_id}" in path:
            return self.random.choice([*self.workflows, Thing({"workflow_id": "w0"}, None)])
        if "{root}" in path:
            return Thing({"root": self.random.choice(["workspace", "shared"]), "upload_id": "0" * 32}, OURS)
        if "{token_id}" in path:
            owner = self.random.choice([person for person in self.people if person.role] + [None])
            if owner is None:
                return Thing({"token_id": "0" * 12}, None)
            token = make_token(self.api.store, owner.name, owner.tenant, owner.role or "")
            return Thing({"token_id": token.split("_")[1]}, owner.tenant, owner.name)
        if "{user}" in path or "{tenant}" in path:
            missing = self.random.random() < self.missing
            user = "missing" if missing else self._spare()
            tenant = self.random.choice([OURS, THEIRS])
            fields = {"user": user, "tenant": "missing" if missing else tenant}
            return Thing(fields, None if missing else tenant)
        if "{entry_id}" in path:
            missing = self.random.random() < self.missing
            return Thing({"entry_id": "missing" if missing else "batch"}, None if missing else OURS)
        if "{service}" in path:
            missing = self.random.random() < self.missing
            if not missing:
                for person in self.people:
                    if person.may("submit"):
                        body = {"user": "someone", "key": "something"}
                        person.http.put(f"{PREFIX}/storage/credentials/zoe", json=body).raise_for_status()
            return Thing({"service": "missing" if missing else "zoe"}, None if missing else OURS)
        if "{list_id}" in path:
            made = self.api.store.billing.set_price_list({**PRICES, "from": "2091-01-01"}, time.time(), "root")
            return Thing({"list_id": str(made.id)}, OURS)
        if "{month}" in path:
            if not any(
                price_list.prices.from_us < time.time() * 1e6 for price_list in self.api.store.billing.price_lists()
            ):
                self.api.store.billing.set_price_list({**PRICES, "from": "2020-01-01"}, 0.0, "root")
            return Thing({"month": "2020-01"}, OURS)
        if "{provider}" in path:
            return Thing({"provider": "none"}, None)
        if "{code}" in path:
            return Thing({"code": "BCDF-GHJK"}, None)
        if "/filters/{name}" in path:
            return Thing({"name": "walk", "number": "1", "sha256": "0" * 12}, OURS)
        if "{number}" in path:
            return Thing({"number": "1"}, OURS)
        if "{name}" in path:
            self._name_for_all(path.split("/")[1])
            return Thing({"name": "walk"}, OURS)
        return Thing({}, OURS)

    def _name_for_all(self, kind: str) -> None:
        """Give each eligible user an object of this kind."""
        stored = {"document": long_job("walk")}
        bodies: dict[str, dict[str, Any]] = {
            "secrets": {"value": "something"},
            "notifications": {"url": "https://hooks.example.org/"},
            "applications": stored,
            "schedules": {"expression": "@yearly", **stored},
        }
        for person in (entry for entry in self.people if entry.may("submit") and kind == "volumes"):
            with suppress(NameTaken):
                volume = BlockVolume(f"v-{person.name}", person.tenant, person.name, "walk", 1, "plain", (), 1.0)
                self.api.store.accounts.add_volume(volume, 1 << 40)
        for person in self.people:
            if person.may("submit") and kind in bodies:
                person.http.put(f"{PREFIX}/{kind}/walk", json=bodies[kind]).raise_for_status()

    def _admin(self) -> httpx.Client:
        return next(person.http for person in self.people if person.name == "admin-red")

    def _spare(self) -> str:
        """Return a member of both tenants outside of the walk."""
        name = f"spare{self.random.randrange(10**9)}"
        for tenant in (OURS, THEIRS):
            self.api.store.accounts.ensure_member(name, tenant, "user")
        return name

    def _arguments(self, method: str, path: str) -> dict[str, Any]:
        """Return arguments with which an operation succeeds when it is allowed."""
        number, job = self.random.randrange(10**9), long_job("walk")
        policy = partial(self._admin().get, f"{PREFIX}/policy")
        bodies: dict[tuple[str, str], Callable[[], Any]] = {
            ("PUT", "/secrets/{name}"): lambda: {"value": "something"},
            ("POST", "/volumes"): lambda: {"name": "walk", "size_bytes": 16 << 20},
            ("PUT", "/notifications/{name}"): lambda: {"url": "https://hooks.example.org/"},
            ("PUT", "/applications/{name}"): lambda: {"document": long_job("walk")},
            ("POST", "/applications/{name}/dispatch"): dict,
            ("PUT", "/schedules/{name}"): lambda: {"expression": "@daily", "document": long_job("walk")},
            ("POST", "/schedules/{name}/backfill"): lambda: {"from_s": 1.0, "to_s": 86400.0},
            ("PUT", "/admin/limits"): lambda: {"amounts": {"executions": 500}, "tenant": OURS},
            ("POST", "/admin/price-lists"): lambda: {"document": {**PRICES, "from": f"20{50 + number % 40}-01-01"}},
            ("POST", "/admin/price-lists:check"): lambda: {"document": {**PRICES, "from": "2090-01-01"}},
            ("PUT", "/admin/budgets"): lambda: {"tenant": OURS, "amount": "1000000"},
            ("POST", "/admin/tenants"): lambda: {"name": f"tenant{number}"},
            ("PUT", "/admin/tenants/{tenant}/members/{user}"): lambda: {"role": "user"},
            ("POST", "/admin/tenants/{tenant}/members/{user}/hand-over"): lambda: {"to": self._spare()},
            ("PUT", "/admin/tenants/{tenant}/quota"): lambda: {"executions_max": 500},
            ("POST", "/admin/users"): lambda: {"name": f"user{number}"},
            ("PATCH", "/admin/users/{user}"): lambda: {"disabled": False},
            ("POST", "/arrays"): lambda: {"application": job, "indices": "0"},
            ("PATCH", "/arrays/{array_id}"): lambda: {"priority": 0},
            ("POST", "/catalogue/{entry_id}/fill"): lambda: {"values": {}},
            ("POST", "/convert"): lambda: {"document": job},
            ("POST", "/executions"): lambda: {"application": job},
            ("POST", "/executions:batch"): lambda: {"executions": [{"application": job}]},
            ("POST", "/plan"): lambda: {"application": job},
            ("PUT", "/executions/{execution_id}/shares"): lambda: {"level": "look"},
            ("POST", "/executions/{execution_id}/accept"): lambda: {"offer": 1},
            ("POST", "/executions/{execution_id}/scale"): lambda: {"total_counts": {"main": 1}},
            ("PATCH", "/executions/{execution_id}"): lambda: {"priority": 0},
            ("PUT", "/policy"): lambda: policy().json(),
            ("POST", "/policy/dry-run"): lambda: policy().json(),
            ("POST", "/nodes/loss"): lambda: {"nodes": ["n1"]},
            ("POST", "/replays"): lambda: {"from_s": max(self.began_s, time.time() - 10)},
            ("POST", "/session"): lambda: {"user": f"nobody{number}", "password": "wrong password"},
            ("PUT", "/session/password"): lambda: {"old": "a", "new": "correct horse battery staple"},
            ("POST", "/session/machines"): lambda: {"machine": f"walk{number}"},
            ("POST", "/session/machine-token"): lambda: {"secret": "nothing"},
            ("PUT", "/session/machines/{code}"): lambda: {"allow": True},
            ("PUT", "/session/tenant"): lambda: {"tenant": THEIRS},
            ("PUT", "/storage/credentials/{service}"): lambda: {"user": "someone", "key": "something"},
            ("POST", "/storage/rules"): lambda: {"text": "FOR TENANT acme DO SET NOOP"},
            ("POST", "/storage/rewrites"): lambda: {"tenant": "acme"},
            ("PUT", "/storage/filters/{name}"): lambda: {"module": "AGFzbQ=="},
            ("PUT", "/storage/rules/{number}/filters/{name}"): dict,
            ("PUT", "/storage/slos/{tenant}"): lambda: {"read_bytes_per_s": 1_000_000},
            ("PUT", "/storage/cores/{tenant}"): lambda: {"cores": 0.5},
            ("POST", "/storage/metrics/{name}"): lambda: {"expression": "up"},
            ("PUT", "/storage/controllers/{name}"): lambda: {"mode": "dry"},
            ("POST", "/storage/try"): lambda: {"container": "c", "object": "o"},
            ("POST", "/tokens"): lambda: {"scopes": ["read"], "lifetime_s": 60, "note": "walk"},
            ("POST", "/workflows"): lambda: {"document": long_workflow("walk")},
            ("POST", "/workflows/{workflow_id}/accept"): lambda: {"offer": 1},
            ("POST", "/arrays/{array_id}/accept"): lambda: {"offer": 1},
            ("POST", "/workflows:validate"): lambda: {"document": long_workflow("walk")},
            ("POST", "/workflows:plan"): lambda: {"document": long_workflow("walk"), "finish_by": "+9h"},
            ("POST", "/arrays:plan"): lambda: {
                "application": job | {"promise": {}},
                "indices": "0-1",
                "deadline": "+9h",
            },
            ("POST", "/validate"): lambda: {"application": job},
        }
        queries = {
            "/storage/history": {"from_s": time.time() - 60},
            "/storage/over-time": {"from_s": time.time() - 60},
            "/storage/why": {"container": "c", "object": "o"},
            "/usage/executions": {"id": "x0"},
            "/usage/daily": {"from_s": time.time() - 60},
            "/usage/over-time": {"from_s": time.time() - 60},
            "/session/oidc/start": {"provider": "none"},
        }
        found: dict[str, Any] = {"params": queries.get(path)}
        if method == "DELETE" and path == "/admin/budgets":
            budget = {"tenant": OURS, "amount": "1000000"}
            self._admin().put(f"{PREFIX}/admin/budgets", json=budget).raise_for_status()
            found["params"] = {"tenant": OURS}
        if method == "DELETE" and path == "/admin/limits":
            limit = {"amounts": {"executions": 500}, "tenant": OURS}
            self._admin().put(f"{PREFIX}/admin/limits", json=limit).raise_for_status()
            found["params"] = {"tenant": OURS}
        if (method, path) in bodies:
            found["json"] = bodies[method, path]()
        return found


def ask(http: httpx.Client, method: str, url: str, arguments: dict[str, Any]) -> tuple[int, str, str | None]:
    """Return the status, the body (of a stream its beginning), and the code of a refusal."""
    with http.stream(method, url, **arguments) as answer:
        if "text/event-stream" in answer.headers.get("content-type", ""):
            return answer.status_code, next(answer.iter_text()), None
        text = answer.read().decode()
    refused = answer.status_code >= 400 and url.startswith("/api/")
    return answer.status_code, text, problem(answer)["code"] if refused else None


def long_job(name: str) -> Document:
    ports = [{"name": "web", "number": 8080, "protocol": "http", "proxied": True}]
    resources = {"memory": "1MiB", "cores": 0.001}
    return document(part("main", "serve", ends_application=True, ports=ports, resources=resources), name=name)


def long_workflow(name: str) -> Document:
    step = {"name": "first", "application": long_job(name)}
    return {"version": 1, "name": name, "steps": [step, {**step, "name": "second", "needs": ["first"]}]}


@pytest.fixture
def walk(postgres_server: PostgresServer) -> Iterator[Walk]:
    url = postgres_server.create_database()
    services = {"zoe": {"url": "http://swift/auth/v1.0", "region": "R"}}
    api = Api(url, storage_services=services, insecure=True)
    api.start_master()
    try:
        yield Walk(api, SEED)
    finally:
        api.close()
        postgres_server.drop_database(url)


SEED = 11


def test_all_may_do_what_their_role_says_to_what_they_see(walk: Walk) -> None:
    print(f"seed {SEED}")
    wrong: list[str] = []
    for steps in (walk.admin_steps(), walk.steps()):
        for story in steps:
            wrong += [] if story is None else [story]
    assert wrong == []
    assert {operation for _, operation, _ in walk.seen} == {f"{method} {path}" for method, path in walk.operations}
    assert {name for name, _, _ in walk.seen} == {person.name for person in walk.people}
    done = {operation for _, operation, status in walk.seen if status < 400}
    never = {f"{method} {path}" for method, path in walk.operations} - done
    excused = {f"{method} {path}" for method, path in OF_SESSIONS} | {
        "POST /session", "GET /session/oidc/start", "GET /session/oidc/callback",
        "GET /session/oidc/callback/{provider}", "POST /session/machine-token",
        "POST /executions/{execution_id}/services/{service_id}/ports/{port}/open",
        # These need waiting executions, and those of the walk run; tests/api/test_conditions.py and test_promise*.py
        # cover them.
        "PATCH /executions/{execution_id}", "POST /executions/{execution_id}/hold",
        "POST /executions/{execution_id}/accept", "POST /workflows/{workflow_id}/accept",
        "POST /arrays/{array_id}/accept",
        "POST /executions/{execution_id}/release", "POST /arrays/{array_id}/hold", "POST /arrays/{array_id}/release",
        "POST /executions/{execution_id}/scale",
        # The walk may have cancelled the running ones; tests/api/test_conditions.py covers it.
        "POST /executions/{execution_id}/requeue",
        # By its owner only, once it has ended; tests/api/test_workflows.py does it.
        "POST /workflows/{workflow_id}/resume",
        # Both by its owner only; tests/api/test_private_executions.py does them.
        "PUT /executions/{execution_id}/shares", "DELETE /executions/{execution_id}/shares",
        # There is no storage controller; tests/storage/test_rules.py does these.
        "GET /storage/traffic", "GET /storage/history", "GET /executions/{execution_id}/storage",
        *(operation for operation in never if " /storage/slos" in operation),
        *(operation for operation in never if " /storage/cores" in operation),
        *(operation for operation in never if " /storage/rewrites" in operation),
        *(operation for operation in never if " /storage/metrics" in operation or " /storage/controllers" in operation),
        *(operation for operation in never if " /storage/nodes" in operation),
        *(operation for operation in never if " /storage/rules" in operation or " /storage/filters" in operation),
        "POST /storage/try", "GET /storage/why",
        # The simulated back-end has no volumes; tests/e2e/test_volumes.py does these.
        "POST /volumes", "DELETE /volumes/{name}",
        # The simulated back-end has no files; tests/api/test_files.py does these.
        *(operation for operation in never if " /files/" in operation), "GET /executions/{execution_id}/results",
    }  # fmt: skip
    assert {operation: walk.refusals.get(operation) for operation in never - excused} == {}


def test_the_scopes_are_those_of_the_documentation() -> None:
    assert {str(scope) for scope in Scope} == SCOPES["admin"]
