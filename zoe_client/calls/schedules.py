"""Stored applications and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from zoe_client import wire
from zoe_client.http.transport import Transport, new_name, path_part
from zoe_client.words.names import NAME


class StoredApplications:
    """The calls of `Client.applications`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(self, name: str, document: dict[str, Any], of_tenant: bool = False) -> wire.StoredApplicationView:
        """Store the next version of a description or a workflow, yours or the tenant's (for operators and admins)."""
        body = wire.StoredApplicationRequest(document=document)
        given = {"of_tenant": of_tenant or None}
        path = f"/applications/{new_name(name, NAME)}"
        return self._transport.call(wire.StoredApplicationView, "PUT", path, body=body, parameters=given)

    def all(self) -> wire.StoredApplicationList:
        """Return the newest versions of your stored applications in the tenant, and of the tenant's."""
        return self._transport.call(wire.StoredApplicationList, "GET", "/applications")

    def one(self, name: str, version: int | None = None, of_tenant: bool = False) -> wire.StoredApplicationDetail:
        """Return a version (None: the newest) with its document."""
        given = {"version": version, "of_tenant": of_tenant or None}
        path = f"/applications/{path_part(name)}"
        return self._transport.call(wire.StoredApplicationDetail, "GET", path, parameters=given)

    def remove(self, name: str, of_tenant: bool = False) -> None:
        """Remove all versions."""
        given = {"of_tenant": of_tenant or None}
        return self._transport.do("DELETE", f"/applications/{path_part(name)}", parameters=given)

    def dispatch(
        self,
        application: str,
        /,
        parameters: Mapping[str, Any] | None = None,
        *,
        of_tenant: bool = False,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> wire.RunView:
        """Run a stored application; the options are the fields of `wire.DispatchRequest`. The same idempotency key
        returns the same run.
        """
        body = wire.DispatchRequest(parameters=dict(parameters or {}), **options)
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        path, given = f"/applications/{path_part(application)}/dispatch", {"of_tenant": of_tenant or None}
        return self._transport.call(
            wire.RunView, "POST", path, body=body, headers=headers, parameters=given, again=True
        )


class Schedules:
    """The calls of `Client.schedules`. `user`: another user's schedule; for operators."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(self, name: str, request: wire.ScheduleRequest) -> wire.ScheduleView:
        """Create or replace a schedule, which runs an application at the times of a cron expression."""
        return self._transport.call(wire.ScheduleView, "PUT", f"/schedules/{new_name(name, NAME)}", body=request)

    def all(self, all_users: bool = False) -> wire.ScheduleList:
        """Return your schedules in the tenant, or those of all its users (for operators)."""
        return self._transport.call(wire.ScheduleList, "GET", "/schedules", parameters={"all_users": all_users or None})

    def one(self, name: str, user: str | None = None) -> wire.ScheduleDetail:
        """Return a schedule with its next times, and the outcomes of its last ones."""
        path = f"/schedules/{path_part(name)}"
        return self._transport.call(wire.ScheduleDetail, "GET", path, parameters={"user": user})

    def hold(self, name: str, user: str | None = None) -> wire.ScheduleView:
        """Suspend the schedule until it is released."""
        path = f"/schedules/{path_part(name)}/hold"
        return self._transport.call(wire.ScheduleView, "POST", path, parameters={"user": user}, again=True)

    def release(self, name: str, user: str | None = None) -> wire.ScheduleView:
        """Resume the schedule from now on."""
        path = f"/schedules/{path_part(name)}/release"
        return self._transport.call(wire.ScheduleView, "POST", path, parameters={"user": user}, again=True)

    def run(self, name: str, *, idempotency_key: str | None = None) -> wire.RunView:
        """Run it now; the same idempotency key returns the same run."""
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        path = f"/schedules/{path_part(name)}/run"
        return self._transport.call(wire.RunView, "POST", path, headers=headers, again=True)

    def backfill(self, name: str, request: wire.BackfillRequest) -> wire.BackfillView:
        """Run past times, each once and with its own time."""
        path = f"/schedules/{path_part(name)}/backfill"
        return self._transport.call(wire.BackfillView, "POST", path, body=request, again=True)

    def remove(self, name: str, user: str | None = None) -> None:
        """Remove a schedule with its history."""
        return self._transport.do("DELETE", f"/schedules/{path_part(name)}", parameters={"user": user})
