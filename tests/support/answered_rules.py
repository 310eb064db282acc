"""An API that asks a storage controller by way of the master's answers, without a master."""

from __future__ import annotations

import json
from typing import Any

from storage_bridge.http import ControllerSettings
from storage_bridge.rules import RuleClient
from tests.support.api import Api
from tests.support.storage_controller import TOKEN, Served
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.messaging.server import Refusal
from zoe_master.rpc.rule_answers import RuleAnswers


def answered_by(api: Api, controller: Served) -> None:
    """Have the controller answer the API's questions about rules of the store."""
    answers = RuleAnswers(RuleClient(ControllerSettings(controller.url, TOKEN, "zoe", timeout_s=30.0)))

    def ask(kind: str, body: dict[str, Any], *_: object) -> dict[str, Any]:
        assert kind in ("storage_rules", "storage_uploads")
        try:
            return answers.answer(json.loads(json.dumps(body)))
        except Refusal as refusal:
            raise MasterRefused(refusal.code, str(refusal)) from None

    api.master_client.ask = ask  # type: ignore[method-assign]
