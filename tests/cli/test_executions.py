"""run, ls, show, wait, cancel, explain, events over the real API."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import ADMIN, OTHER, READER, Server
from zoe_client import Client
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.reasons import Reason, ReasonCode


def test_run_gives_the_execution_as_asked(server: Server, zoe: Zoe, app_file: Path) -> None:
    table = zoe("run", str(app_file), "--name", "first")
    assert table.code == 0
    assert table.out.splitlines()[0].split() == ["ID", "NAME", "USER", "STATE", "READY", "AGE", "RAN", "WHY"]
    assert table.out.splitlines()[1].split()[1:5] == ["first", "ada", "submitted", "0/2+0/1"]
    name = zoe("run", str(app_file), "-o", "name")
    assert server.get(name.out.strip()).name == "sums"
    assert zoe("-o", "json", "run", str(app_file)).json()["state"] == "submitted"
    assert "state: submitted" in zoe("run", str(app_file), "-o", "yaml").out


def test_run_reads_standard_input_and_takes_settings(server: Server, zoe: Zoe) -> None:
    text = json.dumps(APP).encode()
    done = zoe("run", "-", "--set", "worker.total_count=5", "--priority", "7", "--deadline", "60", stdin=text)
    assert done.code == 0
    execution = server.get(done.out.split("\n")[1].split()[0])
    assert (len(execution.services), execution.priority) == (6, 7)
    assert execution.deadline_s is not None


def test_the_same_key_submits_once(server: Server, zoe: Zoe, app_file: Path) -> None:
    once = zoe("run", str(app_file), "--idempotency-key", "k", "-o", "name")
    assert zoe("run", str(app_file), "--idempotency-key", "k", "-o", "name").out == once.out
    assert zoe("run", str(app_file), "--idempotency-key", "k", "--name", "another").code == 5


def test_run_waits_and_ends_as_the_application_ended(server: Server, zoe: Zoe, app_file: Path) -> None:
    for exit_code, arguments, expected in (
        (0, ["--wait"], 0),
        (9, ["--wait"], 1),
        (9, ["--exit-code-from-app"], 9),
        (0, ["--exit-code-from-app"], 0),
    ):
        thread = threading.Thread(target=end_next, args=(server, server.store.last_journal_id(), exit_code))
        thread.start()
        done = zoe("run", str(app_file), *arguments, "-o", "json")
        thread.join()
        assert done.code == expected
        assert done.json()["exit_code"] == exit_code
        assert f"sums is {done.json()['id']}" in done.err


def test_wait_names_every_failure(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(4)]
    for execution_id, exit_code in zip(ids, (0, 9, 0, 7), strict=True):
        server.start(execution_id)
        server.end(execution_id, exit_code)
    done = zoe("wait", *ids, "-o", "name")
    assert (done.code, done.out.split()) == (1, ids)
    assert [id_ in done.err for id_ in ids] == [False, True, False, True]
    assert zoe("wait", *ids, "--exit-code-from-app").code == 9
    assert zoe("wait", ids[0], ids[2]).code == 0
    waits = zoe("run", str(app_file), "--hold", "-o", "name").out.strip()
    some = zoe("wait", "x0", ids[1], waits, ids[3], "--timeout", "0.3")
    assert some.code == 3
    assert [text in some.err for text in ("x0:", ids[1], f"{waits}:", ids[3])] == [True] * 4


def test_run_gives_up_after_a_time(server: Server, zoe: Zoe, app_file: Path) -> None:
    done = zoe("run", str(app_file), "--timeout", "0.2")
    assert (done.code, done.out) == (124, "")
    assert "longer than the time allowed" in done.err


def test_ls_filters_and_pages(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "--name", f"listed {n}", "-o", "name").out.strip() for n in range(3)]
    server.start(ids[0])
    assert zoe("ls", "--name", "listed", "-o", "name").out.split() == ids[::-1]
    assert zoe("ls", "--name", "listed", "--state", "running", "-o", "name").out.split() == ids[:1]
    assert zoe("ls", "--name", "listed", "-s", "running", "-s", "submitted", "-o", "name").out.split() == ids[::-1]
    page = zoe("ls", "--name", "listed", "-n", "2", "-o", "json")
    assert [e["id"] for e in page.json()["executions"]] == ids[:0:-1]
    cursor = page.json()["next_cursor"]
    assert f"--cursor {cursor}" in page.err
    assert zoe("ls", "--name", "listed", "--cursor", cursor, "-o", "name").out.split() == ids[:1]
    assert zoe("ls", "--user", "nobody", "-o", "name").out == ""
    assert zoe("ls", "--state", "sleeping").code == 2


def test_show_tells_state_timeline_and_services(server: Server, zoe: Zoe, submitted: str) -> None:
    server.start(submitted)
    server.end(submitted, 3, "three of four meters are dark")
    text = zoe("show", submitted).out
    for word in ("sums", "ada in lab", "failed, cause exited", "three of four meters are dark", "placed", "worker-1"):
        assert word in text
    assert zoe("show", submitted, "-o", "json").json()["exit_code"] == 3
    assert zoe("show", submitted, "-o", "name").out == f"{submitted}\n"
    assert f"id: {submitted}" in zoe("show", submitted, "-o", "yaml").out


def test_wait_for_several(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(3)]
    for number, execution_id in enumerate(ids):
        server.start(execution_id)
        server.end(execution_id, exit_code=number)
    assert zoe("wait", ids[0]).code == 0
    done = zoe("wait", *ids, "-o", "json")
    assert done.code == 1
    assert [e["exit_code"] for e in done.json()["executions"]] == [0, 1, 2]
    assert zoe("wait", *ids[::-1], "--exit-code-from-app").code == 2
    assert zoe("wait", ids[0], "gone").code == 3


def test_wait_times_out(zoe: Zoe, submitted: str) -> None:
    assert zoe("wait", submitted, "--timeout", "0.1").code == 124


def test_cancel_goes_on_after_one_that_is_not_there(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(2)]
    done = zoe("cancel", ids[0], "gone", ids[1], "-o", "json")
    assert done.code == 3
    assert [e["state"] for e in done.json()["executions"]] == ["cancelled", "cancelled"]
    assert "gone:" in done.err
    assert zoe("wait", ids[0]).code == 1
    assert zoe("cancel", ids[0]).code == 0


def test_cancel_of_what_has_ended_is_a_conflict(server: Server, zoe: Zoe, submitted: str) -> None:
    server.start(submitted)
    server.end(submitted)
    assert zoe("cancel", submitted).code == 5


def test_explain(server: Server, zoe: Zoe, submitted: str, app_file: Path) -> None:
    reason = {"code": "no_resources", "sentence": "No room.", "counts": {"resources": 1}, "hint": "wait"}
    nodes = {"node-1": {"worker": "memory: 9 GiB needed, 1 GiB free"}}
    server.master.explanation = {"reason": reason, "ahead": 2, "nodes": nodes}
    assert "\n2 executions are ahead of it: 2 of other tenants.\n" in zoe("explain", submitted).out
    one, two = (zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(2))
    server.master.explanation |= {"ahead": 14, "ahead_of_tenant": 12, "ahead_ids": [one, two, "not-theirs"]}
    told = f"\n14 executions are ahead of it: 12 of its tenant ({one}, {two}, ...), 2 of other tenants.\n"
    assert told in zoe("explain", submitted).out
    server.master.explanation |= {"ahead": 1, "ahead_of_tenant": 1, "ahead_ids": [one]}
    explained = zoe("explain", submitted)
    assert explained.err.endswith("/docs/use/waiting.html\n")
    text = explained.out
    assert text.startswith(f"No room.\n1 execution is ahead of it: 1 of its tenant ({one}).\nHint: wait\n\nNODE")
    assert "9 GiB needed" in text
    assert zoe("explain", submitted, "-o", "json").json()["reason"] == reason
    server.master.there = False
    stored = zoe("explain", submitted)
    server.master.there = True
    assert "the master gives no answer on it now" in stored.err
    server.start(submitted)
    assert zoe("explain", submitted).out == "It does not wait: it is running.\nInstances of worker: 2 of 2.\n"
    server.end(submitted)
    assert zoe("explain", submitted).out == "It does not wait: it has succeeded.\n"


@pytest.mark.parametrize(
    ("part", "before", "after", "words"),
    [
        ("essential_count", 3, 1, "1 essential instance of worker instead of 3"),
        ("cores_milli", 1500, 1000, "1 core for each worker instead of 1.5 cores"),
        ("memory_bytes", 2**31, 2**30, "1 GiB of memory for each worker instead of 2 GiB"),
    ],
)
def test_a_plan_says_one_of_a_thing_and_several_of_it(
    server: Server, zoe: Zoe, app_file: Path, part: str, before: int, after: int, words: str
) -> None:
    change = {"component": "worker", "part": part, "before": before, "after": after}
    server.master.proposal = {"starts_now": False, "change": change}
    assert f"It would start now with {words}.\n" in zoe("plan", str(app_file)).out


def test_plan_says_whether_a_smaller_core_was_looked_for(server: Server, zoe: Zoe, app_file: Path) -> None:
    server.master.proposal = {"starts_now": False, "ahead": 3000}
    assert (
        zoe("plan", str(app_file)).out
        == "Executions ahead of it: 3000.\nNo smaller number of essential services would start now.\n"
    )
    for steps, why in ((None, "the queue is very long"), (250_000, "the search was cut after 250,000 steps")):
        server.master.proposal |= {"change_sought": False, "cut_after_steps": steps}
        not_all = f"Not all smaller applications were tried: {why}."
        assert zoe("plan", str(app_file)).out == f"Executions ahead of it: 3000.\n{not_all}\n"


def test_eta_says_why_nothing_can_be_said(server: Server, zoe: Zoe, submitted: str) -> None:
    server.append(submitted, ev.Queued(at_s=1.0), ev.Forecasted(at_s=2.0, forecast=Forecast(2.0, None, None)))
    server.master.there = False
    assert "No forecast is possible: an execution ahead of it has no known end." in zoe("eta", submitted).out
    away = Reason(ReasonCode.NODES_AWAY, "The nodes that it needs are away.")
    server.append(submitted, ev.ReasonChanged(at_s=3.0, reason=away))
    told = "No forecast is possible: the nodes that it needs are down, drained or reserved."
    assert told in zoe("eta", submitted).out
    used = Reason(ReasonCode.FOREIGN_USE, "Its core does not fit next to other programs.")
    server.append(submitted, ev.ReasonChanged(at_s=4.0, reason=used))
    told = "No forecast is possible: programs that Zoe does not run use resources that it needs."
    assert told in zoe("eta", submitted).out
    server.master.there = True


def test_events(server: Server, zoe: Zoe, submitted: str) -> None:
    server.start(submitted)
    answer = zoe("events", submitted, "-o", "json").json()["events"]
    assert [e["kind"] for e in answer][:3] == ["submitted", "queued", "start_planned"]
    assert "worker.1.1" in zoe("events", submitted).out


def test_others_see_and_do_what_they_may(zoe: Zoe, submitted: str, app_file: Path) -> None:
    assert zoe("show", submitted, token=OTHER).code == 3
    assert zoe("show", submitted, token=READER).code == 3
    assert zoe("share", submitted, "--with", "bob").code == 0
    assert zoe("show", submitted, token=READER).code == 0
    assert zoe("cancel", submitted, token=READER).code == 4
    assert zoe("run", str(app_file), token=READER).code == 4
    assert zoe("ls", "--all-tenants", token=OTHER).code == 4
    assert zoe("ls", "--all-tenants").code == 0


def end_next(server: Server, after: int, exit_code: int) -> None:
    """Start and end the execution that comes after an entry of the journal, as the master would."""
    server.end(start_next(server, after), exit_code)


def start_next(server: Server, after: int) -> str:
    """Start the execution that comes after an entry of the journal; return its id."""
    news = threading.Event()
    subscription = server.store.subscribe(news.set)
    try:
        while not (entries := server.store.journal(after, 1)):
            news.wait(10)
            news.clear()
        execution_id = entries[0].execution_id
        assert execution_id is not None
        server.start(execution_id)
        return execution_id
    finally:
        subscription.close()


def test_ports_for_browsers_are_shown_where_the_proxy_is_and_nowhere_else(server: Server, zoe: Zoe) -> None:
    web = {"name": "web", "number": 8000, "protocol": "http", "path": "/lab", "proxied": True}
    described = {**APP, "components": [{**APP["components"][0], "ports": [web]}]}  # type: ignore[index]
    execution = zoe("run", "-", "-o", "name", stdin=json.dumps(described).encode()).out.strip()
    server.start(execution)
    shown = zoe("show", execution)
    (line,) = (line for line in shown.out.splitlines() if line.startswith("open"))
    assert f"http://{execution}.apps.localhost:{server.port}/lab (main-0, web)" in line
    command = line.partition("zoe ")[2].split()
    assert f"http://{execution}.apps.localhost:{server.port}/.zoe/enter?ticket=" in zoe(*command).out
    views = [shown, zoe("show", execution, "-o", "json"), zoe("ls", "-o", "json"), zoe("events", execution)]
    for view in views:
        assert view.code == 0
        assert not re.search(r"(?<![\d.])34567(?!\d)", view.out)
        assert "s3cret" not in view.out


def test_a_notebook_is_started_once_and_then_opened_again(server: Server, zoe: Zoe) -> None:
    after = server.store.last_journal_id()
    master = threading.Thread(target=start_next, args=(server, after))
    master.start()
    first = zoe("notebook")
    master.join()
    execution = re.search(r"submitted as (\w+)", first.err)
    assert execution is not None
    assert f"http://{execution[1]}.apps.localhost:{server.port}/.zoe/enter?ticket=" in first.out
    again = zoe("notebook")
    assert (again.code, again.err) == (0, "")
    assert f"http://{execution[1]}.apps." in again.out
    server.end(execution[1], 0)
    assert zoe("notebook", "--entry", "batch").code == 3
    assert "`zoe catalogue` lists the entries" in zoe("notebook", "--entry", "nothing").err


def test_explain_and_status_tell_of_nodes_that_are_not_ready(server: Server, zoe: Zoe, submitted: str) -> None:
    now_s, epoch = time.time(), server._epoch
    server.append(
        submitted, ev.Queued(at_s=now_s), ev.StartPlanned(at_s=now_s, placements=server.placements(submitted))
    )
    first = server.get(submitted).services[0].id
    server.append(submitted, ev.ServiceStarting(at_s=now_s, service_id=first))
    begun = "main-0 on node-1: it is being started.\n"
    expected = f"It does not wait: it is starting.\n{begun}Instances of worker: 2 of 2.\n"
    assert zoe("explain", submitted).out == expected
    [there] = server.store.platform()
    silent = "the swarm's managers do not answer"
    server.store.set_platform([replace(there, ready=False, message=silent)], now_s, epoch)
    try:
        told = zoe("explain", submitted).out
        assert told.startswith(
            "It does not wait: it is starting.\nSome of its services wait for nodes that are not ready.\n"
        )
        assert f"the node is not ready: {silent}" in told
        assert f"main-0 on node-1: node node-1 is not ready: {silent}.\n" in told
    finally:
        server.store.set_platform([there], now_s, epoch)
    assert "nodes" not in zoe("status").out
    server.master.facts |= {"nodes": 3, "nodes_ready": 1}
    assert "1 of 3 ready" in zoe("status").out
    server.master.facts.clear()


def test_ls_since_sorted_and_by_a_format(server: Server, zoe: Zoe, app_file: Path) -> None:
    for letter in "bac":
        zoe("run", str(app_file), "--name", f"sorted-{letter}")

    def listed(*arguments: str) -> str:
        return "".join(zoe("ls", "--name", "sorted-", *arguments).out.split()).replace("sorted-", "")

    assert listed("--sort", "name", "--format", "{name}") == "abc"
    assert listed("--sort", "-name", "--format", "{name}") == "cba"
    assert listed("--sort", "age", "--format", "{name}") == "cab"
    assert listed("--since", "1h", "-n", "1", "--format", "{name}:{state}:{exit_code}") == "c:submitted:"
    assert listed("--since", "2037-01-01", "-o", "name") == ""
    assert [row.split()[1] for row in zoe("ls", "--name", "sorted-", "--sort", "name").out.splitlines()[1:]] == [
        "sorted-a", "sorted-b", "sorted-c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sort", "colour"], "is not a column to sort by"),
        (["--format", "{colour}"], "an execution has no 'colour'"),
        (["--format", "{id.__class__}"], "an execution has no 'id.__class__'"),
        (["--format", "{id!r}"], "is not a format"),
        (["--format", "{id:>99999999999}"], "is not a format"),
        (["--format", "{"], "is not a format"),
        (["--since", "yesterday"], "is not a date"),
        (["--since", "3x"], "is not a date"),
    ],
)
def test_ls_refuses_what_it_does_not_know(zoe: Zoe, arguments: list[str], said: str) -> None:
    done = zoe("ls", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.replace("\u2502", "").split())


def test_ls_lists_again_until_interrupted(
    server: Server, zoe: Zoe, app_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoe("run", str(app_file), "--name", "watched-1")
    with Client(server.url, ADMIN) as client:
        rounds = iter((lambda: client.submit(APP, name="watched-2"), interrupt))
        monkeypatch.setattr("zoe_cli.commands.watching.listing.time.sleep", lambda _seconds: next(rounds)())
        done = zoe("ls", "-w", "--name", "watched-", "--format", "{name}")
    assert done.code == 130
    assert done.out.split() == ["watched-1", "watched-2", "watched-1"]


def interrupt() -> None:
    raise KeyboardInterrupt
