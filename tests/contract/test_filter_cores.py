"""Cores of filters that an admin sets, beside those of the settings."""

from __future__ import annotations

import httpx
import pytest

from storage_controller.promises.filter_cores import CoresLedger, CpuBounds
from tests.support.storage_controller import served_controller

OF_SETTINGS = CpuBounds({"acme": 2.0, "beta": 1.0}, 0.5)


def test_cores_set_by_an_admin_replace_the_setting_until_removed(postgres_url: str) -> None:
    with served_controller(postgres_url, cpu_bounds=OF_SETTINGS) as served, served.http() as http:

        def told() -> dict[str, tuple[float, bool]]:
            return {row["tenant"]: (row["cores"], row["standing"]) for row in http.get("/v1/filter-cores").json()}

        before = {"acme": (2.0, False), "beta": (1.0, False), "*": (0.5, False)}
        assert told() == before
        made = http.put("/v1/filter-cores/acme", json={"cores": 0.25}, headers={"X-Zoe-Author": "ann"})
        assert made.status_code == 201
        assert {name: made.json()[name] for name in ("tenant", "cores", "standing", "author")} == {
            "tenant": "acme",
            "cores": 0.25,
            "standing": True,
            "author": "ann",
        }
        for tenant, cores in (("acme", 0.3), ("new", 4), ("*", 1024)):
            assert http.put(f"/v1/filter-cores/{tenant}", json={"cores": cores}).status_code == 201
        assert told() == {"acme": (0.3, True), "beta": (1.0, False), "new": (4.0, True), "*": (1024.0, True)}
        assert OF_SETTINGS.replaced_by(CoresLedger(served.ledger).cores()) == CpuBounds(
            {"acme": 0.3, "beta": 1.0, "new": 4.0}, 1024.0
        )
        for tenant in ("acme", "new", "*"):
            assert http.delete(f"/v1/filter-cores/{tenant}").status_code == 204
        assert told() == before
        answer = http.delete("/v1/filter-cores/beta")
        assert (answer.status_code, "in its file" in answer.json()["error"]) == (404, True)


@pytest.mark.parametrize("cores", [0, -1, 0.001, 1025, "many", None, True])
def test_invalid_number_of_cores_is_refused(postgres_url: str, cores: object) -> None:
    with served_controller(postgres_url) as served, served.http() as http:
        assert http.put("/v1/filter-cores/acme", json={"cores": cores}).status_code == 400
        assert http.get("/v1/filter-cores").json() == []


def test_there_are_not_too_many(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage_controller.promises.filter_cores._TENANTS_MAX", 2)
    with served_controller(postgres_url) as served, served.http() as http:
        found = [put(http, f"t{number}") for number in range(3)]
        assert found == [201, 201, 409]
        assert put(http, "t0") == 201
        assert [row["tenant"] for row in http.get("/v1/filter-cores").json()] == ["t0", "t1"]


def put(http: httpx.Client, tenant: str) -> int:
    return http.put(f"/v1/filter-cores/{tenant}", json={"cores": 1}).status_code
