"""Notifications: real receivers on loopback, a real mail server, and the journal of a real database."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from pydantic import SecretStr
from standardwebhooks import Webhook

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_api.services.key_rotation import rotate_credentials_key
from zoe_client import Client, NotAllowed, NotFound, Refused
from zoe_client.vocabulary import IndexState, NotificationKind
from zoe_client.wire import ScheduleRequest, TargetRequest, TargetView
from zoe_lib.settings.config import Settings
from zoe_lib.submission.place import LeaderPlace
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.background.schedule_thread import look
from zoe_master.main import senders_of
from zoe_master.notifications import turn
from zoe_master.notifications.thread import NotificationThread
from zoe_master.notifications.webhook import NotificationWebhooks

K = NotificationKind


class Receiver:
    """Takes webhooks. `answer`: the status for each, or what to do instead."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], int | None] = lambda _: 204) -> None:
        self.answer = answer
        self.taken: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.taken.append(({key.lower(): value for key, value in self.headers.items()}, body))
                status = receiver.answer(self)
                if status is not None:
                    self.send_response(status)
                    if status in range(300, 400):
                        self.send_header("location", "http://127.0.0.1:1/")
                    self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def told(self) -> list[tuple[str, str]]:
        """Kind and name of the execution of each webhook that was taken, in order."""
        found = [json.loads(body) for _, body in self.taken]
        return [(entry["type"], entry["data"].get("execution", {}).get("name", "")) for entry in found]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Mailbox(MessageHandler):
    def __init__(self) -> None:
        super().__init__()
        self.mails: list[Message] = []

    def handle_message(self, message: Message) -> None:
        self.mails.append(message)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, int]]:
    box = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    yield box, port
    server.stop()


