"""Check a description before it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from zoe_client import wire
from zoe_client.documents.diagnostics import pointer
from zoe_client.vocabulary import PRIORITY_MAX
from zoe_lib.descriptions import DescriptionError, Diagnostic, located, parse
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.applications.secrets import TenantSecrets, wanted_secrets
from zoe_lib.domain.cluster.cluster import never_fits
from zoe_lib.domain.cluster.feasibility import Finding, findings
from zoe_lib.domain.cluster.policy import Policy, priority_max_of
from zoe_lib.domain.executions.promises import (
    StoreCapacity,
    never_granted,
    never_promised,
    not_always_kept,
    pushed_down,
    view_schemes,
    why_no_view,
    wished,
)
from zoe_lib.domain.values.storage import Guarantee, StoreAccess
from zoe_lib.settings.config import Settings
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused, diagnostics_of, from_description

# Many submissions have one description, and to read it takes longer than to look it up. That depends on nothing else.
_KEPT_MAX = 64
_KEPT_LENGTH_MAX = 16_384
_NOT_ON_LOCAL: dict[str, Callable[[Component], bool]] = {
    "shm": lambda component: component.shm_bytes is not None,
    "read_only_root": lambda component: component.read_only_root,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """An application that may run here, and notes for its user.

    `notes` also contains findings that are not certain."""

    application: Application
    priority: int
    notes: tuple[str, ...]


def checked(
    document: dict[str, Any],
    place: SubmissionPlace,
    principal: Principal,
    priority: int | None = None,
    versions: TermsVersions | None = None,
    each: str | None = None,
) -> Checked:
    """Return the application of a description, unless it can never run here: SubmissionRefused with all reasons.

    `priority` is the description's if none is requested, and at most the principal's maximum; without any it is 0, or
    the maximum if that is lower. `versions` are those of the terms, if the request has read them already. `each`: the
    name of the entry of a list for which it runs. Submission, `validate`, `plan` and forms all use this function, so
    that they cannot differ."""
    application, storage = _parsed(document, each), place.settings.storage_url is not None
    terms = place.store.terms(versions)
    platform = terms.platform
    if priority is None and "priority" in document:
        priority = application.default_priority
    priority = _allowed_priority(priority, terms.policy, principal, principal.tenant)
    _check_bandwidth(application, storage)
    _check_api(application, place.settings)
    faults = findings(
        application,
        platform,
        _access(application, place, principal),
        secret_access(application, place.store.accounts, principal.user, principal.tenant),
    )
    certain = [_located(document, one) for one in faults if one.certain]
    reason = never_fits(application, platform.nodes)
    if certain:
        too_large = () if reason is None else (Diagnostic("/components", reason.code, reason.sentence, reason.hint),)
        raise SubmissionRefused("never_fits", certain[0].message, errors=diagnostics_of([*certain, *too_large]))
    if reason is not None:
        raise SubmissionRefused("never_fits", reason.sentence, reason.hint)
    capacity = platform.storage if storage and wished(application) is not None else None
    _check_capacity(application, capacity)
    doubts = (str(_located(document, one)) for one in faults)
    return Checked(application, priority, (*_notes_of(application, place.settings, capacity), *doubts))


def checked_priority(wish: int, place: SubmissionPlace, principal: Principal, tenant: str) -> int:
    """Return the priority that a principal wishes for an execution of a tenant; SubmissionRefused if it is too high."""
    return _allowed_priority(wish, place.store.policy(), principal, tenant)


def _access(application: Application, place: SubmissionPlace, principal: Principal) -> StoreAccess:
    """Return what the user's tenant can reach of the object store; queried only if the application has URIs."""
    if application.storage is None or not (application.storage.inputs or application.storage.outputs):
        return StoreAccess()
    credentials = frozenset(one.service for one in place.store.accounts.storage_credentials(principal.tenant))
    return StoreAccess(frozenset(place.settings.storage_services), principal.tenant, credentials)


def secret_access(application: Application, accounts: AccountStore, user: str, tenant: str) -> TenantSecrets:
    """Return which secrets a user's services find of those that an application asks for."""
    names = wanted_secrets(application)
    return TenantSecrets(user, tenant, accounts.secret_names(tenant, user, names)) if names else TenantSecrets()


