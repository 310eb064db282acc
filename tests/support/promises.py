"""Promises to tenants, each for one execution that has the tenant's name and requires it."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.executions.promises import BandwidthGuarantee, Rates
from zoe_master.storage.slo_reconciler import DesiredSlos


def required_by(rates: Mapping[str, Rates], uris: frozenset[str] = frozenset()) -> DesiredSlos:
    return DesiredSlos(
        tuple(BandwidthGuarantee(tenant, tenant, entry, True) for tenant, entry in sorted(rates.items())), uris
    )
