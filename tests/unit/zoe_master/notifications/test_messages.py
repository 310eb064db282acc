"""Contents of notifications. Signatures are verified with the library of Standard Webhooks."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from zoe_client.vocabulary import DeadlineCause, NotificationKind
from zoe_lib.domain.executions.notifications import Notification
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.people import NotificationTarget
from zoe_master.notifications.messages import mail, notifications_for, webhook, webhook_test

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
TARGET = NotificationTarget("n1", "red", "ada", "chat", "https://example.org", ["failed"], b"", 0.0, "ada")
FAILED = Notification(
    id=7,
    kind=NotificationKind.FAILED,
    at_s=1000.0,
    execution_id="x1",
    name="nightly\nBcc: eve@example.org",
    user="ada",
    tenant="red",
    state="failed",
    exit_code=3,
    cause="own_failure",
    message="it ended with 3",
    submitted_at_s=1.0,
    started_at_s=2.0,
    ended_at_s=3.0,
)


def test_receivers_check_signatures_with_the_library_of_the_standard() -> None:
    message, now = webhook(TARGET, FAILED, "https://zoe.example.org"), datetime.now(UTC).timestamp()
    headers = message.headers(SECRET, now)
    body = Webhook(SECRET).verify(message.body, headers)
    assert body == json.loads(message.body)
    assert (body["type"], body["timestamp"]) == ("execution.failed", "1970-01-01T00:16:40+00:00")
    assert body["data"]["execution"]["url"] == "https://zoe.example.org/executions/x1"
    assert headers["webhook-id"] == "n1_7"
    other = "whsec_" + base64.b64encode(bytes(32)).decode()
    for secret, sent in ((other, message.body), (SECRET, message.body + b" ")):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(sent, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(message.body, message.headers(SECRET, now - 3600))
    test = webhook_test(TARGET, now)
    assert Webhook(SECRET).verify(test.body, test.headers(SECRET, now))["type"] == "test"


def test_a_target_wants_its_kinds_and_what_descriptions_ask_for() -> None:
    started = changed(FAILED, kind=NotificationKind.STARTED)
    asked = changed(started, asked=("started",))
    assert notifications_for(TARGET, [FAILED, started, asked]) == [FAILED, asked]
    assert notifications_for(replace(TARGET, kinds=[]), [FAILED, started, asked]) == [asked]
    assert notifications_for(replace(TARGET, user=None), [FAILED, started, asked]) == [FAILED]
    skipped = changed(FAILED, kind=NotificationKind.CANCELLED, cause="dependency_failed")
    cancelled = changed(skipped, cause="cancelled")
    assert notifications_for(replace(TARGET, kinds=["cancelled"]), [skipped, cancelled]) == [cancelled]


def test_a_mail_has_one_line_of_subject_and_says_why() -> None:
    subject, text = mail(TARGET, [FAILED], None)
    assert subject == "Zoe: nightly Bcc: eve@example.org failed"
    assert "cause: own_failure" in text
    assert "exit code: 3" in text
    assert "zoe notify rm" in text
    ended = changed(FAILED, kind=NotificationKind.SUCCEEDED)
    subject, text = mail(TARGET, [FAILED, ended, ended], "https://zoe")
    assert subject == "Zoe: 2 succeeded, 1 failed"
    assert text.count("https://zoe/executions/x1") == 3


def test_a_missed_deadline_says_its_cause() -> None:
    miss = DeadlineMiss(900.0, DeadlineCause.QUEUE, {DeadlineCause.QUEUE: 600.0})
    missed = changed(FAILED, kind=NotificationKind.DEADLINE_MISSED, state="running", missed=miss)
    told = json.loads(webhook(TARGET, missed, None).body)
    assert told["type"] == "execution.deadline_missed"
    assert told["data"]["execution"]["deadline_missed"] == {
        **{"deadline_s": 900.0, "cause": "queue", "costs_s": {"queue": 600.0}},
    }
    subject, text = mail(TARGET, [missed], None)
    assert "missed its deadline" in subject
    assert "deadline: 1970-01-01 00:15:00 UTC\n  cause: queue" in text
