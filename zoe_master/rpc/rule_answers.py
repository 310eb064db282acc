"""Questions about the object store that its controller answers: rules, changes of them, and requests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from storage_bridge.model import StorageRefusedError, StorageUnavailableError
from storage_bridge.rules import RuleClient
from zoe_client.words.plain_errors import sentences
from zoe_lib.messaging.server import Refusal
from zoe_lib.messaging.slow_lane import Left
from zoe_master.scheduler.placement.budget import never

_RATES = ("read_bytes_per_s", "write_bytes_per_s")


class _RuleQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid")
    do: Literal[
        "rules",
        "add",
        "remove",
        "restore",
        "try",
        "why",
        "traffic",
        "filters",
        "upload",
        "move",
        "forget",
        "drop",
        "slos",
        "set_slo",
        "clear_slo",
        "cores",
        "set_cores",
        "clear_cores",
        "rewrites",
        "rewrite",
        "resume_rewrite",
        "history",
        "cancel_rewrite",
        "metrics",
        "add_metric",
        "drop_metric",
        "controllers",
        "controller",
        "set_controller",
        "nodes",
        "restart_node",
    ]
    removed: bool = False
    text: str = ""
    tenant: str | None = None
    name: str = ""
    container: str = ""
    object: str = ""
    size: int | None = None
    tags: list[str] = []
    number: int = 0
    author: str = ""
    only_author: bool = False
    sha256: str | None = None
    by: list[str] = []
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    cores: float = 0.0
    seconds: float = 10.0
    plain: bool = False
    dry_run: bool = False
    bytes_per_s: int | None = None
    expression: str | None = None
    program: str | None = None
    tenant_label: str = "tenant"
    container_label: str = "container"
    mode: str = ""
    execution: str | None = None
    from_s: float = 0.0
    to_s: float = 0.0
    stretch_s: float = 30.0


class RuleAnswers:
    """Passes them on; without a controller, refuses them."""

    def __init__(self, client: RuleClient | None) -> None:
        self._client = client

    def answer(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - a Slow's signature
        """Return the controller's answer. Refusal with its sentence, or if it is away."""
        try:
            asked = _RuleQuestion.model_validate(body)
        except ValidationError as error:
            raise Refusal("bad_question", "; ".join(sentences(error))) from None
        if self._client is None:
            raise Refusal(
                "storage_rule_refused",
                "there is no storage controller, so nothing is known of the object store's rules and requests",
            )
        try:
            return _answer(self._client, asked)
        except StorageRefusedError as error:
            raise Refusal("not_found" if error.missing else "storage_rule_refused", error.sentence) from None
        except StorageUnavailableError as error:
            raise Refusal("storage_rules_unavailable", str(error)) from None


def _answer(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    match asked.do:
        case "rules":
            return {"rules": list(client.rules(asked.removed))}
        case "add":
            return {"rules": list(client.add(asked.text, asked.tenant or "", asked.author, asked.dry_run))}
        case "remove":
            client.remove(asked.number, asked.author)
            return {}
        case "try":
            names = {"text", "tenant", "container", "object", "size", "tags"}
            return dict(client.attempt(asked.model_dump(include=names)))
        case "why":
            return dict(client.why(asked.tenant or "", asked.container, asked.object))
        case _:
            return _further_answer(client, asked)


def _about_slos(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "slos":
        return {"slos": list(client.slos())}
    if asked.do == "set_slo":
        rates = {name: getattr(asked, name) for name in _RATES if name in asked.model_fields_set}
        return dict(client.set_slo(asked.tenant or "", rates))
    client.clear_slo(asked.tenant or "")
    return {}


def _about_cores(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "cores":
        return {"cores": list(client.cores())}
    if asked.do == "set_cores":
        return dict(client.set_cores(asked.tenant or "", asked.cores, asked.author))
    client.clear_cores(asked.tenant or "")
    return {}


def _about_rewrites(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "rewrites":
        return {"rewrites": list(client.rewrites())}
    if asked.do == "rewrite":
        names = {"tenant", "container", "plain", "dry_run", "bytes_per_s"}
        return dict(client.rewrite(asked.model_dump(include=names), asked.author))
    if asked.do == "resume_rewrite":
        return dict(client.resume_rewrite(asked.number))
    client.cancel_rewrite(asked.number)
    return {}


def _about_metrics(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "metrics":
        return {"metrics": list(client.metrics())}
    if asked.do == "add_metric":
        names = {"name", "expression", "program", "tenant_label", "container_label"}
        return dict(client.add_metric(asked.model_dump(include=names, exclude_none=True), asked.author))
    client.drop_metric(asked.name)
    return {}


def _about_controllers(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "controllers":
        return {"controllers": list(client.controllers()), "proxies": list(client.proxies())}
    if asked.do == "controller":
        return dict(client.controller(asked.name))
    return dict(client.set_controller(asked.name, asked.mode))


def _about_nodes(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "nodes":
        return {"nodes": list(client.nodes())}
    return dict(client.restart_node(asked.name, asked.author))


def _about_requests(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "history":
        return dict(client.history(asked.model_dump(include={"execution", "tenant", "from_s", "to_s", "stretch_s"})))
    return dict(client.traffic(asked.by, asked.seconds, asked.tenant or None))


def _about_filters(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    if asked.do == "filters":
        return {
            "filters": list(client.filters(asked.tenant)),
            "versions": list(client.filter_versions(asked.tenant)),
        }
    if asked.do == "upload":
        return dict(client.upload(asked.tenant or "", asked.name, asked.text, asked.author, asked.only_author))
    if asked.do == "restore":
        return {"rule": dict(client.restore(asked.number, asked.author))}
    if asked.do == "move":
        return dict(client.move(asked.number, asked.name, asked.sha256, asked.author))
    if asked.do == "forget":
        client.forget(asked.tenant or "", asked.name, asked.sha256 or "", asked.author)
        return {}
    client.drop(asked.tenant or "", asked.name, asked.author, asked.only_author)
    return {}


def _further_answer(client: RuleClient, asked: _RuleQuestion) -> dict[str, Any]:
    return next(answer for words, answer in _FURTHER if asked.do in words)(client, asked)


_FURTHER = (
    (("slos", "set_slo", "clear_slo"), _about_slos),
    (("cores", "set_cores", "clear_cores"), _about_cores),
    (("rewrites", "rewrite", "resume_rewrite", "cancel_rewrite"), _about_rewrites),
    (("metrics", "add_metric", "drop_metric"), _about_metrics),
    (("controllers", "controller", "set_controller"), _about_controllers),
    (("nodes", "restart_node"), _about_nodes),
    (("history", "traffic"), _about_requests),
    (("filters", "upload", "move", "restore", "forget", "drop"), _about_filters),
)
