"""What requests need: the store, the master, who is asking."""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from zoe_api.problems import ApiProblem
from zoe_api.stream import JournalNews
from zoe_lib.config import Settings
from zoe_lib.domain.execution import Execution
from zoe_lib.messaging.client import MasterClient
from zoe_lib.store.base import NotFound, Principal, Store

TOKEN_PREFIX = "zoe"  # noqa: S105 - the visible part of every token
_bearer = HTTPBearer(auto_error=False, description="An API token: zoe_<id>_<secret>")


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that lives as long as the process."""

    settings: Settings
    store: Store
    master: MasterClient
    news: JournalNews


def services(request: Request) -> Services:
    """The process's services."""
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


def get_store(request: Request) -> Store:
    """The store."""
    return services(request).store


def get_master(request: Request) -> MasterClient:
    """The way to the master."""
    return services(request).master


def secret_hash(secret: str) -> str:
    """What is kept of a token's secret; it is random and long, so one round of SHA-256 is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def principal(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Principal:
    """Who is asking, by token; 401 for everybody else."""
    if credentials is None:
        raise ApiProblem(401, "no_token", "This needs a token", hint="Authorization: Bearer zoe_...")
    parts = credentials.credentials.split("_", 2)
    if len(parts) == 3 and parts[0] == TOKEN_PREFIX:
        found = get_store(request).principal(parts[1], time.time())
        if found is not None and hmac.compare_digest(found[1], secret_hash(parts[2])):
            return found[0]
    raise ApiProblem(401, "bad_token", "The token is unknown or has expired", hint="ask for a new one")


class Scope:
    """Requires a scope of the token."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, who: Annotated[Principal, Depends(principal)]) -> Principal:
        """The principal, when the token has the scope; 403."""
        if self.name not in who.scopes:
            raise ApiProblem(403, "scope_missing", f"The token lacks the scope {self.name}")
        if self.name == "admin" and not who.admin:
            raise ApiProblem(403, "not_admin", "Only admins may do that")
        return who


StoreDep = Annotated[Store, Depends(get_store)]
MasterDep = Annotated[MasterClient, Depends(get_master)]
ServicesDep = Annotated[Services, Depends(services)]
Reader = Annotated[Principal, Depends(Scope("read"))]
Submitter = Annotated[Principal, Depends(Scope("submit"))]
Admin = Annotated[Principal, Depends(Scope("admin"))]


def visible_execution(store: Store, who: Principal, execution_id: str) -> Execution:
    """The execution when it is the principal's tenant's or the principal is admin; NotFound otherwise."""
    execution = store.execution(execution_id)
    if execution.tenant != who.tenant and not who.admin:
        raise NotFound(f"no execution {execution_id}")
    return execution


def check_if_match(request: Request, version: int) -> None:
    """Honour If-Match; 412 when the client saw another version."""
    wanted = request.headers.get("if-match")
    if wanted is not None and wanted.strip() not in ("*", etag(version)):
        raise ApiProblem(412, "version_mismatch", "It was changed since you read it", f"its version is {version} now")


def etag(version: int) -> str:
    """The entity tag of a version."""
    return f'"{version}"'
