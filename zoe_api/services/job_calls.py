"""Requests of jobs: authentication, rate limits (`job_door.py` checks first), and allowed routes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, problem
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.tokens.job_tokens import OFFERED, QUERIES, JobTokens

ROUTES = frozenset(
    {
        "submit_execution",
        "list_executions",
        "show_execution",
        "execution_usage",
        "read_logs",
        "cancel_execution",
        "hold_execution",
        "release_execution",
        "requeue_execution",
        "modify_execution",
        "submit_array",
        "list_arrays",
        "show_array",
        "list_indices",
        "cancel_array",
        "hold_array",
        "release_array",
        "requeue_array",
        "modify_array",
    }
)
"""Routes that jobs may call. An execution or array in the path must be the job's own or a descendant."""
REPORTS = frozenset({"report_queries"})
"""Routes of tokens that can only report."""
_BURST_S = 2.0
_REFUSED_S, _REFUSED_MAX_S = 1.0, 15.0
_ROUNDING_S = 1e-6
_JOBS_MAX = 10_000


class CallRates:
    """Count the calls of each job: so many per second, with bursts of two seconds; and space its refusals, which have
    the same rate. Thread-safe.
    """

    def __init__(self, per_s_max: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._per_s_max = per_s_max
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at_s: OrderedDict[str, float] = OrderedDict()
        self._refused_at_s: OrderedDict[str, float] = OrderedDict()

    def take(self, execution_id: str) -> None:
        """Count one call; ApiProblem (429) if the job calls too often."""
        now_s, each_s = self._clock.monotonic_s(), 1 / self._per_s_max
        with self._lock:
            free_s = max(self._free_at_s.get(execution_id, now_s), now_s) + each_s
            if free_s <= now_s + _BURST_S + _ROUNDING_S:
                _put(self._free_at_s, execution_id, free_s)
                return
        why = f"job {execution_id} may call {self._per_s_max:g} times per second"
        raise retry_refusal(Code.JOB_CALLS_TOO_OFTEN, why, 1.0)

    def refusal_in_s(self, execution_id: str) -> float:
        """Return the delay of a refusal in seconds: one, and more behind others, 15 at most."""
        now_s = self._clock.monotonic_s()
        with self._lock:
            next_s = self._refused_at_s.get(execution_id, 0.0) + 1 / self._per_s_max
            at_s = min(max(next_s, now_s + _REFUSED_S), now_s + _REFUSED_MAX_S)
            _put(self._refused_at_s, execution_id, at_s)
        return at_s - now_s


def _put(times: OrderedDict[str, float], execution_id: str, at_s: float) -> None:
    times[execution_id] = at_s
    times.move_to_end(execution_id)
    while len(times) > _JOBS_MAX:
        times.popitem(last=False)


def retry_refusal(code: Code, why: str, after_s: float) -> ApiProblem:
    """Return a refusal with the seconds after which to try again."""
    refusal = ApiProblem(code)
    refusal.problem = problem(code, why, "wait, and try again").with_retry_after(after_s)
    return refusal


def known_by_job_token(accounts: AccountStore, tokens: JobTokens, text: str, *, offered: bool = True) -> Principal:
    """Return the job of this token; 401 without one. `offered`: whether tokens of `api: offered` are valid."""
    token = tokens.read(text)
    if token is None:
        raise ApiProblem(Code.BAD_TOKEN, "it is not a token of a job of this installation")
    found = accounts.job_holder(token.execution_id, token.attempt, token.tenant, token.user)
    if found is None:
        which = f"attempt {token.attempt} of {token.execution_id}"
        raise ApiProblem(
            Code.JOB_TOKEN_ENDED, f"{which} has ended, or its owner may not submit any more", "use a token of your own"
        )
    if token.grant == OFFERED:
        _check_offered(accounts, token.execution_id, offered)
    if token.grant == QUERIES and found.job is not None:
        return replace(found, job=replace(found.job, reports=True))
    return found


def _check_offered(accounts: AccountStore, execution_id: str, offered: bool) -> None:
    """Refuse the token of a notebook that another user could open, since that user may have kept it."""
    if not offered:
        why = "the setting offered_tokens of this installation is off"
    elif accounts.was_opened(execution_id):
        why = f"{execution_id} is or was shared for open or control, which ended its token"
    else:
        return
    raise ApiProblem(Code.JOB_TOKEN_ENDED, why, "use a token of your own, or start another one")


def check_route(principal: Principal, name: str, accounts: AccountStore, target: str | None) -> None:
    """Raise 403 if the principal is a job and the route is not for jobs, or the target (the execution or array in its
    path) is outside the job's family.
    """
    if principal.job is None:
        return
    if name not in (REPORTS if principal.job.reports else ROUTES):
        raise ApiProblem(Code.NOT_FOR_JOBS, f"{principal.job} called {name}", "use a token of your own")
    if target is not None:
        check_family(principal, accounts, target)


def check_family(principal: Principal, accounts: AccountStore, target: str) -> None:
    """Raise 403 if the principal is a job, and this is neither its own execution or array nor a descendant."""
    if principal.job is not None and not accounts.is_job_family(principal.job.unit, target):
        shown = target[:64]
        raise ApiProblem(Code.NOT_OF_JOB, f"{shown} was not submitted by job {principal.job.execution_id}")
