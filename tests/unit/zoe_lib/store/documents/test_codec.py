from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field

import msgspec
import pytest

from tests.support.applications import application, component, execution
from tests.support.limits import user_limit
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_lib.domain.applications.application import Application, Volume
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Pushdown, StorageDemand, StorageObject
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.codec import decode, encode, event_data, event_of

EVENTS = [
    ev.Submitted(at_s=1.0, cause_id="c"),
    ev.Submitted(at_s=1.0, conditions=Conditions(Holder.USER, 5.0, (Dependency(DependencyKind.OK, "x", False),), True)),
    ev.DependencyEnded(at_s=1.0, on="x"),
    ev.Modified(
        at_s=1.0, before=ev.Requested.of_execution(execution()), after=ev.Requested.of_execution(execution(priority=9))
    ),
    ev.ReasonChanged(at_s=1.0, reason=Reason(ReasonCode.NO_RESOURCES, "no room", {"labels": 2}, "ask")),
    ev.StartPlanned(at_s=2.0, placements=(ev.Placement(service_id="s", node="n"),)),
    ev.StorageGranted(at_s=2.0, read_bytes_per_s=5),
    ev.StorageWithdrawn(at_s=2.5, read_bytes_per_s=5, why="promised to others"),
    ev.TenantCredentialUsed(at_s=2.5),
    ev.StorageTransferred(at_s=2.5, attempt=2, transfers=StoreTransfers(4, 100, 10, 1.5, 2.5, whole=False, at_s=2.5)),
    ev.ServiceEnded(at_s=3.0, service_id="s", cause=Cause.OUT_OF_MEMORY, exit_code=137, message="too much"),
    ev.Stopping(at_s=4.0, outcome=Outcome.FAILED, cause=Cause.CORE_ENDED),
    ev.Requeued(at_s=5.0, not_before_s=9.5),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_events_are_decoded_as_encoded(event: ev.Event) -> None:
    data = json.loads(json.dumps(event_data(event)))
    assert "at_s" not in data
    assert event_of(event.kind, event.at_s, event.cause_id, data) == event


def test_values_come_back() -> None:
    demand = StorageDemand(
        (StorageObject("readings", "swift2d://a.b/c", Pushdown(("vid",), "city = 'Nice'")),), (), Bandwidth(1, None)
    )
    wanted = application(
        component(
            volumes=(Volume("/data", name="data"),), reservation=Resources(1, 2, {"gpu": 1}), labels=(("ssd", "yes"),)
        ),
        storage=demand,
        expected_run_s=12.5,
    )
    assert decode(Application, json.loads(json.dumps(encode(wanted)))) == wanted
    policy = Policy(weighers={"free_memory": -2.0}, user_limits={"*": user_limit(cores_milli=5)})
    assert decode(Policy, json.loads(json.dumps(encode(policy)))) == policy


def test_other_versions_are_read() -> None:
    assert decode(Policy, {"order": "size", "invented_later": 1}) == Policy(order="size")
    before_users_had_limits = {k: v for k, v in encode(Policy()).items() if k != "user_limits"}
    assert decode(Policy, before_users_had_limits) == Policy()


def test_value_without_a_json_form_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        value: object = field(default_factory=object)

    with pytest.raises(TypeError):
        encode(Odd())
    with pytest.raises(msgspec.ValidationError, match="sentence"):
        decode(Reason, {"code": "no_resources"})  # a field without a default is missing
    with pytest.raises(msgspec.ValidationError, match="no_such_code"):
        decode(Reason, {"code": "no_such_code", "sentence": "so"})


def test_sets_are_sorted() -> None:
    assert encode(frozenset({"write", "read"})) == ["read", "write"]
    assert decode(frozenset[str], ["a", "a"]) == frozenset("a")  # type: ignore[arg-type]


FIRST_OF_EACH_TYPE = """
import sys, threading
from dataclasses import make_dataclass
from zoe_lib.store.documents.codec import decode
sys.setswitchinterval(1e-6)
for number in range(100):
    inner = make_dataclass("Inner", [(f"of_{number}", int)])
    outer = make_dataclass("Outer", [("one", inner), ("other", list[inner])])
    value = {f"of_{number}": number}
    begin = threading.Barrier(8)
    def decode_once():
        begin.wait()
        decode(outer, {"one": value, "other": [value]})
    threads = [threading.Thread(target=decode_once) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done")
"""


def test_threads_that_are_the_first_to_decode_a_type_do_not_crash() -> None:
    """As in a process that has just started, and gets many requests at once."""
    done = subprocess.run([sys.executable, "-c", FIRST_OF_EACH_TYPE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
