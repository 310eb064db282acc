"""Present use of executions: sums over running services, independent of the length of the queue."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import ARRAY, Connection, Row, Text, any_, func, literal, select, text

from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.execution import ACTIVE_STATES, ExecutionId
from zoe_lib.domain.executions.gateway import NO_GATEWAY, HeldOnNode, bearing_component
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.executions.promises import required_rates
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.sql.executions.executions import active_counts, applications_of, visible
from zoe_lib.store.tables.executions import HOLDS_RESERVATION, NOT_TERMINAL, executions

# Begins with the services, which an index finds by their reservation: most executions may be waiting.
_HOLDING = f"""
    SELECT service.*, one.tenant, one.user_name, one.application_hash
    FROM (SELECT * FROM services WHERE {HOLDS_RESERVATION}) AS service
    JOIN (SELECT * FROM executions WHERE {NOT_TERMINAL}) AS one ON one.id = service.execution_id
"""  # noqa: S608 - made of constants
_SUMS = "CAST(sum(cores_milli) AS bigint) AS cores_milli, CAST(sum(memory_bytes) AS bigint) AS memory_bytes"
_BY_OWNER = text(f"SELECT tenant, user_name, {_SUMS} FROM ({_HOLDING}) AS holding GROUP BY tenant, user_name")  # noqa: S608
_BY_NODE = text(f"SELECT node, core, {_SUMS}, count(*) AS number FROM ({_HOLDING}) AS holding GROUP BY node, core")  # noqa: S608
_APPLICATIONS = text(f"""
    SELECT application_hash, min(execution_id) AS id FROM ({_HOLDING}) AS holding GROUP BY application_hash
""")  # noqa: S608
# Places of gateways: beside a service that bears one, or at the last place of the newest such service if it has ended.
_GATEWAYS = text(f"""
    WITH holding AS MATERIALIZED (
        SELECT *, CAST(:bearing AS jsonb) ->> application_hash AS bearing FROM ({_HOLDING}) AS holding
    ), bearers AS MATERIALIZED (
        SELECT execution_id, node, core FROM holding WHERE component = bearing AND instance = 0
    )
    SELECT node, core, count(*) AS number FROM (
        SELECT node, core FROM bearers
        UNION ALL
        SELECT ended.node, ended.core
        FROM (
            SELECT DISTINCT execution_id, bearing FROM holding
            WHERE bearing IS NOT NULL AND NOT EXISTS (
                SELECT FROM bearers WHERE bearers.execution_id = holding.execution_id
            )
        ) AS rest
        CROSS JOIN LATERAL (
            SELECT node, core FROM services
            WHERE execution_id = rest.execution_id AND component = rest.bearing AND instance = 0
            ORDER BY position DESC LIMIT 1
        ) AS ended
        WHERE ended.node IS NOT NULL
    ) AS places
    GROUP BY node, core
""")  # noqa: S608


def active_among(
    connection: Connection, ids: Collection[ExecutionId], visibility: Visibility = ALL
) -> Collection[ExecutionId]:
    """Return the visible, active executions among these."""
    if not ids:
        return set()
    wanted = any_(literal(sorted(ids), ARRAY(Text)))
    found = select(executions.c.id).where(executions.c.id == wanted, text(NOT_TERMINAL))
    return set(connection.execute(found.where(*visible(visibility))).scalars())


def use_by_subject(connection: Connection, applications: Applications) -> Mapping[LimitSubject, Mapping[str, int]]:
    """Return the use of each tenant, and of each user in it, as limits count it."""
    found: dict[LimitSubject, Counter[str]] = defaultdict(Counter)
    for (tenant, user), number in active_counts(connection).items():
        rates = {"read_bytes_per_s": 0, "write_bytes_per_s": 0}
        _add(found, tenant, user, {"executions": number, "cores_milli": 0, "memory_bytes": 0, **rates})
    for row in connection.execute(_BY_OWNER):
        amounts = {"cores_milli": row.cores_milli, "memory_bytes": row.memory_bytes}
        _add(found, row.tenant, row.user_name, amounts)
    for tenant, user, guaranteed in _required_bandwidth(connection, applications):
        _add(found, tenant, user, guaranteed)
    return found


def held_on_nodes(connection: Connection, applications: Applications, gateway: Resources) -> Mapping[str, HeldOnNode]:
    """Return the resources that executions hold on each node, including their gateways."""
    nodes: dict[str, HeldOnNode] = defaultdict(HeldOnNode)
    for row in connection.execute(_BY_NODE):
        nodes[row.node] = nodes[row.node].plus(Resources(row.cores_milli, row.memory_bytes), row.core, row.number)
    if gateway != NO_GATEWAY:
        for row in _gateways(connection, applications):
            nodes[row.node] = nodes[row.node].plus(gateway * row.number, row.core, 0)
    return dict(nodes)


def _add(found: dict[LimitSubject, Counter[str]], tenant: str, user: str, amounts: Mapping[str, int]) -> None:
    for subject in (LimitSubject(tenant), LimitSubject(tenant, user)):
        found[subject].update(amounts)


def _required_bandwidth(
    connection: Connection, applications: Applications
) -> Iterable[tuple[str, str, Mapping[str, int]]]:
    """Yield owners with the bandwidth that their executions of one application require."""
    kind = (executions.c.tenant, executions.c.user_name, executions.c.application_hash)
    counts = select(*kind, func.min(executions.c.id).label("id"), func.count().label("number"))
    active = executions.c.state.in_(sorted(state.value for state in ACTIVE_STATES))
    rows = connection.execute(counts.where(active).group_by(*kind)).all()
    parsed = applications_of(connection, applications, rows)
    for row in rows:
        rates = required_rates(parsed[row.application_hash])
        if rates is not None:
            amounts = {"read_bytes_per_s": row.number * rates.read, "write_bytes_per_s": row.number * rates.write}
            yield row.tenant, row.user_name, amounts


def _gateways(connection: Connection, applications: Applications) -> Iterable[Row[tuple[str, ...]]]:
    parsed = applications_of(connection, applications, connection.execute(_APPLICATIONS).all())
    bearing = {name: bearing_component(application) for name, application in parsed.items()}
    names = {name: component.name for name, component in bearing.items() if component is not None}
    return connection.execute(_GATEWAYS, {"bearing": json.dumps(names)}).all() if names else ()