def _located(document: dict[str, Any], finding: Finding) -> Diagnostic:
    return located(document, Diagnostic(pointer(*finding.place), finding.code, finding.message, finding.hint))


def _allowed_priority(wish: int | None, policy: Policy, principal: Principal, tenant: str) -> int:
    most = PRIORITY_MAX if principal.operator else priority_max_of(policy, tenant)
    priority = min(0, most) if wish is None else wish
    if priority > most:
        raise SubmissionRefused(
            "priority_too_high",
            f"the priority is {priority}; the maximum for users of {tenant} is {most}",
            "ask for a lower priority, or ask an operator to submit it",
            [
                wire.Diagnostic(
                    pointer="/priority",
                    code="too_high",
                    message=f"higher than {most}, the maximum in {tenant}",
                )
            ],
        )
    return priority


def _check_bandwidth(application: Application, storage: bool) -> None:
    bandwidth = application.storage.bandwidth if application.storage is not None else None
    if not storage and bandwidth is not None and bandwidth.guarantee is Guarantee.REQUIRED:
        raise SubmissionRefused(
            "storage_guarantee_unavailable",
            hint="use guarantee: preferred to run without it",
            errors=[
                wire.Diagnostic(pointer="/storage/bandwidth/guarantee", code="unavailable", message="no controller")
            ],
        )


def _check_api(application: Application, settings: Settings) -> None:
    """Refuse components that ask for the API where they cannot reach it."""
    if settings.services_api_url is not None:
        return
    asking = [index for index, one in enumerate(application.components) if one.api]
    if asking:
        why = "services of this installation do not know the address of the API"
        hint = "an admin can set services_api_url"
        error = wire.Diagnostic(pointer=pointer("components", asking[0], "api"), code="unavailable", message=why)
        raise SubmissionRefused("jobs_unreachable", why, hint, [error])


def _check_capacity(application: Application, capacity: StoreCapacity | None) -> None:
    """Refuse it if it requires more than the object store can guarantee in total; return None if that is unknown."""
    reason = never_promised(application, capacity.rates) if capacity is not None else None
    if reason is not None:
        error = wire.Diagnostic(pointer="/storage/bandwidth", code="unavailable", message=reason.hint)
        raise SubmissionRefused("never_fits", reason.sentence, reason.hint, [error])


def _notes_of(application: Application, settings: Settings, capacity: StoreCapacity | None) -> Iterator[str]:
    """Yield notes for the user on how it will run on this back-end."""
    storage, s3 = settings.storage_url is not None, settings.storage_services.get("s3a")
    schemes = view_schemes(s3 is not None and bool(s3.swift_url))
    if settings.backend == "local":
        for key, asks_for in _NOT_ON_LOCAL.items():
            names = ", ".join(component.name for component in application.components if asks_for(component))
            if names:
                yield f"the local back-end ignores {key}, which these components ask for: {names}"
    if not storage and application.storage is not None and application.storage.bandwidth is not None:
        yield "no storage controller is configured: it runs without the bandwidth that it prefers"
    if capacity is not None:
        yield from filter(None, [never_granted(application, capacity.rates) or not_always_kept(application, capacity)])
    if not storage and pushed_down(application):
        yield "no storage controller is configured: it reads the plain objects, without pushdown"
    for pushed_input in pushed_down(application) if storage else ():
        if why := why_no_view(pushed_input, schemes, settings.storage_services):
            yield f"input {pushed_input.name} is read plainly: {why}"


def _parsed(document: dict[str, Any], each: str | None = None) -> Application:
    """Return the application; SubmissionRefused with every diagnostic."""
    text = json.dumps(document)
    try:
        return _read(text, each) if len(text) <= _KEPT_LENGTH_MAX else parse(document, each=each)
    except DescriptionError as error:
        raise from_description(error) from None


@lru_cache(_KEPT_MAX)
def _read(text: str, each: str | None) -> Application:
    return parse(json.loads(text), each=each)
