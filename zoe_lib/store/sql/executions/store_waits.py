"""Executions that wait for the object store; independent of the length of the queue."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, TextClause, select, text

from zoe_lib.domain.applications.sharing import ALL, Visibility
from zoe_lib.domain.executions.promises import OF_THE_STORE, waits_for_store
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.sql.executions.executions import matching_executions, visible
from zoe_lib.store.tables.executions import NEWEST_FIRST, NOT_TERMINAL, executions
from zoe_lib.store.values import StoreWait

_REASON = executions.c.reason


def waiting(connection: Connection, applications: Applications, visibility: Visibility = ALL) -> Sequence[StoreWait]:
    """Return the visible ones, oldest first.

    Whether a refused guarantee makes an execution wait depends on its services, so these few are read completely.
    """
    here: list[ColumnElement[bool] | TextClause] = [text(NOT_TERMINAL), *visible(visibility)]
    sentence = _REASON["sentence"].astext.label("sentence")
    columns = (*NEWEST_FIRST, executions.c.tenant, executions.c.user_name, sentence)
    told = select(*columns).where(*here, _REASON["code"].astext.in_([code.value for code in OF_THE_STORE]))
    found = [
        (row.submitted_at_s, row.id, StoreWait(row.id, row.tenant, row.user_name, row.sentence))
        for row in connection.execute(told)
    ]
    for execution in matching_executions(connection, applications, *here, *_refused_condition()):
        reason = waits_for_store(execution)
        if reason is not None:
            wait = StoreWait(execution.id, execution.tenant, execution.user, reason.sentence)
            found.append((execution.submitted_at_s, execution.id, wait))
    return [wait for *_, wait in sorted(found, key=lambda item: item[:2])]


def _refused_condition() -> tuple[ColumnElement[bool], ...]:
    return _REASON.is_(None), executions.c.storage_problem != ""