@pytest.fixture
def api(postgres_url: str, mailbox: tuple[Mailbox, int]) -> Iterator[Api]:
    made = Api(
        postgres_url,
        webhook_networks=["127.0.0.0/8"],
        smtp_url=f"smtp://127.0.0.1:{mailbox[1]}",
        mail_from="zoe@example.org",
        mail_domains=["example.org"],
        notification_targets_max=3,
        notification_retry_s=3600.0,
        public_url="https://zoe.example.org",
    )
    yield made
    made.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries and mails follow each other at once."""
    monkeypatch.setattr(turn, "_MAIL_PAUSE_S", 0.0)
    monkeypatch.setattr(turn, "_PAUSE_S", 0.02)


@pytest.fixture
def notifying(api: Api, quick: None) -> Iterator[NotificationThread]:
    thread = notify(api)
    yield thread
    thread.close()


def notify(api: Api, settings: Settings | None = None) -> NotificationThread:
    used = settings or api.settings
    inside = [ip_network(network) for network in used.webhook_networks]
    senders = replace(senders_of(used), webhooks=NotificationWebhooks(inside, timeout_s=1.0))
    return NotificationThread(api.store.accounts, senders, look_s=0.02)


def target_of(client: Client, name: str = "hook") -> TargetView:
    return next(target for target in client.targets().targets if target.name == name)


def ends(api: Api, client: Client, *names: str, exit_code: int = 0, **changes: Any) -> None:
    """Run executions of these names to their ends, one after another."""
    master = api.start_master()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.2, exit_code=exit_code)
    for name in names:
        client.wait(client.submit(job("true", **changes), name=name).id, timeout_s=30)
    api.stop_master()


def test_ends_are_told_in_order_and_signed(api: Api, notifying: NotificationThread, receiver: Receiver) -> None:
    client = api.client()
    made = client.set_target("hook", TargetRequest(url=receiver.url))
    assert made.secret is not None
    assert target_of(client).secret is None
    ends(api, client, "first", "second")
    ends(api, client, "third", exit_code=3)
    until(lambda: len(receiver.taken) == 3, receiver.told)
    assert receiver.told() == [
        ("execution.succeeded", "first"), ("execution.succeeded", "second"), ("execution.failed", "third"),
    ]  # fmt: skip
    for headers, body in receiver.taken:
        assert Webhook(made.secret).verify(body, headers)["data"]["execution"]["user"] == "ada"
    assert json.loads(receiver.taken[2][1])["data"]["execution"]["exit_code"] == 3
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 3
    again = client.set_target("hook", TargetRequest(url=receiver.url, on=(K.STARTED,)))
    assert again.secret is None
    renewed = client.set_target("hook", TargetRequest(url=receiver.url, on=(K.STARTED,), new_secret=True))
    assert renewed.secret not in (None, made.secret)
    rotate_credentials_key(api.store.accounts, api.settings.keys_dir, late_writes_s=0.0)
    ends(api, client, "fourth")
    until(lambda: len(receiver.taken) == 4, receiver.told)
    headers, body = receiver.taken[3]
    assert Webhook(renewed.secret or "").verify(body, headers)["type"] == "execution.started"


def test_a_target_that_fails_is_told_all_later_in_order(api: Api, notifying: NotificationThread) -> None:
    client, statuses = api.client(), iter([500, 404, 302, 200, 503])
    receiver = Receiver(lambda _: next(statuses, 200))
    try:
        client.set_target("hook", TargetRequest(url=receiver.url))
        ends(api, client, "first", "second", "third")
        until(lambda: len(receiver.taken) == 7, receiver.told)
        assert [name for _, name in receiver.told()] == ["first"] * 4 + ["second"] * 2 + ["third"]
        ids = [headers["webhook-id"] for headers, _ in receiver.taken]
        assert len(set(ids[:4])) == 1
        assert len(set(ids)) == 3
        until(lambda: target_of(client).failures == 0 and not target_of(client).waiting)
    finally:
        receiver.close()


def test_next_leader_notifies_of_events_without_a_leader(api: Api, quick: None, receiver: Receiver) -> None:
    client = api.client()
    client.set_target("hook", TargetRequest(url=receiver.url))
    notify(api).close()
    ends(api, client, *(f"n{number}" for number in range(5)))
    assert receiver.taken == []
    thread = notify(api)
    until(lambda: len(receiver.taken) == 5, receiver.told)
    thread.close()
    thread = notify(api)
    time.sleep(0.5)
    thread.close()
    assert [name for _, name in receiver.told()] == [f"n{number}" for number in range(5)]


def _hang(_: BaseHTTPRequestHandler) -> int:
    time.sleep(5)
    return 200


def _trickle(handler: BaseHTTPRequestHandler) -> None:
    try:
        for _ in range(100):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx: "[:1])
            handler.wfile.flush()
            time.sleep(0.1)
    except OSError:
        return


def _large(handler: BaseHTTPRequestHandler) -> None:
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        return


def test_targets_that_hang_hold_up_no_other(api: Api, notifying: NotificationThread, receiver: Receiver) -> None:
    client, other = api.client(), api.client(make_token(api.store, "bob", "red"))
    bad = [Receiver(_hang), Receiver(_trickle)]
    try:
        client.set_target("hangs", TargetRequest(url=bad[0].url))
        client.set_target("trickles", TargetRequest(url=bad[1].url))
        client.set_target("hook", TargetRequest(url=receiver.url))
        other.set_target("hook", TargetRequest(url=receiver.url))
        ends(api, client, "mine")
        ends(api, other, "theirs")
        until(lambda: len(receiver.taken) == 2, receiver.told, 5.0)
        for name in ("hangs", "trickles"):
            until(lambda name=name: target_of(client, name).failures > 0)
            assert "within" in target_of(client, name).last_error or "connection" in target_of(client, name).last_error
    finally:
        for entry in bad:
            entry.close()


def test_answers_are_not_read(api: Api, notifying: NotificationThread) -> None:
    client, receiver = api.client(), Receiver(_large)
    try:
        client.set_target("hook", TargetRequest(url=receiver.url))
        ends(api, client, "one")
        until(lambda: target_of(client).told_at_s)
        assert len(receiver.taken) == 1
    finally:
        receiver.close()


def test_one_that_is_gone_is_stopped_until_a_test_succeeds(api: Api, notifying: NotificationThread) -> None:
    client, statuses = api.client(), iter([410, 500])
    receiver = Receiver(lambda _: next(statuses, 200))
    try:
        client.set_target("hook", TargetRequest(url=receiver.url))
        ends(api, client, "one")
        until(lambda: target_of(client).stopped)
        client.test_target("hook")
        until(lambda: not target_of(client).test)
        assert (target_of(client).stopped, target_of(client).last_error) == (True, "it answered 500")
        client.test_target("hook")
        until(lambda: len(receiver.taken) == 4, receiver.told)
        assert receiver.told()[2:] == [("test", ""), ("execution.succeeded", "one")]
        until(lambda: not target_of(client).stopped)
    finally:
        receiver.close()


def test_one_that_never_answers_is_stopped_in_the_end(api: Api, quick: None) -> None:
    client = api.client()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client.set_target("hook", TargetRequest(url=f"http://127.0.0.1:{unused.getsockname()[1]}/"))
        thread = notify(api, api.settings.model_copy(update={"notification_retry_s": 0.3}))
        ends(api, client, "one")
        until(lambda: target_of(client).stopped)
        thread.close()
    found = target_of(client)
    assert found.failures > 1
    assert "no connection" in found.last_error


def test_a_name_that_leads_inside_is_refused_when_it_is_resolved(
    api: Api, quick: None, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = api.client()
    url = f"https://hooks.example.org:{receiver.port}/"
    client.set_target("hook", TargetRequest(url=url))
    resolve = socket.getaddrinfo

    def inside(host: Any, *more: Any, **named: Any) -> Any:
        return resolve("127.0.0.1" if host == "hooks.example.org" else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", inside)
    thread = notify(api, api.settings.model_copy(update={"webhook_networks": []}))
    ends(api, client, "one")
    until(lambda: target_of(client).failures > 0)
    thread.close()
    assert "leads to an address that is not public" in target_of(client).last_error
    assert "127.0.0.1" not in target_of(client).last_error
    assert receiver.taken == []


def test_users_are_told_of_their_own_and_a_tenant_of_all(
    api: Api, notifying: NotificationThread, receiver: Receiver
) -> None:
    ada, bob = api.client(), api.client(make_token(api.store, "bob", "red"))
    operator = api.client(make_token(api.store, "olga", "red", "operator", ("read", "submit", "operate")))
    ada.set_target("hook", TargetRequest(url=receiver.url + "?ada"))
    operator.set_target("all", TargetRequest(url=receiver.url + "?all"), of_tenant=True)
    assert [(target.name, target.user) for target in bob.targets().targets] == [("all", None)]
    assert bob.targets().targets[0].url == f"http://127.0.0.1:{receiver.port}/..."
    assert operator.targets().targets[0].url == receiver.url + "?all"
    with pytest.raises(NotAllowed):
        bob.remove_target("all", of_tenant=True)
    with pytest.raises(NotFound):
        bob.remove_target("hook")
    ends(api, bob, "bobs")
    ends(api, ada, "adas")
    until(lambda: len(receiver.taken) == 3, receiver.told)
    assert sorted(name for _, name in receiver.told()) == ["adas", "adas", "bobs"]
    api.store.accounts.remove_member("ada", "red")
    assert [(target.name, target.user) for target in operator.targets().targets] == [("all", None)]


def test_a_description_asks_for_what_its_owner_is_told(
    api: Api, notifying: NotificationThread, mailbox: tuple[Mailbox, int]
) -> None:
    client, (box, _) = api.client(), mailbox
    client.set_target("me", TargetRequest(url="mailto:ada@example.org", on=()))
    ends(api, client, "silent")
    ends(api, client, "asks", notify=["started", "succeeded"])
    until(lambda: box.mails)
    until(lambda: not target_of(client, "me").waiting)
    said = "\n".join(str(mail.get_payload()) for mail in box.mails)
    assert ("silent" in said, "asks" in said) == (False, True)
    assert {(mail["From"], mail["To"]) for mail in box.mails} == {("zoe@example.org", "ada@example.org")}
    assert "https://zoe.example.org/executions/x" in said
    client.test_target("me")
    until(lambda: any(mail["Subject"] == "Zoe: a test" for mail in box.mails))


def test_many_ends_are_one_mail(api: Api, quick: None, mailbox: tuple[Mailbox, int]) -> None:
    client, (box, _) = api.client(), mailbox
    client.set_target("me", TargetRequest(url="mailto:ada@example.org"))
    ends(api, client, *(f"n{number}" for number in range(12)))
    thread = notify(api)
    until(lambda: box.mails and not target_of(client, "me").waiting)
    thread.close()
    [mail] = box.mails
    assert mail["Subject"] == "Zoe: 12 succeeded"


def test_invalid_target_is_refused(api: Api, receiver: Receiver) -> None:
    client = api.client()
    for url in ("https://10.0.0.1/", "https://127.0.0.1:22/", "mailto:eve@other.org", "nonsense", "gopher://x/"):
        with pytest.raises(Refused) as refused:
            client.set_target("hook", TargetRequest(url=url))
        assert refused.value.problem.code == "target_refused"
    for number in range(3):
        client.set_target(f"hook{number}", TargetRequest(url=receiver.url))
    with pytest.raises(Refused) as refused:
        client.set_target("more", TargetRequest(url=receiver.url))
    assert refused.value.problem.code == "too_many_targets"
    answer = api.http().put("/api/v1/notifications/x", json={"url": receiver.url, "on": ["eaten"]})
    assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_request")


def refuse(api: Api, client: Client, *hours: int) -> None:
    """Let a schedule reach its times while its application is not stored."""
    client.applications.put("report", job("true"))
    due_s = client.schedules.put("nightly", ScheduleRequest(expression="@hourly", application="report")).due_s
    assert due_s is not None
    client.applications.remove("report")
    for hour in hours:
        look(LeaderPlace(api.settings, api.store), due_s + hour * 3600.0, lambda: None)


def test_refused_times_of_schedules_are_told_as_failures_are(
    api: Api, receiver: Receiver, quick: None, mailbox: tuple[Mailbox, int]
) -> None:
    client = api.client()
    refuse(api, client, 0)  # before there was a target
    client.set_target("hook", TargetRequest(url=receiver.url))
    client.set_target("starts", TargetRequest(url=f"{receiver.url}/starts", on=(K.STARTED,)))
    client.set_target("mail", TargetRequest(url="mailto:ada@example.org"))
    other = api.client(make_token(api.store, "bob"))
    other.set_target("hook", TargetRequest(url=f"{receiver.url}/bob"))
    refuse(api, client, 1, 2)
    thread = notify(api)
    until(lambda: len(receiver.taken) == 2)
    ends(api, client, "after")
    until(lambda: len(receiver.taken) == 4)
    thread.close()
    bodies = [one for _, body in receiver.taken if (one := json.loads(body))["type"] != "execution.started"]
    assert [body["type"] for body in bodies] == ["schedule.refused", "schedule.refused", "execution.succeeded"]
    told = bodies[0]["data"]["schedule"]
    assert (told["name"], told["user"], told["code"]) == ("nightly", "ada", "not_found")
    assert told["due_s"] < bodies[1]["data"]["schedule"]["due_s"]
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 4
    until(lambda: mailbox[0].mails)
    assert mailbox[0].mails[0]["Subject"] == "Zoe: 2 times of schedules refused"


def test_a_refused_time_is_told_again_after_a_target_was_away(api: Api, quick: None, receiver: Receiver) -> None:
    client = api.client()
    client.set_target("hook", TargetRequest(url=receiver.url))
    receiver.answer = lambda _: 500 if len(receiver.taken) < 3 else 204
    refuse(api, client, 0)
    thread = notify(api)
    until(lambda: len(receiver.taken) == 3 and not target_of(client).failures)
    thread.close()
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 1
    assert json.loads(receiver.taken[-1][1])["type"] == "schedule.refused"


def test_the_end_of_an_array_is_told_and_cancelled_indices_are_not_each(
    api: Api, notifying: NotificationThread, receiver: Receiver, quick: None, mailbox: tuple[Mailbox, int]
) -> None:
    client = api.client()
    client.set_target("hook", TargetRequest(url=receiver.url))
    client.set_target("mail", TargetRequest(url="mailto:ada@example.org", on=(K.CANCELLED,)))
    master = api.start_master()
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1, exit_code=3)
    failed = client.arrays.submit(job("true"), "0-1", name="sweep")
    client.arrays.wait(failed.id, 30)
    master.behaviours["main"] = ServiceBehaviour(run_s=3e9)
    cancelled = client.arrays.submit(job("true"), "0-99%3", name="long")
    until(lambda: client.arrays.array(cancelled.id).counts.get(IndexState.ACTIVE) == 3)
    client.arrays.cancel(cancelled.id)
    client.arrays.wait(cancelled.id, 30)
    until(lambda: len(receiver.taken) == 4 and mailbox[0].mails)
    api.stop_master()
    bodies = [json.loads(body) for _, body in receiver.taken]
    assert [body["type"] for body in bodies] == ["execution.failed"] * 2 + ["array.failed", "array.cancelled"]
    told = bodies[2]["data"]["array"]
    assert (told["id"], told["name"], told["counts"]) == (failed.id, "sweep", {"failed": 2})
    assert told["url"] == f"https://zoe.example.org/arrays/{failed.id}"
    assert bodies[3]["data"]["array"]["counts"] == {"cancelled": 100}
    (mail,) = mailbox[0].mails
    assert mail["Subject"] == "Zoe: long cancelled"
    assert "100 cancelled" in str(mail.get_payload())


def test_earlier_events_are_not_notified(api: Api, notifying: NotificationThread, receiver: Receiver) -> None:
    client = api.client()
    ends(api, client, "before")
    client.set_target("hook", TargetRequest(url=receiver.url))
    ends(api, client, "after")
    until(lambda: receiver.taken)
    time.sleep(0.3)
    assert [name for _, name in receiver.told()] == ["after"]


def test_a_mail_server_that_hangs_keeps_no_other_master_from_the_lead(api: Api, quick: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"smtp://127.0.0.1:{silent.getsockname()[1]}"
        client = api.client()
        client.set_target("me", TargetRequest(url="mailto:ada@example.org"))
        client.test_target("me")
        thread = notify(api, api.settings.model_copy(update={"smtp_url": SecretStr(url)}))
        connection, _ = silent.accept()
        began_s = time.monotonic()
        thread.close()
        assert time.monotonic() - began_s < 5
        connection.close()
    until(lambda: not thread._thread.is_alive())


def test_a_missed_deadline_is_told_once(api: Api, notifying: NotificationThread, receiver: Receiver) -> None:
    client = api.client()
    client.set_target("hook", TargetRequest(url=receiver.url, on=(K.DEADLINE_MISSED,)))
    made = client.submit(job("true"), name="late", deadline="+1s", hold=True)
    api.start_master()
    until(lambda: receiver.told() == [("execution.deadline_missed", "late")], receiver.told)
    body = json.loads(receiver.taken[0][1])["data"]["execution"]
    assert body["deadline_missed"]["cause"] == "input_late", "it was held"
    client.release(made.id)
    api.stop_master()
    api.start_master()
    until(lambda: client.execution(made.id).state == "running")
    assert len(receiver.taken) == 1
