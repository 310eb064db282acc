"""Requests, people and services of the API, without a database and without a socket."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.requests import Request

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, problem
from zoe_api.services.dependencies import Caller
from zoe_api.services.looks import Looks
from zoe_client.wire import Problem
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.volumes import BlockVolume
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.messaging.slow_lane import Places
from zoe_lib.pricing.price_list import PriceList
from zoe_lib.pricing.statement import Line
from zoe_lib.settings.config import Settings
from zoe_lib.store.errors import NotFound, StoreUnavailable
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.people import AuditEntry, Membership, Principal, Session, Tenant, Token, User
from zoe_lib.store.sql.billing.prices import Budget, StoredPriceList
from zoe_lib.submission.refusal import SubmissionRefused
from zoe_lib.submission.spending import Spending

USER, PEER, STRANGER = "ada", "bob", "eve"
TENANT, ELSEWHERE = "iostack", "elsewhere"
REQUEST_ID = "request-1"


def person(
    user: str = USER, role: str = "user", tenant: str = TENANT, scopes: frozenset[str] | None = None, **more: str
) -> Principal:
    return Principal.of_member(user, tenant, role, scopes, **more)


def operator(user: str = "olga", tenant: str = TENANT) -> Principal:
    return person(user, "operator", tenant)


def admin(user: str = "root", tenant: str = TENANT) -> Principal:
    return person(user, "admin", tenant)


def caller_of(services: Any, principal: Any, request: Any = None) -> Caller:
    """Return a client with its request; None for parts that a function does not read."""
    return Caller(services, principal, request)


def request(
    method: str = "GET",
    path: str = "/api/v1/executions",
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    *,
    route: str = "list_executions",
    bounds: tuple[str, ...] = (),
    query: str = "",
    client: str = "192.0.2.7",
    scheme: str = "http",
    services: Any = None,
    state: Mapping[str, Any] | None = None,
    kind: str = "http",
) -> Request:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"zoe.example"), *((k.lower().encode(), v.encode("latin-1")) for k, v in pairs)],
        "scheme": scheme,
        "server": ("zoe.example", 80),
        "client": (client, 50000) if client else None,
        "route": SimpleNamespace(name=route, bounds=bounds),
        "state": {"request_id": REQUEST_ID, **(state or {})},
        "app": SimpleNamespace(state=SimpleNamespace(services=services)),
        "path_params": {},
    }
    return Request(scope)


class Accounts:
    """The accounts that the rules of the API read and write."""

    def __init__(self) -> None:
        self.away = False
        self.people: dict[str, User] = {}
        self.members: list[Membership] = []
        self.stored_tokens: dict[str, Token] = {}
        self.browsers: dict[str, Session] = {}
        self.shared: dict[tuple[str, str, str], ShareLevel] = {}
        self.entries: list[AuditEntry] = []
        self.ended: list[tuple[int, int, Any]] = []
        self.ended_access: list[str] = []
        self.guesses: Counter[str] = Counter()
        self.resumed: list[str] = []
        self.taken: list[tuple[Sequence[str], Mapping[str, tuple[float, int]], float]] = []
        self.given_back: list[tuple[Sequence[str], float]] = []
        self.marks: dict[str, list[float]] = {}

    def resume_job(self, unit: str) -> None:
        self.resumed.append(unit)

    def volumes_named(self, *_: object) -> tuple[BlockVolume, ...]:
        return ()

    def volumes_attached(self, *_: object) -> dict[str, str]:
        return {}

    def _check(self) -> None:
        if self.away:
            raise StoreUnavailable("away")

    def add_member(self, user: str, tenant: str = TENANT, role: str = "user", **of_user: Any) -> None:
        self.people[user] = User(user, **of_user)
        self.members.append(Membership(user, tenant, Role(role)))

    def job_parents(self, _ids: Sequence[str]) -> Mapping[str, Any]:
        return {}

    def job_children(self, _execution_id: str, _limit: int) -> Sequence[str]:
        return ()

    def user(self, name: str) -> User:
        self._check()
        if name not in self.people:
            raise NotFound(f"user {name!r} does not exist")
        return self.people[name]

    def users(self) -> Sequence[User]:
        self._check()
        return list(self.people.values())

    def tenants(self) -> Sequence[Tenant]:
        return [Tenant(name) for name in dict.fromkeys(member.tenant for member in self.members)]

    def memberships(self, user: str | None = None) -> Sequence[Membership]:
        return [member for member in self.members if user in (None, member.user)]

    def _role(self, user: str, tenant: str) -> str | None:
        return next((member.role for member in self.members if (member.user, member.tenant) == (user, tenant)), None)

    def tokens(self, user: str | None = None) -> Sequence[Token]:
        return [token for token in self.stored_tokens.values() if user in (None, token.user)]

    def add_token(self, token: Token) -> None:
        self.stored_tokens[token.id] = token

    def revoke_token(self, token_id: str) -> None:
        del self.stored_tokens[token_id]

    def principal(self, token_id: str, now_s: float) -> tuple[Principal, str] | None:
        self._check()
        token = self.stored_tokens.get(token_id)
        if token is None or (token.expires_at_s is not None and token.expires_at_s <= now_s):
            return None
        role = self._role(token.user, token.tenant)
        if role is None:
            return None
        return Principal.of_member(token.user, token.tenant, role, token.scopes, token_id), token.secret_hash

    def principal_and_terms(self, token_id: str, now_s: float) -> tuple[tuple[Principal, str] | None, object]:
        return self.principal(token_id, now_s), "terms"

    def session(self, session_id: str, now_s: float) -> Principal | None:
        self._check()
        found = self.browsers.get(session_id)
        if found is None or found.expires_at_s <= now_s:
            return None
        role = self._role(found.user, found.tenant)
        return None if role is None else Principal.of_member(found.user, found.tenant, role, session_id=session_id)

    def sessions_among(self, ids: Sequence[str], now_s: float) -> Mapping[str, tuple[Principal, str | None]]:
        found = {id_: self.session(id_, now_s) for id_ in ids}
        return {text: (who, self.browsers[text].proof_hash) for text, who in found.items() if who is not None}

    def add_session(self, session: Session) -> None:
        self.browsers[session.id] = session

    def session_end(self, session_id: str) -> float:
        return self.browsers[session_id].expires_at_s if session_id in self.browsers else 0.0

    def end_session(self, session_id: str) -> None:
        self.browsers.pop(session_id, None)

    def shared_level(self, execution_id: str, tenant: str, user: str) -> ShareLevel | None:
        self._check()
        return self.shared.get((execution_id, tenant, user))

    def add_audit(self, entry: AuditEntry) -> int:
        self._check()
        self.entries.append(entry)
        return len(self.entries)

    def end_audit(self, entry_id: int, status: int, changes: Any) -> None:
        self._check()
        self.ended.append((entry_id, status, changes))

    def end_access(self, user: str) -> None:
        self.ended_access.append(user)

    def set_disabled(self, user: str, disabled: bool) -> None:
        self.people[user] = replace(self.user(user), disabled=disabled)

    def set_password(self, user: str, password_hash: str) -> None:
        self.people[user] = replace(self.user(user), password_hash=password_hash)

    def take_guess(self, keys: Sequence[str], limits: Mapping[str, tuple[float, int]], now_s: float) -> str | None:
        self.taken.append((keys, limits, now_s))
        for key, (_, most) in limits.items():
            if self.guesses[key] >= most:
                return key
        self.guesses.update(keys)
        return None

    def give_back_guess(self, keys: Sequence[str], taken_s: float) -> None:
        self.given_back.append((keys, taken_s))
        self.guesses.subtract(keys)

    def add_failure(self, key: str, at_s: float) -> None:
        self.marks.setdefault(key, []).append(at_s)

    def failures(self, keys: Collection[str], since_s: float) -> Mapping[str, int]:
        return {key: sum(at_s >= since_s for at_s in self.marks.get(key, ())) for key in keys}


class Billing:
    """Price lists, budgets and spending."""

    def __init__(self) -> None:
        self.lists: list[StoredPriceList] = []
        self.found: list[Budget] = []
        self.charges: dict[str, list[Line]] = {}
        self.by_user: dict[str, Decimal] = {}
        self.hourly_by_user: dict[str, Decimal] = {}

    def add_prices(self, prices: PriceList, replaced_at_s: float | None = None) -> None:
        self.lists.append(StoredPriceList(len(self.lists) + 1, {"of": "it"}, prices, 5.0, "root", replaced_at_s))

    def price_lists(self, history: bool = False) -> Sequence[StoredPriceList]:
        return [entry for entry in self.lists if history or entry.replaced_at_s is None]

    def budgets(self) -> Sequence[Budget]:
        return self.found

    def set_budget(self, budget: Budget) -> None:
        self.found.append(budget)

    def spending_by_user(self, tenant: str, month: str, now_s: float) -> Mapping[str, Decimal]:
        return self.by_user

    def hourly(self, tenant: str, now_s: float) -> Mapping[str, Decimal]:
        return self.hourly_by_user

    def charges_of(self, ids: Collection[str], now_s: float) -> Mapping[str, Sequence[Line]]:
        return {id_: self.charges[id_] for id_ in ids if id_ in self.charges}


class Master:
    """A master that gives these answers, by kind: a value, an error to raise, or a function of the body."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any], str, str]] = []
        self.hints = 0

    def ask(self, kind: str, body: Any = None, request_id: str = "", asker: str = "") -> Any:
        self.asked.append((kind, body or {}, request_id, asker))
        if kind not in self.answers:
            raise MasterRefused("unknown", f"no answer to {kind}")
        answer = self.answers[kind]
        if isinstance(answer, Exception):
            raise answer
        return answer(body) if callable(answer) else answer

    def hint(self) -> None:
        self.hints += 1


