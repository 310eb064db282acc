"""Enabled projects in both dialects. If there are any, rules of the later dialect are for these only."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from storage_controller.answers import RequestRefusedError
from storage_controller.routes.parameters import LedgerDep, Name
from storage_filters.rules.rules import Rule, TargetKind


class Tenant(BaseModel):
    """A project to enable, in the appendix dialect."""

    tenant_name: Annotated[str, Field(min_length=1, max_length=256)]


router = APIRouter()


@router.get("/projects")
def list_projects(ledger: LedgerDep) -> list[str]:
    """List the enabled projects."""
    return sorted(ledger.project_names())


@router.get("/projects/{project_id}")
def show_project(ledger: LedgerDep, project_id: str) -> list[str]:
    """List the project alone if it is enabled, and nothing if not."""
    return [project for project in ledger.project_names() if project == project_id]


@router.post("/projects/{project_id}")
def check_project(ledger: LedgerDep, project_id: str) -> str:
    """Return the project if it is enabled."""
    if project_id not in ledger.project_names():
        raise RequestRefusedError(404, not_enabled(project_id))
    return project_id


@router.put("/projects/{project_id}", status_code=201)
def enable_project(ledger: LedgerDep, project_id: Name) -> dict[str, str]:
    """Enable a project."""
    ledger.keep_project(project_id, project_id)
    return {"project_id": project_id}


@router.delete("/projects/{project_id}", status_code=201)
def disable_project(ledger: LedgerDep, project_id: str) -> dict[str, str]:
    """Disable a project; its rules stay."""
    if not ledger.drop_project(project_id):
        raise RequestRefusedError(404, f"project {project_id} is not enabled")
    return {"project_id": project_id}


@router.get("/swift/tenants")
def list_tenants(ledger: LedgerDep) -> dict[str, list[dict[str, Any]]]:
    """List the enabled tenants, in the form of Keystone."""
    return {
        "tenants": [{"id": project, "name": name, "enabled": True} for project, name in ledger.project_names().items()]
    }


@router.post("/swift/tenants", status_code=201)
def enable_tenant(ledger: LedgerDep, tenant: Tenant) -> dict[str, str]:
    """Enable a tenant."""
    ledger.keep_project(tenant.tenant_name, tenant.tenant_name)
    return {"tenant_name": tenant.tenant_name}


def not_enabled(project: str) -> str:
    """Return the sentence on a project that is not enabled."""
    return f"project {project} is not enabled: enable it with PUT /projects/{project}"


def disabled_project(rules: Collection[Rule], enabled: Collection[str]) -> str | None:
    """Return a project of the rules that is not enabled; None without one, or if no project is enabled at all."""
    wanted = {rule.target.tenant for rule in rules if rule.target.kind is not TargetKind.GROUP}
    return min(wanted.difference(enabled), default=None) if enabled else None
