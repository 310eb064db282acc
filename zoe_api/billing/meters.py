"""Use of the limits of a tenant, or of a user in it."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_client.wire import Meter
from zoe_lib.domain.executions.limits import AMOUNTS, AMOUNTS_OF_USERS, NOT_METERED, Limits, LimitSubject


def meters(limits: Limits, uses: Mapping[LimitSubject, Mapping[str, int]], subject: LimitSubject) -> dict[str, Meter]:
    """Return a meter for each amount with a limit for the subject."""
    limit, has = limits.for_subject(*subject), uses.get(subject, {})
    names = (name for name in (AMOUNTS if subject.user is None else AMOUNTS_OF_USERS) if name not in NOT_METERED)
    return {name: Meter(used=has.get(name, 0), limit=getattr(limit, name)) for name in names}
