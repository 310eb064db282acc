"""`zoe-storage`: the storage controller. Zoe's migrations (`zoe-setup`) create its tables."""

from __future__ import annotations

import argparse
import logging
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import Any

import sqlalchemy as sa
import uvicorn

from storage_controller.app import RequestCheck, make_app
from storage_controller.composition import Secrets, build_controller
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.lead import Lead
from storage_controller.settings import ControllerSettings
from zoe_lib.http.strict_http import StrictHttp
from zoe_lib.logs.telemetry import TroubleLimiter
from zoe_lib.settings.file_settings import read_settings
from zoe_lib.store.postgres.revision import TablesTooOld, check_tables, read_revision
from zoe_lib.store.sql.connection.database import with_driver

_TROUBLES_A_SECOND_MAX = 5  # warnings and errors in the log


def main() -> int:
    """Serve until a signal; return 2 if the settings are invalid or the tables too old."""
    argparse.ArgumentParser(
        prog="zoe-storage",
        description="Serve the storage controller. Settings: ZOE_SDS_ variables, or the file in ZOE_SDS_CONFIG.",
    ).parse_args()
    _log_to_stderr()
    settings = read_settings(ControllerSettings, "zoe-storage")
    try:
        secrets = Secrets.read(settings)
    except (OSError, ValueError) as error:
        print(f"zoe-storage: {error}", file=sys.stderr)
        return 2
    engine = sa.create_engine(with_driver(settings.database_url.get_secret_value()), pool_pre_ping=True)
    sa.event.listen(engine, "connect", partial(_bound_transactions, settings.lead_lease_s))
    try:
        _check_tables(engine)
        _serve(settings, secrets, engine)
    except TablesTooOld as refusal:
        print(f"zoe-storage: {refusal}", file=sys.stderr)
        return 2
    finally:
        engine.dispose()
    return 0


def _serve(settings: ControllerSettings, secrets: Secrets, engine: sa.Engine) -> None:
    lead = Lead(engine, settings.name or f"{socket.gethostname()}:{settings.port}", settings.lead_lease_s)
    ledger = Ledger(engine, check=lead.check)
    services, loops = build_controller(settings, secrets, ledger, lead)
    for loop in loops:
        loop.begin()
    try:
        door = RequestCheck(secrets.token, lambda: lead.epoch is not None, settings.dialect, secrets.metrics_token)
        app = make_app(services, door)
        where: dict[str, Any] = {"host": settings.host, "port": settings.port}
        uvicorn.run(app, **where, http=StrictHttp, loop="asyncio", log_level="warning", log_config=None)
    finally:
        for entry in reversed(loops):
            entry.close()


def _log_to_stderr() -> None:
    """Log to standard error, including libraries; a bounded number of warnings a second, since unauthenticated clients
    can cause them.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(TroubleLimiter(_TROUBLES_A_SECOND_MAX).filter)


def _check_tables(engine: sa.Engine) -> None:
    """Raise TablesTooOld if this version cannot use the database; wait for a database that is away."""
    with suppress(sa.exc.OperationalError), engine.connect() as connection:
        check_tables(read_revision(connection))


def _bound_transactions(seconds: float, connection: Any, _: object) -> None:
    """Make the database end a transaction in which a paused controller holds the lead."""
    with connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = %s", (round(seconds * 1000),))
    connection.commit()


if __name__ == "__main__":
    sys.exit(main())