class StorageAnswers:
    """A storage controller that answers each request with these fields, or with nothing of this kind."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        """Method, path, and fields of body or query."""

    def ask(
        self,
        answer: Any,
        method: str,
        path: str,
        body: BaseModel | None = None,
        query: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> Any:
        given = dict(query or {}) if body is None else body.model_dump(exclude_unset=True)
        self.asked.append((method, path, given))
        return answer(**self.fields) if isinstance(answer, type) and issubclass(answer, BaseModel) else answer()


class PlainStore(MemoryStore):
    """The store in memory, with other parts provided by a test."""

    accounts: Any
    billing: Any
    schedules: Any
    workflows: Any

    def terms(self, _versions: object = None) -> Any:
        return SimpleNamespace(policy=self.policy(), platform=self.platform())

    def shares_of(self, ids: Collection[str]) -> Mapping[str, Any]:
        found = super().shares_of(ids)
        levels: dict[str, dict[str | None, ShareLevel]] = {text: {} for text in found}
        for (execution_id, _, user), level in self.accounts.shared.items():
            if execution_id in levels:
                levels[execution_id][user] = level
        return {text: replace(shares, levels=levels[text]) for text, shares in found.items()}


def services(*executions: Execution, master: Master | None = None, **settings: Any) -> Any:
    """Return the services of a process whose store has these executions, as they are."""
    store = PlainStore()
    store.accounts, store.billing = Accounts(), Billing()
    for execution in executions:
        store._state.put(execution)
    return SimpleNamespace(
        settings=Settings(**settings),
        store=store,
        accounts=store.accounts,
        master=master or Master(),
        looks=Looks(),
        checks=Places(),
        clock=SYSTEM_CLOCK,
        spending=Spending(),
        stopping=None,
    )


def after(execution: Execution, *events: Event) -> Execution:
    """The execution after these events."""
    for event in events:
        execution = apply(execution, event)
    return execution


@contextmanager
def refusal(code: Code) -> Any:
    """Expect a refusal with this code, and yield its problem."""
    found = SimpleNamespace(problem=None)
    with pytest.raises((ApiProblem, SubmissionRefused)) as raised:
        yield found
    found.problem = _problem_of(raised.value)
    assert found.problem.code == code, found.problem


def refused_with(work: Callable[[], object]) -> Problem:
    """The problem that a call raises."""
    with pytest.raises((ApiProblem, SubmissionRefused)) as raised:
        work()
    return _problem_of(raised.value)


def _problem_of(error: Exception) -> Problem:
    """Return the API's response for a refusal."""
    if isinstance(error, SubmissionRefused):
        return problem(Code(error.code), error.detail, error.hint, error.errors)
    assert isinstance(error, ApiProblem)
    return error.problem


def run(work: Any) -> Any:
    """Return the result of a coroutine."""
    return asyncio.run(work)
