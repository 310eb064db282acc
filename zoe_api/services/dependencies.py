"""Dependencies of requests: the store, the master, and the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from fastapi import Depends, Header, Request
from starlette.requests import HTTPConnection

from zoe_api.http.attempts.password_checks import PasswordChecks
from zoe_api.http.attempts.sign_in_audit import SignInAudit
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, from_master
from zoe_api.http.turns import Turns
from zoe_api.questions.pool import QuestionPool
from zoe_api.services.file_programs import FilePrograms
from zoe_api.services.job_calls import CallRates
from zoe_api.services.journal_news import JournalNews
from zoe_api.services.looks import Looks
from zoe_api.services.master_status import MasterStatus
from zoe_api.services.objects.source import ObjectStores
from zoe_api.services.output_reads import OutputReads
from zoe_api.services.positions import Positions
from zoe_api.services.stream_places import StreamPlaces
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.client import MasterClient, MasterRefused
from zoe_lib.messaging.refusal import Refusal
from zoe_lib.messaging.slow_lane import Bounds, Places
from zoe_lib.settings.config import Settings
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.spending import Spending
from zoe_lib.tokens.job_tokens import JobTokens

P = ParamSpec("P")
T = TypeVar("T")
SHORT_BYTES_MAX = 16_384
"""Maximum body of a question that this process answers itself."""
_CHECK = "check"
_CHECKS = Bounds(in_all_max=16, of_asker_max=4, busy="check_busy")


@dataclass(frozen=True, slots=True)
class Services:
    """Everything with the lifetime of the process."""

    settings: Settings
    store: PostgresStore
    master: MasterClient
    news: JournalNews
    output: OutputReads
    streams: StreamPlaces
    master_status: MasterStatus
    clock: Clock = SYSTEM_CLOCK
    checks: Places = field(default_factory=Places)
    turns: Turns = field(default_factory=Turns)
    positions: Positions = field(default_factory=Positions)
    password_checks: PasswordChecks = field(default_factory=PasswordChecks)
    files: FilePrograms = field(default_factory=FilePrograms)
    objects: ObjectStores = field(default_factory=ObjectStores)
    sign_in_audit: SignInAudit = field(default_factory=SignInAudit)
    looks: Looks = field(default_factory=Looks)
    spending: Spending = field(default_factory=Spending)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    long_questions: QuestionPool = field(init=False)
    job_tokens: JobTokens = field(init=False)
    job_rates: CallRates = field(init=False)

    def __post_init__(self) -> None:
        """Make the services that depend on the settings."""
        object.__setattr__(self, "long_questions", QuestionPool(self.settings))
        object.__setattr__(self, "job_tokens", JobTokens(self.settings.keys_dir))
        object.__setattr__(self, "job_rates", CallRates(self.settings.job_calls_per_s_max, self.clock))

    @property
    def accounts(self) -> AccountStore:
        """The accounts in the store's database."""
        return self.store.accounts


@dataclass(frozen=True, slots=True)
class Caller:
    """A client, its request, and the services for its response."""

    services: Services
    principal: Principal
    request: HTTPConnection

    @property
    def user(self) -> str:
        """The user's name."""
        return self.principal.user

    @property
    def tenant(self) -> str:
        """The user's tenant."""
        return self.principal.tenant

    @property
    def store(self) -> PostgresStore:
        """The store."""
        return self.services.store

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return str(self.request.state.request_id)

    def acting_as(self, principal: Principal) -> Caller:
        """Return the caller with the rights of another principal."""
        return replace(self, principal=principal)


# Those that only return a value are coroutines: a plain function would cost a change of threads.
async def get_services(request: Request) -> Services:
    """Return the services of the process."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


async def get_store(services: Annotated[Services, Depends(get_services)]) -> PostgresStore:
    """Return the store."""
    return services.store


async def get_accounts(services: Annotated[Services, Depends(get_services)]) -> AccountStore:
    """Return the accounts."""
    return services.accounts


async def get_master(services: Annotated[Services, Depends(get_services)]) -> MasterClient:
    """Return the client of the master."""
    return services.master


async def get_clock(services: Annotated[Services, Depends(get_services)]) -> Clock:
    """Return the clock."""
    return services.clock


IfMatch = Annotated[str | None, Header(description="Apply the change only if the present ETag is one of these.")]
StoreDep = Annotated[PostgresStore, Depends(get_store)]
AccountsDep = Annotated[AccountStore, Depends(get_accounts)]
MasterDep = Annotated[MasterClient, Depends(get_master)]
ServicesDep = Annotated[Services, Depends(get_services)]
ClockDep = Annotated[Clock, Depends(get_clock)]


@contextmanager
def checking(caller: Caller) -> Iterator[None]:
    """Limit concurrent work on descriptions that are not stored and so count against no quota; 429 beyond the limit."""
    try:
        caller.services.checks.take(_CHECK, caller.user, _CHECKS)
    except Refusal as refused:
        raise ApiProblem(
            Code.CHECK_BUSY,
            str(refused),
            "four checks of yours are in progress, which is the maximum; try again when one has ended",
        ) from None
    with caller.services.checks.release_after(_CHECK, caller.user):
        yield


def is_short(caller: Caller) -> bool:
    """Return whether the caller's document is short: checking it takes some milliseconds."""
    return int(caller.request.headers.get("content-length", SHORT_BYTES_MAX + 1)) <= SHORT_BYTES_MAX


def answered(
    caller: Caller, short: bool, work: Callable[Concatenate[SubmissionPlace, P], T], *given: P.args, **named: P.kwargs
) -> T:
    """Return the result of a function of values: here if it is short, else by another process, which gets the values
    pickled. ApiProblem, and the function's errors.
    """
    if short:
        return work(caller.services, *given, **named)
    return caller.services.long_questions.answer(caller.tenant, work, *given, **named)


def stream_place(caller: Caller) -> AbstractContextManager[None]:
    """Hold a place for a stream of the principal."""
    return caller.services.streams.stream(caller.user, caller.principal.token_id or caller.principal.session_id)


def check_if_match(if_match: str | None, version: int) -> None:
    """Check If-Match; 412 if the client saw another version."""
    if if_match is not None and not {tag.strip() for tag in if_match.split(",")} & {"*", etag(version)}:
        raise ApiProblem(Code.VERSION_MISMATCH, f"its version is now {version}")


def etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def ask(
    master: MasterClient, kind: str, body: dict[str, Any], request: HTTPConnection, asker: str = ""
) -> dict[str, Any]:
    """Return the master's answer to a request with the same request id; a refusal becomes a problem."""
    try:
        return master.ask(kind, body, request.state.request_id, asker)
    except MasterRefused as refused:
        raise from_master(refused) from None
