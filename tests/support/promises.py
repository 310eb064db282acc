"""What tenants are to be promised, each to one execution that has the tenant's name and requires it."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.promises import Promise, Rates
from zoe_master.storage.slo_reconciler import DesiredStorage


def required_by(rates: Mapping[str, Rates], uris: frozenset[str] = frozenset()) -> DesiredStorage:
    return DesiredStorage(tuple(Promise(tenant, tenant, one, True) for tenant, one in sorted(rates.items())), uris)
