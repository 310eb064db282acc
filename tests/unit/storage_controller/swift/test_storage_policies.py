"""What a client may ask for as a storage policy, and the program that makes it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from storage_controller.answers import RequestRefusedError
from storage_controller.swift.storage_policies import NewStoragePolicy, PolicyMaker

DEVICES = {"r1z1-192.168.1.5:6000/sdb1": "200", "r1z1-192.168.1.6:6000/sdb2": "200"}
PLAIN: dict[str, Any] = {
    "storage_node": DEVICES,
    "policy_id": "5",
    "name": "fast",
    "partitions": "1024",
    "replicas": 2,
    "time": "1",
}
CODED = PLAIN | {
    "name": "ec104",
    "partitions": 4,
    "replicas": 14,
    "ec_type": "liberasurecode_rs_vand",
    "ec_num_data_fragments": 10,
    "ec_num_parity_fragments": 4,
    "ec_object_segment_size": 1048576,
}


def test_the_program_gets_numbers_whatever_the_client_sent() -> None:
    given: list[Sequence[str]] = []

    def run(command: Sequence[str], seconds: float) -> tuple[int, str]:
        given.append(command)
        return 0, "it is made"

    maker = PolicyMaker(["/usr/sbin/policy", "-v"], 10.0, run)
    assert maker.make(NewStoragePolicy.model_validate(PLAIN)) == "it is made"
    assert maker.make(NewStoragePolicy.model_validate(CODED)) == "it is made"
    (*program, plain), (*_, coded) = given
    assert program == ["/usr/sbin/policy", "-v"]
    weights = dict.fromkeys(DEVICES, 200.0)
    expected = {"name": "fast", "index": 5, "partitions": 1024, "replicas": 2, "hours": 1, "devices": weights}
    assert json.loads(plain) == expected
    assert json.loads(coded)["ec_num_parity_fragments"] == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy_id": 0},
        {"policy_id": "five"},
        {"name": "fast\n[storage-policy:0]"},
        {"name": ""},
        {"partitions": 1000},
        {"partitions": 0},
        {"replicas": 0},
        {"storage_node": {}},
        {"storage_node": {"sdb1": 1}},
        {"storage_node": {"r1z1-10.0.0.1:6200/../d1": 1}},
        {"storage_node": {"r1z1-10.0.0.1:6200/d1": -1}},
        {"storage_node": {"r1z1-10.0.0.1:6200/d1": "inf"}},
        {"ec_num_data_fragments": 10},
        {"ec_type": "liberasurecode_rs_vand"},
        {"owner": "acme"},
    ],
)
def test_invalid_policy_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NewStoragePolicy.model_validate(PLAIN | wrong)


def test_an_erasure_code_has_as_many_replicas_as_fragments() -> None:
    with pytest.raises(ValidationError, match="the sum of"):
        NewStoragePolicy.model_validate(CODED | {"replicas": 3})


def test_failure_of_the_program_is_reported() -> None:
    wanted = NewStoragePolicy.model_validate(PLAIN)
    for code, said, told in (
        (1, "Duplicate index", "Duplicate index"),
        (3, "", "exit code 3"),
        (None, "killed", "killed"),
    ):
        with pytest.raises(RequestRefusedError, match=f"fast was not made: {told}") as refused:
            PolicyMaker(["x"], 1.0, lambda *_, code=code, said=said: (code, said)).make(wanted)  # type: ignore[misc]
        assert refused.value.status == 409
    with pytest.raises(RequestRefusedError, match="swift_policy_command"):
        PolicyMaker([], 1.0).make(wanted)


def test_one_is_made_at_a_time() -> None:
    wanted, began, go = NewStoragePolicy.model_validate(PLAIN), threading.Event(), threading.Event()

    def run(command: Sequence[str], seconds: float) -> tuple[int, str]:
        began.set()
        go.wait(30)
        return 0, ""

    maker = PolicyMaker(["x"], 1.0, run)
    first = threading.Thread(target=maker.make, args=(wanted,))
    first.start()
    assert began.wait(30)
    with pytest.raises(RequestRefusedError, match="another storage policy"):
        maker.make(wanted)
    go.set()
    first.join()
    assert maker.make(wanted) == ""
