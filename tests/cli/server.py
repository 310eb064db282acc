"""The real API over a real database on loopback, with a master that answers what a test wants."""

from __future__ import annotations

import base64
import tempfile
import time
from types import TracebackType
from typing import Any

from tests.support.serving import Served
from zoe_api.main import create_app
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.values.resources import Resources
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.settings.config import Settings
from zoe_lib.store.people import Token
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.tokens.api_tokens import TokenText

ADMIN, READER, OTHER = "zoe_admin_secret", "zoe_reader_secret", "zoe_other_secret"
GIB = 2**30


class ScriptedMaster:
    """Answers requests with the test's values; unreachable while `there` is False."""

    def __init__(self) -> None:
        self.there = True
        self.output: dict[str, bytes] = {}
        self.facts: dict[str, Any] = {}
        self.explanation: dict[str, Any] = {"reason": None, "ahead": None, "nodes": {}}
        self.proposal: dict[str, Any] = {"starts_now": True}
        self.usage: list[dict[str, Any]] = []
        self.storage: dict[str, Any] = {"configured": False}
        self.address: dict[str, Any] = {"host": "127.0.0.1", "port": 34567, "headers": {"X-Zoe-Secret": "s3cret"}}

    def ask(
        self, kind: str, body: dict[str, Any] | None = None, request_id: str | None = None, asker: str = ""
    ) -> dict[str, Any]:
        if not self.there:
            raise MasterUnreachable("no answer from the master after 3 attempts")
        match kind:
            case "status":
                return {"leader": "here:1", "epoch": 7, "ticked_at_s": time.time(), **self.facts}
            case "explain":
                return self.explanation
            case "plan":
                return self.proposal
            case "services":
                return {"services": {}}
            case "usage":
                return {"usage": self.usage}
            case "storage":
                return self.storage
            case "address":
                return self.address
            case "plugins":
                return {"found": []}
            case _:
                return self._logs(body or {})

    def hint(self) -> None:
        """Do nothing: there is no loop."""

    def close(self) -> None:
        """Do nothing: there are no resources."""

    def _logs(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["service_id"] not in self.output:
            raise MasterRefused("no_logs", f"service {body['service_id']} does not exist")
        whole = self.output[body["service_id"]]
        piece = whole[body["offset"] : body["offset"] + body["limit"]]
        end = body["offset"] + len(piece)
        return {
            "data": base64.b64encode(piece).decode(),
            "offset": body["offset"],
            "next_offset": end,
            "complete": end == len(whole),
            "dropped_bytes": 0,
        }


class Server:
    """A server for tests as a context manager."""

    def __init__(self, database_url: str, port: int = 0) -> None:
        self.store = PostgresStore(database_url)
        self.master = ScriptedMaster()
        self._port = port
        self._epoch = self.store.try_lead("test")
        if not self.store.accounts.tokens():
            self._prepare()

    def _prepare(self) -> None:
        for user, tenant, role in (("ada", "lab", "admin"), ("bob", "lab", "user"), ("eve", "other", "user")):
            self.store.accounts.ensure_member(user, tenant, role)
        self._add_token(ADMIN, "ada", "lab", {"read", "submit", "admin"})
        self._add_token(READER, "bob", "lab", {"read"})
        self._add_token(OTHER, "eve", "other", {"read", "submit"})
        self.store.set_platform([Node("node-1", Resources(8000, 32 * GIB))], time.time(), self._epoch)

    def __enter__(self) -> Server:
        self._keys = tempfile.TemporaryDirectory()
        services = {"zoe": {"url": "http://swift/auth/v1.0"}, "s3a": {"url": "http://s3"}}
        settings = Settings(keys_dir=self._keys.name, storage_services=services)  # type: ignore[arg-type]
        app = create_app(settings, self.store, self.master)  # type: ignore[arg-type]
        self._served = Served(app, self._port)
        self.port, self.url = self._served.port, self._served.url
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._served.close()
        self.store.close()
        self._keys.cleanup()

    def get(self, execution_id: str) -> Execution:
        return self.store.execution(execution_id)

    def append(self, execution_id: str, *events: ev.Event) -> None:
        self.store.append(execution_id, events, self.get(execution_id).version, self._epoch)

    def start(self, execution_id: str, *decided: ev.Event) -> None:
        """Act like the master: place every service, journal the decisions before its start, and make it ready."""
        now_s = time.time()
        planned = ev.StartPlanned(at_s=now_s, placements=self.placements(execution_id))
        queued = [ev.Queued(at_s=now_s)] if self.get(execution_id).state is ExecutionState.SUBMITTED else []
        self.append(execution_id, *queued, planned, *decided)
        for service in self.get(execution_id).current():
            self.append(
                execution_id,
                ev.ServiceStarting(at_s=now_s, service_id=service.id),
                ev.ServiceStarted(at_s=now_s, service_id=service.id),
                ev.ServiceReady(at_s=now_s, service_id=service.id),
            )
        self.append(execution_id, ev.Running(at_s=now_s))

    def placements(self, execution_id: str) -> tuple[ev.Placement, ...]:
        return tuple(ev.Placement(service_id=s.id, node="node-1") for s in self.get(execution_id).current())

    def requeue(self, execution_id: str) -> None:
        """Act like the master: every service has failed, and the execution is retried."""
        now_s = time.time()
        if not any(service.node for service in self.get(execution_id).current()):
            self.start(execution_id)
        failed = ev.Stopping(at_s=now_s, outcome=Outcome.FAILED, cause=Cause.EXITED, exit_code=1)
        ends = [
            ev.ServiceEnded(at_s=now_s, service_id=s.id, cause=Cause.EXITED, exit_code=1)
            for s in self.get(execution_id).current()
        ]
        self.append(execution_id, *ends, failed, ev.Requeued(at_s=now_s))

    def end(self, execution_id: str, exit_code: int = 0, message: str = "") -> None:
        """Act like the master: every service has ended with this code, and so has the execution."""
        now_s = time.time()
        outcome = Outcome.SUCCEEDED if exit_code == 0 else Outcome.FAILED
        verdict = ev.Stopping(at_s=now_s, outcome=outcome, cause=Cause.EXITED, exit_code=exit_code, message=message)
        ends = [
            ev.ServiceEnded(at_s=now_s, service_id=s.id, cause=Cause.EXITED, exit_code=exit_code)
            for s in self.get(execution_id).current()
        ]
        self.append(execution_id, *ends, verdict, ev.Ended(at_s=now_s))

    def _add_token(self, text: str, user: str, tenant: str, scopes: set[str]) -> None:
        token = TokenText.read(text)
        assert token is not None
        kept = Token(token.id, user, tenant, token.secret_hash, frozenset(scopes), time.time(), None, "for tests")
        self.store.accounts.add_token(kept)
