"""Executions with a common promise, as the API sends them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.events import Submitted
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.store.documents.codec import decode

_MEMBERS_MAX = 500


class PromisedMember(BaseModel):
    """A member of the group. application: its index in the applications; after: its dependencies among the members."""

    model_config = ConfigDict(extra="forbid")
    id: str
    name: str
    application: int = Field(ge=0)
    deadline_s: float
    priority: int = 0
    after: list[dict[str, Any]] = Field(default=[], max_length=_MEMBERS_MAX)


class PromiseRequest(BaseModel):
    """A request of the API. Indices of an array share an application, so each is sent once."""

    model_config = ConfigDict(extra="forbid")
    tenant: str
    user: str
    submitted_at_s: float
    applications: list[dict[str, Any]] = Field(min_length=1, max_length=_MEMBERS_MAX)
    members: list[PromisedMember] = Field(min_length=1, max_length=_MEMBERS_MAX)


def planned_together(question: PromiseRequest) -> list[Execution]:
    """Return the executions as if they were submitted now."""
    applications = [decode(Application, application) for application in question.applications]
    whole = question.members[0].id if len(question.members) > 1 else ""
    found = []
    for member in question.members:
        after = tuple(decode(Dependency, each) for each in member.after)
        execution = Execution(
            member.id,
            member.name,
            question.tenant,
            question.user,
            applications[member.application],
            question.submitted_at_s,
            priority=member.priority,
            deadline_s=member.deadline_s,
            conditions=Conditions(after=after, whole=whole, members=len(question.members)),
        )
        found.append(apply(execution, Submitted(at_s=question.submitted_at_s)))
    return found
