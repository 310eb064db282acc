"""Calls of the HTTP API, one request each. Both clients share them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from zoe_client import wire
from zoe_client.calls.storage_calls import StorageCalls
from zoe_client.documents.additions import Secrets, with_additions
from zoe_client.http.transport import new_name, path_part
from zoe_client.vocabulary import DeadlineStatus, ShareLevel
from zoe_client.words.names import NAME
from zoe_client.words.promises import finish_time, with_promise_request, with_run_time
from zoe_client.words.state_choices import StateChoice
from zoe_client.words.times import sent_deadline

# Longer than servers allow a replay to take.
_REPLAY_TIMEOUT_S = 3600.0


class Calls(StorageCalls):
    """Calls with one request each. A method returns the answer of its request unchanged, so `zoe_client.asynchronous`
    can run the same methods over a transport whose answers are awaited.
    """

    # -- executions ------------------------------------------------------------------------------------------------
    def submit(
        self,
        application: dict[str, Any],
        *,
        name: str | None = None,
        priority: int | None = None,
        deadline_s: float | None = None,
        deadline: str | None = None,
        finish_by: str | None = None,
        confidence: float | None = None,
        budget: float | None = None,
        run_time_s: float | None = None,
        hold: bool = False,
        begin_at_s: float | None = None,
        begin_in_s: float | None = None,
        after: Sequence[str] = (),
        keep: bool = False,
        idempotency_key: str | None = None,
        env: Mapping[str, str] | None = None,
        secrets: Secrets = (),
        results: Sequence[str] = (),
    ) -> wire.ExecutionView:
        """Submit an application; the same idempotency key returns the same execution.

        It enters the queue when it is not held, at `begin_at_s` or later (seconds since the epoch; or in `begin_in_s`
        seconds), and when the executions of `after` have ended: `ok:ID` successfully, `fail:ID` otherwise, `any:ID` in
        any way. If a dependency can no longer be met, it ends as failed, or with `keep` is held. `deadline`: the time
        by which it should end, such as `+3h`, `08:00` (the next one in this machine's zone) or ISO 8601; or
        `deadline_s`, in seconds from now. BadTime. `finish_by`: the same as a promise, with a `confidence` from 0.5 to
        0.99 [0.9], and a `budget` in the currency of the price list: it runs once Zoe promises that it ends by then, or
        you accept an offer. `run_time_s`: its expected run time, which a promise needs until the program has run once.

        `env`: variables of the component that ends the application; anyone who sees the execution sees them.
        `secrets`: names of stored secrets, which it gets as files in `$ZOE_SECRETS`; in a mapping, each with its
        variable. `results`: files, patterns and folders in the workspace for `fetch`. ValueError.
        """
        application = with_run_time(with_additions(application, env, secrets, results), run_time_s)
        deadline = finish_time(finish_by, deadline, confidence, budget)
        body = wire.SubmitRequest(
            application=with_promise_request(application, confidence, budget) if finish_by is not None else application,
            name=name,
            priority=priority,
            deadline_s=deadline_s,
            deadline=None if deadline is None else sent_deadline(deadline, time.time()),
            hold=hold,
            begin_at_s=begin_at_s,
            begin_in_s=begin_in_s,
            after=list(after),
            keep=keep,
        )
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        return self.call(wire.ExecutionView, "POST", "/executions", body=body, headers=headers, again=True)

    def submit_batch(
        self, submissions: Sequence[wire.SubmitRequest], *, idempotency_key: str | None = None
    ) -> wire.ExecutionBatch:
        """Submit several applications, all or none; the same idempotency key returns the same executions."""
        body = wire.BatchRequest(executions=list(submissions))
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        return self.call(wire.ExecutionBatch, "POST", "/executions:batch", body=body, headers=headers, again=True)

    def execution(self, execution_id: str) -> wire.ExecutionView:
        """Return one execution."""
        return self.call(wire.ExecutionView, "GET", f"/executions/{path_part(execution_id)}")

    def executions(
        self,
        *,
        states: Sequence[str] | None = None,
        user: str | None = None,
        name: str | None = None,
        submitted_from_s: float | None = None,
        deadline: DeadlineStatus | None = None,
        kind: str | None = None,
        application: str | None = None,
        all_tenants: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> wire.ExecutionList:
        """Return one page of executions, newest first; `states`: such as `running`, or `waiting`, `held`, `active`,
        `ended`; `submitted_from_s`: submitted then or later; `deadline`: with
        this deadline status; `kind`, `application`: whose description has this kind (`batch`, `interactive`), and this
        name.

        With `name`, `kind` or `application` a page may be short, or empty, and have a `next_cursor`: the server
        searches part by part.
        """
        parameters = {
            "state": [StateChoice(state).value for state in states or ()],
            "user": user,
            "name": name,
            "submitted_from_s": submitted_from_s,
            "deadline": None if deadline is None else deadline.value,
            "kind": kind,
            "application": application,
            "all_tenants": all_tenants or None,
            "limit": limit,
            "cursor": cursor,
        }
        return self.call(wire.ExecutionList, "GET", "/executions", parameters=parameters)

    def cancel(self, execution_id: str) -> wire.ExecutionView:
        """Cancel an execution."""
        return self.call(wire.ExecutionView, "POST", f"/executions/{path_part(execution_id)}/cancel", again=True)

    def cancel_descendants(self, unit_id: str) -> wire.CancelledFamily:
        """Cancel an execution or array, and everything that it and its descendants submitted."""
        path = f"/executions/{path_part(unit_id)}/cancel-descendants"
        return self.call(wire.CancelledFamily, "POST", path, again=True)

    def hold(self, execution_id: str) -> wire.ExecutionView:
        """Keep a waiting execution out of the queue until it is released."""
        return self.call(wire.ExecutionView, "POST", f"/executions/{path_part(execution_id)}/hold", again=True)

    def release(self, execution_id: str) -> wire.ExecutionView:
        """Let a held execution into the queue."""
        return self.call(wire.ExecutionView, "POST", f"/executions/{path_part(execution_id)}/release", again=True)

    def requeue(self, execution_id: str, *, hold: bool = False) -> wire.ExecutionView:
        """Stop a running execution and queue its next attempt, held if `hold`."""
        parameters = {"hold": True} if hold else None
        return self.call(
            wire.ExecutionView, "POST", f"/executions/{path_part(execution_id)}/requeue", parameters=parameters
        )

    def scale(self, execution_id: str, total_counts: Mapping[str, int]) -> wire.ExecutionView:
        """Change how many instances of its components an execution has; only elastic services start or stop."""
        body = wire.ScaleRequest(total_counts=dict(total_counts))
        path = f"/executions/{path_part(execution_id)}/scale"
        return self.call(wire.ExecutionView, "POST", path, body=body, again=True)

    def accept(self, execution_id: str, offer: int = 1) -> wire.ExecutionView:
        """Accept an offer for an execution that cannot be promised as requested; repeating the call is safe."""
        path, body = f"/executions/{path_part(execution_id)}/accept", wire.AcceptRequest(offer=offer)
        return self.call(wire.ExecutionView, "POST", path, body=body, again=True)

    def modify(self, execution_id: str, changes: wire.ModifyRequest) -> wire.ExecutionView:
        """Change a waiting execution; fields of `changes` that are not set keep their values."""
        path, json = f"/executions/{path_part(execution_id)}", changes.model_dump(mode="json", exclude_unset=True)
        return self.call(wire.ExecutionView, "PATCH", path, json=json, again=True)

    def diff(self, execution_id: str, earlier: str | None = None) -> wire.DiffView:
        """Return how an execution differs from an earlier one; None: the previous one with its name and user."""
        path = f"/executions/{path_part(execution_id)}/diff"
        return self.call(wire.DiffView, "GET", path, parameters={"from": earlier})

    def results(self, execution_id: str) -> wire.ResultList:
        """Return the files that match the `results` of the description; for the owner only. `files.download` fetches
        them.
        """
        return self.call(wire.ResultList, "GET", f"/executions/{path_part(execution_id)}/results")

    def shares(self, execution_id: str) -> wire.ShareList:
        """Return the shares of an execution; for the owner only."""
        return self.call(wire.ShareList, "GET", f"/executions/{path_part(execution_id)}/shares")

    def share(self, execution_id: str, level: ShareLevel, user: str | None = None) -> wire.ShareView:
        """Share an execution with a user of the tenant, or without a user with all members."""
        body = wire.ShareRequest(user=user, level=level)
        path = f"/executions/{path_part(execution_id)}/shares"
        return self.call(wire.ShareView, "PUT", path, body=body, again=True)

    def end_share(self, execution_id: str, user: str | None = None) -> None:
        """End the share with a user, or the share with all members of the tenant."""
        path = f"/executions/{path_part(execution_id)}/shares"
        return self.do("DELETE", path, parameters={"user": user})

    def explain(self, execution_id: str) -> wire.Explanation:
        """Explain why an execution is not running."""
        return self.call(wire.Explanation, "GET", f"/executions/{path_part(execution_id)}/explain")

    def eta(self, execution_id: str) -> wire.Eta:
        """Return the forecast of an execution's start and end."""
        return self.call(wire.Eta, "GET", f"/executions/{path_part(execution_id)}/eta")

    def why_waited(self, execution_id: str) -> wire.WhyWaited:
        """Return how an execution spent the time before its start, by cause."""
        return self.call(wire.WhyWaited, "GET", f"/executions/{path_part(execution_id)}/waits")

    def events(self, execution_id: str, after: int = 0) -> wire.EventList:
        """Return the events so far, in order."""
        return self.call(
            wire.EventList, "GET", f"/executions/{path_part(execution_id)}/events", parameters={"after": after}
        )

    def logs(self, execution_id: str, service_id: str, offset: int = 0, limit: int = 65536) -> wire.LogChunkView:
        """Return a piece of a service's output."""
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/logs"
        return self.call(wire.LogChunkView, "GET", path, parameters={"offset": offset, "limit": limit})

    def port_address(self, execution_id: str, service_id: str, port: str, *, direct: bool = False) -> wire.AddressView:
        """Return the address of a named port of a running service: in the proxy or, for operators who request `direct`,
        its own address.
        """
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/ports/{path_part(port)}"
        return self.call(wire.AddressView, "GET", path, parameters={"direct": direct} if direct else None)

    def open_port(self, execution_id: str, service_id: str, port: str) -> wire.OpenView:
        """Return a URL at which a browser can enter a proxied port, once and within a minute."""
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/ports/{path_part(port)}/open"
        return self.call(wire.OpenView, "POST", path)

    def execution_usage(self, execution_id: str) -> wire.UsageList:
        """Return usage samples of an execution."""
        return self.call(wire.UsageList, "GET", f"/executions/{path_part(execution_id)}/usage")

    # -- cluster ---------------------------------------------------------------------------------------------------
    def nodes(self) -> wire.NodeList:
        """Return all nodes."""
        return self.call(wire.NodeList, "GET", "/nodes")

    def try_loss(self, wanted: wire.NodeLossRequest) -> wire.NodeLossView:
        """Return what would end, start again and wait longer if these nodes were lost now; nothing changes."""
        return self.call(wire.NodeLossView, "POST", "/nodes/loss", body=wanted, again=True)

    def usage(self) -> wire.UsageList:
        """Return the current usage of running services."""
        return self.call(wire.UsageList, "GET", "/usage")

    def use_of(self, execution_ids: Sequence[str]) -> wire.ExecutionUseList:
        """Return the use and the reservations of executions, at most 100."""
        return self.call(wire.ExecutionUseList, "GET", "/usage/executions", parameters={"id": list(execution_ids)})

    def daily_use(self, from_s: float, to_s: float | None = None) -> wire.DailyUse:
        """Return the reservations of each day."""
        return self.call(wire.DailyUse, "GET", "/usage/daily", parameters={"from_s": from_s, "to_s": to_s})

    def quota(self) -> wire.QuotaMeters:
        """Return how much of its limits the user's tenant uses now."""
        return self.call(wire.QuotaMeters, "GET", "/quota")

    def statement(self, month: str, tenant: str | None = None) -> wire.StatementView:
        """Return a month's statement: the user's part or, for operators, all of a tenant (`*`: of all tenants)."""
        path = f"/statements/{path_part(month)}"
        return self.call(wire.StatementView, "GET", path, parameters={"tenant": tenant, "format": "json"})

    def statement_csv(self, month: str, tenant: str | None = None) -> str:
        """Return the lines of a statement as CSV."""
        path = f"/statements/{path_part(month)}"
        return self.text(path, {"tenant": tenant, "format": "csv"})

    def budgets(self) -> wire.BudgetList:
        """Return the budgets of the user and of the tenant, and the amounts spent."""
        return self.call(wire.BudgetList, "GET", "/budgets")

    def policy(self) -> wire.PolicyView:
        """Return the policy in force."""
        return self.call(wire.PolicyView, "GET", "/policy")

    def plugins(self) -> wire.PluginList:
        """Return the installed filters, weighers and back-ends, and the distribution of each."""
        return self.call(wire.PluginList, "GET", "/plugins")

    def try_policy(self, policy: wire.PolicyView) -> wire.DryRunView:
        """Compare a proposed policy with the present one on the present queue; nothing changes."""
        return self.call(wire.DryRunView, "POST", "/policy/dry-run", body=policy, again=True)

    def replay(self, wanted: wire.ReplayRequest) -> wire.ReplayView:
        """Replay the journal as recorded, and with another policy, limits or nodes; this takes minutes at most."""
        return self.call(wire.ReplayView, "POST", "/replays", body=wanted, timeout_s=_REPLAY_TIMEOUT_S)

    def set_policy(self, policy: wire.PolicyView) -> wire.PolicyView:
        """Put a policy in force; Conflict if it has changed since it was read."""
        headers = {"If-Match": f'"{policy.version}"'}
        return self.call(wire.PolicyView, "PUT", "/policy", body=policy, headers=headers)

    def status(self) -> wire.StatusView:
        """Return the state of the installation."""
        return self.call(wire.StatusView, "GET", "/status")

    # -- descriptions ----------------------------------------------------------------------------------------------
    def validate(self, application: dict[str, Any]) -> wire.ValidateResponse:
        """Check a description; nothing is stored."""
        return self.call(
            wire.ValidateResponse, "POST", "/validate", body=wire.ValidateRequest(application=application), again=True
        )

    def plan(
        self,
        application: dict[str, Any],
        priority: int | None = None,
        *,
        deadline: str | None = None,
        finish_by: str | None = None,
        confidence: float | None = None,
        budget: float | None = None,
        run_time_s: float | None = None,
        indices: str | None = None,
    ) -> wire.PlanView:
        """Return the plan for an application if it were submitted now, and whether it would meet a deadline (`deadline`
        of the answer); NeverFits if it can never run, BadTime. `indices`: of an array; `array` says how many would
        start, the rest of the answer is about one of them.
        """
        deadline = finish_time(finish_by, deadline, confidence, budget)
        wanted = None if deadline is None else sent_deadline(deadline, time.time())
        application = with_run_time(application, run_time_s)
        application = with_promise_request(application, confidence, budget) if finish_by is not None else application
        body = wire.PlanRequest(application=application, priority=priority, deadline=wanted, indices=indices)
        return self.call(wire.PlanView, "POST", "/plan", body=body, again=True)

    def convert(self, document: object) -> wire.ConvertResponse:
        """Convert a description of an older format to version 4."""
        return self.call(
            wire.ConvertResponse, "POST", "/convert", body=wire.ConvertRequest(document=document), again=True
        )

    def catalogue(self) -> wire.CatalogueList:
        """Return the descriptions of the catalogue."""
        return self.call(wire.CatalogueList, "GET", "/catalogue")

    # -- people ----------------------------------------------------------------------------------------------------
    def me(self) -> wire.PrincipalView:
        """Return the user, tenant and scopes of the token."""
        return self.call(wire.PrincipalView, "GET", "/me")

    def tokens(self) -> wire.TokenList:
        """Return the user's tokens."""
        return self.call(wire.TokenList, "GET", "/tokens")

    def add_token(self, request: wire.TokenRequest) -> wire.TokenView:
        """Create a token."""
        return self.call(wire.TokenView, "POST", "/tokens", body=request)

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token."""
        return self.do("DELETE", f"/tokens/{path_part(token_id)}")

    # -- secrets -------------------------------------------------------------------------------------------------------
    def secrets(self) -> wire.SecretList:
        """Return your secrets in the tenant and those of the tenant, without their values."""
        return self.call(wire.SecretList, "GET", "/secrets")

    def set_secret(self, name: str, value: str, of_tenant: bool = False) -> wire.SecretView:
        """Store a secret of the user, or of the tenant (for operators and admins)."""
        path, body = f"/secrets/{new_name(name, NAME)}", wire.SecretRequest(value=value)
        return self.call(wire.SecretView, "PUT", path, body=body, parameters={"of_tenant": of_tenant or None})

    def remove_secret(self, name: str, of_tenant: bool = False) -> None:
        """Remove a secret; running services keep its value."""
        return self.do("DELETE", f"/secrets/{path_part(name)}", parameters={"of_tenant": of_tenant or None})

    # -- notifications ---------------------------------------------------------------------------------------------
    def targets(self) -> wire.TargetList:
        """Return your notification targets in the tenant, and those of the tenant."""
        return self.call(wire.TargetList, "GET", "/notifications")

    def set_target(self, name: str, request: wire.TargetRequest, of_tenant: bool = False) -> wire.TargetView:
        """Notify a webhook or a mail address about your executions, or about the tenant's (for operators and
        admins).
        """
        path = f"/notifications/{new_name(name, NAME)}"
        return self.call(wire.TargetView, "PUT", path, body=request, parameters={"of_tenant": of_tenant or None})

    def test_target(self, name: str, of_tenant: bool = False) -> None:
        """Send a test notification; `targets` shows its outcome."""
        return self.do("POST", f"/notifications/{path_part(name)}/test", parameters={"of_tenant": of_tenant or None})

    def remove_target(self, name: str, of_tenant: bool = False) -> None:
        """Remove a target of notifications."""
        return self.do("DELETE", f"/notifications/{path_part(name)}", parameters={"of_tenant": of_tenant or None})
