"""SLOs that an admin sets for good, beside those of masters and of the dialects of Crystal."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.storage_controller import MB, Served, served_controller


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with served.http() as client:
        yield client


def test_it_is_set_replaced_and_removed(http: httpx.Client, served: Served) -> None:
    assert http.get("/v1/slos").json() == []
    both = {"read_bytes_per_s": 40 * MB, "write_bytes_per_s": 20 * MB}
    one = {"tenant": "acme", "standing": True, "set_by": "standing"}
    answer = http.put("/v1/slos/acme", json=both)
    assert (answer.status_code, answer.json()) == (201, one | both | {"notes": []})
    served.clock.advance(10**9)  # no lease ends it
    assert http.get("/v1/slos").json() == [one | both | {"notes": []}]
    assert http.put("/v1/slos/acme", json=both | {"read_bytes_per_s": 30 * MB}).json() == one | {
        "read_bytes_per_s": 30 * MB,
        "write_bytes_per_s": 20 * MB,
        "notes": [],
    }
    assert served.ledger.guarantees_by_tenant()["acme"].read_bytes_per_s == 30 * MB
    assert http.delete("/v1/slos/acme").status_code == 204
    assert http.get("/v1/slos").json() == []
    assert http.delete("/v1/slos/acme").status_code == 404


def test_more_than_the_store_has_is_promised_with_a_note(http: httpx.Client) -> None:
    for tenant in ("acme", "beta"):
        told = http.put(f"/v1/slos/{tenant}", json={"read_bytes_per_s": 60 * MB, "write_bytes_per_s": 5 * MB}).json()
    [note] = told["notes"]
    assert note.startswith("120 MB/s to read are guaranteed in total, of 100:")


def test_others_are_listed_and_left_alone(http: httpx.Client, served: Served) -> None:
    mine = {"read_bytes_per_s": 10 * MB, "lease_s": 60}
    assert http.put("/v1/owners/zoe/slos/acme", json=mine).status_code == 201
    assert http.post("/bw/slas", json={"project_id": "acme", "policy_id": "gold", "bandwidth": 5}).status_code == 201
    assert http.put("/v1/slos/acme", json={"read_bytes_per_s": 30 * MB}).status_code == 201
    rows = {row["set_by"]: (row["standing"], row["read_bytes_per_s"]) for row in http.get("/v1/slos").json()}
    assert rows == {"zoe": (False, 10 * MB), "gold": (False, 5 * MB), "standing": (True, 30 * MB)}
    assert http.delete("/v1/slos/acme").status_code == 204
    assert served.ledger.guarantees_by_tenant()["acme"].read_bytes_per_s == 10 * MB


@pytest.mark.parametrize(
    ("tenant", "body", "status"),
    [
        ("acme", {}, 400),
        ("acme", {"read_bytes_per_s": None}, 400),
        ("acme", {"read_bytes_per_s": 0}, 400),
        ("acme", {"read_bytes_per_s": "40MB/s"}, 400),
        ("acme", {"read_bytes_per_s": 101 * MB}, 409),
        ("stranger", {"read_bytes_per_s": MB}, 404),
        ("a%23b", {"read_bytes_per_s": MB}, 400),
    ],
)
def test_invalid_slo_is_refused_without_a_change(
    http: httpx.Client, served: Served, tenant: str, body: dict[str, object], status: int
) -> None:
    served.strangers.add("stranger")
    assert http.put(f"/v1/slos/{tenant}", json=body).status_code == status
    assert http.get("/v1/slos").json() == []


def test_a_rate_that_is_not_named_stays_and_null_removes_one(http: httpx.Client) -> None:
    http.put("/v1/slos/acme", json={"read_bytes_per_s": 40 * MB, "write_bytes_per_s": 20 * MB})
    changed = http.put("/v1/slos/acme", json={"read_bytes_per_s": 30 * MB}).json()
    assert (changed["read_bytes_per_s"], changed["write_bytes_per_s"]) == (30 * MB, 20 * MB)
    removed = http.put("/v1/slos/acme", json={"read_bytes_per_s": None}).json()
    assert (removed["read_bytes_per_s"], removed["write_bytes_per_s"]) == (None, 20 * MB)
    assert http.put("/v1/slos/acme", json={}).status_code == 400
    last = http.put("/v1/slos/acme", json={"write_bytes_per_s": None})
    assert (last.status_code, last.json()["error"]) == (400, "an SLO needs a rate to read, to write, or both")
    assert http.get("/v1/slos").json()[0]["write_bytes_per_s"] == 20 * MB


@pytest.mark.parametrize("tenant", ["acme", "beta", "gamma"])
def test_the_first_of_a_tenant_may_be_set_by_many_at_once(http: httpx.Client, tenant: str) -> None:
    def put(rate: int) -> int:
        return http.put(f"/v1/slos/{tenant}", json={"read_bytes_per_s": rate * MB}).status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(put, range(1, 21))) == {201}
    assert [entry["tenant"] for entry in http.get("/v1/slos").json()] == [tenant]
