"""Nodes, capabilities and policy of the installation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as insert_or

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.cluster.policy import Policy, shown_limits, with_limits, with_shown_limits
from zoe_lib.domain.executions.limits import Limits
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.lifecycle.idleness import counts_anew
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.documents.rows import node_values, to_node
from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.sql.batch.writing import check_leader
from zoe_lib.store.sql.billing import last_uses, limits
from zoe_lib.store.sql.connection.database import Database
from zoe_lib.store.sql.connection.prepared import Prepared
from zoe_lib.store.sql.journal.journal import write_fact
from zoe_lib.store.tables.executions import HOLDS_RESERVATION, services
from zoe_lib.store.tables.installation import capabilities as capabilities_table
from zoe_lib.store.tables.installation import platform
from zoe_lib.store.tables.installation import policy as policy_table


def set_platform(connection: Connection, nodes: Sequence[Node], at_s: float, leader_epoch: int | None) -> None:
    """Replace all nodes."""
    check_leader(connection, leader_epoch)
    reserved = _reserved_on_nodes(connection)
    rows = [node_values(node, reserved.get(node.name, Resources()), at_s) for node in nodes]
    connection.execute(delete(platform))
    if rows:
        connection.execute(insert(platform), rows)


def read_platform(connection: Connection) -> Sequence[Node]:
    """Return all nodes by name."""
    return [to_node(row) for row in connection.execute(select(platform).order_by(platform.c.name))]


def set_capabilities(
    connection: Connection,
    capabilities: BackendCapabilities,
    storage: StoreCapacity | None,
    at_s: float,
    leader_epoch: int | None,
) -> None:
    """Replace the capabilities, as the next version; values of the object store that are not given are unchanged."""
    check_leader(connection, leader_epoch)
    values: dict[str, object] = {"data": encode(capabilities), "set_at_s": at_s}
    if storage is not None:
        values["storage"] = encode(storage)
    connection.execute(
        insert_or(capabilities_table)
        .values(id=1, version=1, **values)
        .on_conflict_do_update(index_elements=["id"], set_={**values, "version": capabilities_table.c.version + 1})
    )


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms that a submission is checked against: the platform, and the policy without its limits."""

    platform: Platform
    policy: Policy


TermsVersions = tuple[object, ...]
# All nodes are written together, so any row shows which transaction wrote them.
TERMS_VERSIONS = """
    (SELECT version FROM policy) AS policy_version, (SELECT version FROM capabilities) AS capabilities_version,
    (SELECT xmin::text || ' ' || seen_at_s FROM platform LIMIT 1) AS nodes_version
"""
"""Columns for any statement: versions that show whether the terms have changed."""
_VERSIONS = Prepared("zoe_versions", {}, f"SELECT {TERMS_VERSIONS}")


class TermsReader:
    """Reads the terms again when their versions have changed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: tuple[TermsVersions, Terms] | None = None

    def read(self, versions: TermsVersions | None = None) -> Terms:
        """Return all terms, of one moment, no earlier than the statement that read these versions.

        Without versions, that is a statement of this call.
        """
        kept = self._kept
        if kept is None or (versions or self._database.look(_versions)) != kept[0]:
            kept = self._kept = self._database.read(_read_terms)
        return kept[1]


def versions_of(row: Row[Any]) -> TermsVersions:
    """Return the versions in a row with the columns `TERMS_VERSIONS`."""
    return row.policy_version, row.capabilities_version, row.nodes_version


def _versions(connection: Connection) -> TermsVersions:
    (row,) = _VERSIONS.rows(connection)
    return versions_of(row)


def _read_terms(connection: Connection) -> tuple[TermsVersions, Terms]:
    return _versions(connection), Terms(_read_all(connection), with_limits(read_policy(connection), Limits()))


def _read_all(connection: Connection) -> Platform:
    columns = (capabilities_table.c.data, capabilities_table.c.storage)
    row = connection.execute(select(*columns)).one_or_none()
    nodes = tuple(read_platform(connection))
    if row is None:
        return Platform(nodes)
    capacity = None if row.storage is None else decode(StoreCapacity, row.storage)
    return Platform(nodes, decode(BackendCapabilities, row.data), capacity)


def _reserved_on_nodes(connection: Connection) -> Mapping[str, Resources]:
    sums = (func.sum(services.c.cores_milli), func.sum(services.c.memory_bytes))
    rows = connection.execute(select(services.c.node, *sums).where(text(HOLDS_RESERVATION)).group_by(services.c.node))
    return {node: Resources(int(cores_milli), int(memory_bytes)) for node, cores_milli, memory_bytes in rows}


def read_policy(connection: Connection) -> Policy:
    """Return the policy in force, with its limits."""
    row = connection.execute(select(policy_table.c.version, policy_table.c.data)).one_or_none()
    found = Policy() if row is None else replace(decode(Policy, row.data), version=row.version)
    return with_limits(found, limits.read(connection))


def set_policy(connection: Connection, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
    """Put a policy in force and journal it; of the limits, it sets those in its documents."""
    limits.lock(connection)
    present = read_policy(connection)
    new = with_shown_limits(present, replace(policy, version=expected_version + 1))
    values = {"version": new.version, "data": encode(with_limits(new, Limits())), "set_at_s": at_s}
    if expected_version == 0:
        done = connection.execute(insert_or(policy_table).values(id=1, **values).on_conflict_do_nothing())
    else:
        done = connection.execute(update(policy_table).where(policy_table.c.version == expected_version).values(values))
    if done.rowcount != 1:
        raise ConcurrentUpdate(f"version {expected_version} of the policy is not in force any more; read it again")
    limits.write(connection, new.limits)
    if counts_anew(present, new):
        last_uses.add_to_active(connection, at_s)
    write_fact(connection, "policy_set", at_s, cause_id, encode(new))
    return new


def change_limits(connection: Connection, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
    """Change limits; a change of limits in the policy's documents makes a new version of the policy."""
    limits.lock(connection)
    present = read_policy(connection)
    wanted = with_limits(present, change(present.limits))
    limits.write(connection, wanted.limits)
    if shown_limits(wanted) == shown_limits(present):
        return wanted
    return set_policy(connection, wanted, present.version, at_s, cause_id)
