"""Check a description before it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from zoe_client import wire
from zoe_client.vocabulary import PRIORITY_MAX
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.secrets import TenantSecrets, wanted_secrets
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.policy import Policy, priority_max_of
from zoe_lib.domain.values.storage import StoreAccess
from zoe_lib.domain.values.volumes import UserVolumes
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.quotas import with_time_limit
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.checks.platform import (
    note_doubts,
    note_ignored_settings,
    note_installations,
    note_unheld_limits,
    note_volumes,
    refuse_impossible,
)
from zoe_lib.submission.checks.services import refuse_unreachable_api
from zoe_lib.submission.checks.store import (
    note_bandwidth,
    note_plain_inputs,
    refuse_beyond_capacity,
    refuse_without_controller,
)
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused, from_description

# Many submissions have the same description, and parsing it takes longer than a lookup. The result depends on nothing
# else.
_KEPT_MAX = 64
_KEPT_LENGTH_MAX = 16_384
REFUSALS: tuple[Callable[[Examined], SubmissionRefused | None], ...] = (
    refuse_without_controller,
    refuse_unreachable_api,
    refuse_impossible,
    refuse_beyond_capacity,
)
"""The first refusal of this list is the answer."""
NOTES: tuple[Callable[[Examined], Iterator[str]], ...] = (
    note_ignored_settings,
    note_unheld_limits,
    note_installations,
    note_bandwidth,
    note_plain_inputs,
    note_volumes,
    note_doubts,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """An application that may run here, and notes for its user.

    `notes` also contains findings that are not certain.
    """

    application: Application
    priority: int
    notes: tuple[str, ...]


def check_description(
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
    name of an entry, if it runs once for each entry of a list. Submission, `validate`, `plan` and forms all call this
    function, so that their answers agree.
    """
    application = _parse(document, each)
    terms = place.store.terms(versions)
    if priority is None and "priority" in document:
        priority = application.default_priority
    priority = _allowed_priority(priority, terms.policy, principal, principal.tenant)
    access = _access(application, place, principal)
    secrets = secret_access(application, place.store.accounts, principal.user, principal.tenant)
    volumes = user_volumes(application, place.store.accounts, principal.user, principal.tenant)
    target = Target(terms.platform, access, secrets, volumes)
    found = findings(application, target)
    examined = Examined(document, application, place.settings, terms.platform, found, volumes)
    for refusal in REFUSALS:
        if (refused := refusal(examined)) is not None:
            raise refused
    application, limit_notes = _with_default_time_limit(application, terms.policy, place, principal.tenant)
    return Checked(application, priority, (*(note for notes in NOTES for note in notes(examined)), *limit_notes))


def _with_default_time_limit(
    application: Application, policy: Policy, place: SubmissionPlace, tenant: str
) -> tuple[Application, Sequence[str]]:
    """Return the application with the policy's default time limit, if it has none, and a note to its user.

    The policy of the terms has no limits of tenants, which are read only if there is a default.
    """
    if application.time_limit_s is not None or not policy.default_time_limit_s:
        return application, ()
    return with_time_limit(application, tenant, place.store.policy().limits)


def checked_priority(wish: int, place: SubmissionPlace, principal: Principal, tenant: str) -> int:
    """Return the priority that a principal requests for an execution of a tenant; SubmissionRefused if it is too
    high.
    """
    return _allowed_priority(wish, place.store.policy(), principal, tenant)


def _access(application: Application, place: SubmissionPlace, principal: Principal) -> StoreAccess:
    """Return the services of the object store that the user's tenant can reach; queried only if the application has
    URIs.
    """
    if application.storage is None or not (application.storage.inputs or application.storage.outputs):
        return StoreAccess()
    credentials = frozenset(
        credential.service for credential in place.store.accounts.storage_credentials(principal.tenant)
    )
    return StoreAccess(frozenset(place.settings.storage_services), principal.tenant, credentials)


def secret_access(application: Application, accounts: AccountStore, user: str, tenant: str) -> TenantSecrets:
    """Return which of the application's secrets a user's services can use."""
    names = wanted_secrets(application)
    return TenantSecrets(user, tenant, accounts.secret_names(tenant, user, names)) if names else TenantSecrets()


def user_volumes(application: Application, accounts: AccountStore, user: str, tenant: str) -> UserVolumes:
    """Return which of the application's named volumes are volumes of blocks of the user."""
    names = {volume.name for component in application.components for volume in component.volumes if volume.name}
    if not names:
        return UserVolumes()
    found = accounts.volumes_named(tenant, user, names)
    attached = accounts.volumes_attached(found)
    return UserVolumes(
        {volume.name: volume for volume in found},
        {volume.name: attached[volume.id] for volume in found if volume.id in attached},
    )


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


def _parse(document: dict[str, Any], each: str | None = None) -> Application:
    """Return the application; SubmissionRefused with every diagnostic."""
    text = json.dumps(document)
    try:
        return _read(text, each) if len(text) <= _KEPT_LENGTH_MAX else parse(document, each=each)
    except DescriptionError as error:
        raise from_description(error) from None


@lru_cache(_KEPT_MAX)
def _read(text: str, each: str | None) -> Application:
    return parse(json.loads(text), each=each)
