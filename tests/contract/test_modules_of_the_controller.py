"""Modules at our storage controller: uploaded, set by rules, removed; and the appendix's calls for filters."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator

import httpx
import pytest
import sqlalchemy as sa
import wasmtime

from storage_controller.answers import RequestRefusedError
from storage_controller.rules import module_ledger
from storage_controller.rules.checks import TRIALS_MAX
from storage_controller.rules.module_ledger import ModuleLedger, versions
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.swift.rewrite_ledger import Counts, RewriteJob, RewriteLedger
from storage_filters.transforms.modules.engine import MODULE_BYTES_MAX
from tests.support.manual_clock import ManualClock
from tests.support.modules import EMPTY, FLIPPING, READING, entry, module
from tests.support.storage_controller import Served, served_controller
from zoe_embedded.runtimes.runtime import CLONE

FLIP, READ = module(*FLIPPING), module(*READING)
PASSES = module(entry("transform", "(i32.const 0)"))
MASK = (CLONE / "app_descriptions" / "filters" / "mask.wasm").read_bytes()


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with served.http() as client:
        yield client


def upload(
    http: httpx.Client, name: str, content: bytes, tenant: str = "", author: str = "ann", only_author: bool = False
) -> httpx.Response:
    """Upload as an admin, or as a user without rights on others' modules."""
    body, who = {"data": base64.b64encode(content).decode()}, {"tenant": tenant, "only_author": only_author}
    return http.put(f"/v1/modules/{name}", params=who, json=body, headers={"X-Zoe-Author": author})


def add(http: httpx.Client, text: str) -> list[dict[str, object]]:
    answer = http.post("/v1/rules", json={"text": text})
    assert answer.status_code == 201, answer.text
    found: list[dict[str, object]] = answer.json()
    return found


def ran(served: Served, tenant: str = "acme") -> dict[str, str]:
    """The versions that proxies run for a tenant, by the name of the filter."""
    book = RuleLedger(served.ledger).book()
    found = ((action, book.module(tenant, action)) for rule in book.rules for action in rule.actions)
    return {version.name: version.sha256 for _, version in found if version is not None}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_an_upload_does_not_change_what_an_admins_rule_runs(served: Served, http: httpx.Client) -> None:
    """A user replaced a mask by a pass-through so, or by a module of another kind."""
    upload(http, "mask", READ, "acme")
    [rule] = add(http, "FOR CONTAINER acme/people DO SET mask")
    assert rule["modules"] == [
        {"name": "mask", "tenant": "acme", "sha256": digest(READ), "newest": True, "only_here": False}
    ]
    for content in (FLIP, PASSES):
        assert upload(http, "mask", content, "acme", only_author=True).status_code == 201
        assert ran(served) == {"mask": digest(READ)}
    [kept] = http.get("/v1/rules").json()
    assert kept["modules"] == [
        {"name": "mask", "tenant": "acme", "sha256": digest(READ), "newest": False, "only_here": True}
    ]
    assert ModuleLedger(served.ledger).content(digest(READ)) == READ


def test_new_versions_are_the_authors_and_admins_and_so_is_the_removal(http: httpx.Client) -> None:
    upload(http, "mask", READ, "acme", only_author=True, author="ann")
    refused = upload(http, "MASK", PASSES, "acme", only_author=True, author="ben")
    assert refused.status_code == 409
    assert refused.json()["error"].startswith("mask is ann's module: its author or an admin changes it")
    removed = http.delete(
        "/v1/modules/mask", params={"tenant": "acme", "only_author": True}, headers={"X-Zoe-Author": "ben"}
    )
    assert (removed.status_code, "ann's" in removed.json()["error"]) == (409, True)
    assert upload(http, "mask", PASSES, "acme", author="root").status_code == 201
    assert upload(http, "mask", READ, "acme", only_author=True, author="ann").status_code == 409  # it is root's now
    assert upload(http, "mine", READ, "acme", only_author=True, author="ben").status_code == 201


def moved(http: httpx.Client, rule: object, name: str = "mask", sha256: str | None = None) -> httpx.Response:
    return http.put(f"/v1/rules/{rule}/modules/{name}", json={"sha256": sha256})


def test_a_rule_is_moved_to_the_newest_or_a_named_version(served: Served, http: httpx.Client) -> None:
    upload(http, "mask", READ, "acme")
    [first, second] = add(http, "FOR CONTAINER acme/a DO SET mask\nFOR CONTAINER acme/b DO SET mask")
    upload(http, "mask", PASSES, "acme")
    told = moved(http, first["id"]).json()
    assert (told["was"], told["modules"][0]["sha256"]) == ([digest(READ)], digest(PASSES))
    assert [entry["modules"][0]["newest"] for entry in http.get("/v1/rules").json()] == [True, False]
    assert moved(http, first["id"], sha256=digest(READ)[:12]).json()["was"] == [digest(PASSES)]
    assert ran(served) == {"mask": digest(READ)}
    upload(http, "mask", FLIP, "acme")
    for rule, name, sha256, status, sentence in (
        (first["id"], "mask", None, 409, "runs when objects are stored: add a rule for it"),
        (first["id"], "mask", "0" * 12, 404, "there is no version 000000000000 of mask"),
        (first["id"], "other", None, 404, "runs no uploaded version of other"),
        (99, "mask", None, 404, "rule 99 does not exist"),
        (first["id"], "mask", "xyz", 422, ""),
    ):
        refused = moved(http, rule, name, sha256)
        assert (refused.status_code in (status, 400), sentence in refused.text) == (True, True), refused.text
    assert second["modules"] == first["modules"]


def removed_and_again(http: httpx.Client, rule: object) -> httpx.Response:
    assert http.delete(f"/v1/rules/{rule}").status_code == 204
    return http.post(f"/v1/rules/{rule}/again", json={})


def test_a_restored_rule_runs_what_it_ran_and_is_refused_if_that_was_removed(
    served: Served, http: httpx.Client
) -> None:
    """It ran the newest version: that of a user who had uploaded one since."""
    upload(http, "mask", READ, "acme")
    [first, second] = add(http, "FOR CONTAINER acme/a DO SET mask\nFOR CONTAINER acme/b DO SET mask")
    upload(http, "mask", PASSES, "acme")
    assert [entry["modules"][0]["only_here"] for entry in http.get("/v1/rules").json()] == [False, False]
    again = removed_and_again(http, first["id"])
    assert (again.status_code, again.json()["modules"][0]["sha256"]) == (201, digest(READ)), again.text
    assert http.post(f"/v1/rules/{first['id']}/again", json={}).status_code == 409  # it says the same
    assert http.delete(f"/v1/rules/{again.json()['id']}").status_code == 204
    [kept] = http.get("/v1/rules").json()
    assert kept["modules"][0]["only_here"]
    gone = removed_and_again(http, second["id"])
    assert (gone.status_code, f"ran version {digest(READ)[:12]} of mask of acme, which was removed" in gone.text) == (
        409,
        True,
    ), gone.text
    assert http.get("/v1/rules").json() == []
    upload(http, "mask", READ, "acme")
    assert http.post(f"/v1/rules/{second['id']}/again", json={}).status_code == 201
    with served.ledger.begin() as connection:
        connection.execute(sa.text("UPDATE sds.policies SET ran = NULL"))
    assert "before the versions of its filters were recorded" in http.post(f"/v1/rules/{first['id']}/again").text
    assert http.post("/v1/rules/99/again", json={}).status_code == 404


def test_a_move_that_changes_nothing_is_refused(http: httpx.Client) -> None:
    upload(http, "mask", READ, "acme")
    [rule] = add(http, "FOR CONTAINER acme/a DO SET mask")
    assert moved(http, rule["id"]).json()["error"].endswith(f"runs mask {digest(READ)[:12]} already: nothing changed")
    upload(http, "mask", PASSES)
    refused = moved(http, rule["id"])
    assert (refused.status_code, "to run the shared mask, remove the rule" in refused.text) == (409, True)


def test_a_version_goes_when_neither_a_rule_nor_an_object_needs_it(served: Served, http: httpx.Client) -> None:
    upload(http, "mask", READ, "acme")
    [rule] = add(http, "FOR CONTAINER acme/a DO SET mask")
    upload(http, "mask", PASSES, "acme")
    moved(http, rule["id"])
    assert ModuleLedger(served.ledger).content(digest(READ)) is None
    upload(http, "flip", FLIP, "acme")
    [stores] = add(http, "FOR CONTAINER acme/b DO SET flip")
    assert ModuleLedger(served.ledger).content(digest(FLIP)) == FLIP  # a proxy stores objects with it
    upload(http, "flip", module(*EMPTY), "acme")
    http.delete(f"/v1/rules/{stores['id']}")
    assert ModuleLedger(served.ledger).content(digest(FLIP)) == FLIP
    http.delete(f"/v1/rules/{rule['id']}")
    assert ran(served) == {}


def applied(served: Served, at_s: float, tenant: str = "acme", container: str = "", **counts: int) -> None:
    """A job that stored the objects of a tenant again at that time."""
    jobs = RewriteLedger(served.ledger, ManualClock(at_s))
    job = jobs.begin(RewriteJob(tenant, container, plain=False, dry_run=False, bytes_per_s=10**6), "ann")
    jobs.note(job["id"], "c", "o", Counts(looked=1, **counts))
    jobs.end(job["id"])


def test_a_version_for_stored_objects_is_removed_after_all_were_stored_again(
    served: Served, http: httpx.Client
) -> None:
    upload(http, "flip", FLIP, "acme")
    [rule] = add(http, "FOR CONTAINER acme/b DO SET flip")
    ModuleLedger(served.ledger).content(digest(FLIP))  # a proxy stores objects with it
    gone = {"params": {"tenant": "acme"}}

    def refusal(sha256: str = digest(FLIP)[:12]) -> str:
        answer = http.delete(f"/v1/modules/flip/versions/{sha256}", **gone)
        return "" if answer.status_code == 204 else str(answer.json()["error"])

    assert "is the newest version of flip" in refusal()
    upload(http, "flip", module(*EMPTY), "acme")
    assert "rule 1 uses version" in refusal()
    http.delete(f"/v1/rules/{rule['id']}")
    [old, new] = http.get("/v1/modules/versions", params={"tenant": "acme"}).json()
    assert [(entry["newest"], entry["objects"], entry["rules"]) for entry in (old, new)] == [
        (False, True, []),
        (True, False, []),
    ]
    now_s = time.time()
    applied(served, now_s + 30)  # proxies may have stored some by the rule of before
    applied(served, now_s + 100, tenant="beta")
    applied(served, now_s + 100, container="b")
    applied(served, now_s + 100, failed=1)
    assert "store all of them again first (zoe storage policy apply acme)" in refusal()
    applied(served, now_s + 100)
    assert refusal() == ""
    assert ModuleLedger(served.ledger).content(digest(FLIP)) is None
    assert "no version" in refusal()


def test_a_rule_that_runs_a_version_again_makes_an_earlier_job_worthless(served: Served, http: httpx.Client) -> None:
    upload(http, "flip", FLIP, "acme")
    applied(served, time.time() + 100)
    with served.ledger.begin() as connection:  # as if both were long ago
        connection.execute(sa.text("UPDATE sds.module_versions SET idle_since_s = 1, created_s = 1"))
    [rule] = add(http, "FOR CONTAINER acme/b DO SET flip")
    ModuleLedger(served.ledger).content(digest(FLIP))
    upload(http, "flip", module(*EMPTY), "acme")
    with served.ledger.begin() as connection:
        connection.execute(sa.text("UPDATE sds.rewrites SET created_s = 1000"))
    http.delete(f"/v1/rules/{rule['id']}")
    refused = http.delete(f"/v1/modules/flip/versions/{digest(FLIP)}", params={"tenant": "acme"})
    assert "store all of them again first" in refused.json()["error"]


def test_the_new_version_must_take_the_parameters_of_the_rule(http: httpx.Client) -> None:
    upload(http, "mask", READ, "acme")
    [rule] = add(http, "FOR CONTAINER acme/a DO SET mask")
    upload(http, "mask", MASK, "acme")
    refused = moved(http, rule["id"])
    assert (refused.status_code, refused.json()["error"][:39]) == (400, "mask needs the parameter columns: colum")


def test_a_rule_that_was_there_before_its_module_waits_for_an_admin(served: Served, http: httpx.Client) -> None:
    """A user who uploads a module of that name does not decide what the rule does."""
    http.post("/registry/gtenants", json={"name": "those", "members": ["beta"]})
    add(http, "FOR CONTAINER acme/a DO SET late\nFOR G:those DO SET late")
    upload(http, "late", READ, "acme", only_author=True)
    upload(http, "other", READ, "acme")  # an admin's, of another name
    assert ran(served) == {}
    assert [entry["enforced"] for entry in http.get("/v1/rules").json()] == [False, False]
    upload(http, "late", PASSES, "beta")
    assert (ran(served, "beta"), ran(served)) == ({"late": digest(PASSES)}, {})
    http.put("/registry/gtenants/those", json=["beta", "acme"])
    assert [entry["modules"] != [] for entry in http.get("/v1/rules").json()] == [False, True]
    upload(http, "late", READ, "acme")
    assert [entry["enforced"] for entry in http.get("/v1/rules").json()] == [True, True]


def test_no_tenant_uses_up_the_versions_of_another(
    served: Served, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,000 versions by one user blocked all other tenants."""
    monkeypatch.setattr(module_ledger, "VERSIONS_MAX", 3)
    kept = ModuleLedger(served.ledger)
    for number in range(10):  # a user's new versions replace each other
        kept.keep("acme", "one", b"%d" % number, (True, False), "ann", only_author=True)
    for name in ("two", "three"):
        kept.keep("acme", name, name.encode(), (True, False), "ann", only_author=True)
    with pytest.raises(RequestRefusedError, match="3 versions of modules of this tenant are kept"):
        kept.keep("acme", "four", b"four", (True, False), "ann", only_author=True)
    assert kept.keep("beta", "one", b"beta's", (True, False), "ben", only_author=True).tenant == "beta"
    kept.drop("acme", "two", "ann", only_author=True)
    kept.keep("acme", "four", b"four", (True, False), "ann", only_author=True)


def test_a_rule_that_sets_a_module_of_its_tenant_is_carried_out(served: Served, http: httpx.Client) -> None:
    assert upload(http, "Flip", FLIP, "acme").json() == {
        "tenant": "acme",
        "name": "flip",
        "sha256": hashlib.sha256(FLIP).hexdigest(),
        "bytes": len(FLIP),
        "runs": "stored",
        "same_size": False,
        "author": "ann",
        "created_s": pytest.approx(0, abs=1e12),
        "rules": [],
    }
    assert [entry["enforced"] for entry in add(http, "FOR CONTAINER acme/c DO SET flip WITH a=1")] == [True]
    assert [entry["enforced"] for entry in add(http, "FOR CONTAINER beta/c DO SET flip")] == [False]
    assert [entry["rules"] for entry in http.get("/v1/modules").json()] == [[1]]
    assert http.get("/v1/modules", params={"tenant": "beta"}).json() == []
    [kept] = RuleLedger(served.ledger).book().modules["acme"].values()
    assert (kept.name, kept.sha256, kept.reads) == ("flip", hashlib.sha256(FLIP).hexdigest(), False)


def test_one_in_use_stays_and_a_content_that_a_proxy_has_stays_for_its_objects(
    served: Served, http: httpx.Client
) -> None:
    modules, sha256 = ModuleLedger(served.ledger), hashlib.sha256(FLIP).hexdigest()
    upload(http, "flip", FLIP, "acme")
    [rule] = add(http, "FOR TENANT acme DO SET flip")
    refused = http.delete("/v1/modules/flip", params={"tenant": "acme"})
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": "rule 1 uses the filter flip: remove the rule first"},
    )
    assert modules.content(sha256) == FLIP  # as for a proxy
    http.delete(f"/v1/rules/{rule['id']}")
    removed = http.delete("/v1/modules/flip", params={"tenant": "acme"})
    assert removed.status_code == 204
    assert "reads of objects that were stored through it still use it" in removed.headers["Warning"]
    assert http.get("/v1/modules").json() == []
    assert modules.content(sha256) == FLIP
    assert http.delete("/v1/modules/flip", params={"tenant": "acme"}).status_code == 404


def test_a_content_that_no_object_can_need_goes(served: Served, http: httpx.Client) -> None:
    modules = ModuleLedger(served.ledger)
    upload(http, "flip", FLIP)  # never sent
    upload(http, "read", READ)
    assert modules.content(hashlib.sha256(READ).hexdigest()) == READ
    http.delete("/v1/modules/flip")
    http.delete("/v1/modules/read")
    assert modules.content(hashlib.sha256(FLIP).hexdigest()) is None
    assert modules.content(hashlib.sha256(READ).hexdigest()) is None


def test_shared_module_is_not_replaced_by_a_tenant(served: Served, http: httpx.Client) -> None:
    upload(http, "mask", READ)
    refused = upload(http, "MASK", FLIP, "acme")
    assert (refused.status_code, refused.json()["error"][:26]) == (409, "there is a shared module m")
    upload(http, "late", FLIP, "acme")
    upload(http, "late", READ)
    add(http, "FOR TENANT acme DO SET late")
    assert ran(served) == {"late": hashlib.sha256(READ).hexdigest()}


BAD = [
    ("flip", b"", 400, "does not begin with"),
    ("flip", b"\0asm" + bytes(MODULE_BYTES_MAX), 400, "at most 1048576 bytes"),
    ("flip", b"\0asm\1\0\0\0\7", 400, "not a valid WebAssembly module"),
    ("flip", bytes(wasmtime.wat2wasm("(module)")), 400, "does not export its memory"),
    ("Caching", FLIP, 409, "the name of another filter"),
    ("a.b", FLIP, 400, ""),
    (
        "flip",
        bytes(wasmtime.wat2wasm(f'(module (memory (export "memory") 999) {entry("transform", "(i32.const 0)")})')),
        400,
        "cannot start",
    ),
    (
        "flip",
        module(entry("transform", "(i32.const 0)"), "(func $s (loop $l (br $l)))", "(start $s)"),
        400,
        "cannot start",
    ),
]


def test_a_bad_upload_has_a_sentence(http: httpx.Client) -> None:
    for name, content, status, sentence in BAD:
        answer = upload(http, name, content)
        assert (answer.status_code, sentence in answer.json()["error"]) == (status, True), (name, sentence, answer.text)
        assert http.get("/v1/modules").json() == []


def test_parameters_that_would_fill_the_metadata_of_objects_are_refused(http: httpx.Client) -> None:
    upload(http, "flip", FLIP)
    answer = http.post("/v1/rules", json={"text": f'FOR TENANT acme DO SET flip WITH a="{"x" * 600}"'})
    assert (answer.status_code, answer.json()) == (400, {"error": "flip: its parameters take more than 512 bytes"})


def test_a_module_uploaded_by_the_appendix_dialect_is_deployed_and_undeployed(
    served: Served, http: httpx.Client
) -> None:
    assert http.post("/filters", json={"dsl_name": "flip", "language": "c"}).status_code == 201
    early = http.put("/filters/acme/c/deploy/flip", json={"params": "a=1"})
    assert "not enforced: flip" in early.headers["Warning"]
    assert http.put("/filters/flip/data", files={"file": b"\0asm but no more"}).status_code == 400
    assert http.put("/filters/flip/data", files={"file": FLIP}).json() == {"bytes": len(FLIP)}
    deployed = http.put("/filters/acme/deploy/flip", json={"params": "a=1"})
    assert (deployed.status_code, "Warning" in deployed.headers) == (201, False)
    with served.ledger.begin() as connection:
        assert versions(connection)[""]["FLIP"].sha256 == hashlib.sha256(FLIP).hexdigest()
    assert http.delete("/filters/flip").status_code == 409
    for place in ("acme", "acme/c"):
        assert http.put(f"/filters/{place}/undeploy/flip").status_code == 204
    assert http.delete("/filters/flip").status_code == 204
    assert http.get("/v1/modules").json() == http.get("/filters").json() == []


def test_programs_of_other_kinds_are_kept_only(http: httpx.Client) -> None:
    http.post("/filters", json={"dsl_name": "jar"})
    assert http.put("/filters/jar/data", files={"file": b"PK\3\4"}).status_code == 201
    assert "not enforced: jar" in http.put("/filters/acme/deploy/jar", json={}).headers["Warning"]


def test_dependencies_are_kept_and_deployed_without_effect(http: httpx.Client) -> None:
    made = http.post("/filters/dependencies", json={"name": "lib.jar", "version": "1", "permissions": "0755"})
    assert (made.status_code, made.json()["name"], made.json()["id"]) == (201, "lib.jar", "1")
    assert http.post("/filters/dependencies", json={"name": "lib.jar"}).status_code == 409
    assert http.put("/filters/dependencies/lib.jar", json={"version": "2"}).json()["version"] == "2"
    assert http.put("/filters/dependencies/lib.jar/data", files={"file": b"PK"}).json() == {"bytes": 2}
    deployed = http.put("/filters/dependencies/acme/deploy/lib.jar")
    assert (deployed.status_code, "without effect" in deployed.headers["Warning"]) == (201, True)
    assert [entry["name"] for entry in http.get("/filters/dependencies/acme/deploy").json()] == ["lib.jar"]
    assert http.get("/filters/dependencies/beta/deploy").status_code == 404
    assert http.get("/filters/dependencies/lib.jar").json()["deployed"] == ["acme"]
    assert http.get("/filters/dependencies/1").json()["name"] == "lib.jar"
    assert http.get("/filters/dependencies/1/data").content == b"PK"
    assert http.get("/filters").json() == []
    assert http.put("/filters/dependencies/acme/undeploy/lib.jar").status_code == 204
    assert http.get("/filters/dependencies/acme/deploy").status_code == 404
    assert http.delete("/filters/dependencies/lib.jar").status_code == 204
    assert http.get("/filters/dependencies").json() == []
    for path in ("/filters/dependencies/lib.jar/data", "/filters/dependencies/acme/deploy/lib.jar"):
        assert http.put(path, files={"file": b"x"}).status_code == 404


def test_the_same_content_has_one_place(served: Served, http: httpx.Client) -> None:
    for name in ("one", "two"):
        assert upload(http, name, module(*EMPTY)).status_code == 201
    http.delete("/v1/modules/one")
    assert ModuleLedger(served.ledger).content(hashlib.sha256(module(*EMPTY)).hexdigest()) is not None


WRONG_PARAMETERS = {
    "": "mask needs the parameter columns: columns is missing: numbers from 1 on, separated by commas",
    " WITH delimiter=x": "mask needs the parameter columns: ",
    " WITH columns=two": "mask does not take the parameter columns: columns has numbers from 1 to 1024",
    " WITH columns=2, delimiter=xy": "mask does not take the parameter delimiter: delimiter is one character",
}


@pytest.mark.parametrize("target", ["CONTAINER acme/people", "G:those"])
def test_a_rule_that_lacks_what_its_module_needs_is_refused(http: httpx.Client, target: str) -> None:
    upload(http, "mask", MASK, "acme")
    assert http.post("/registry/gtenants", json={"name": "those", "members": ["acme/people"]}).status_code == 201
    for parameters, why in WRONG_PARAMETERS.items():
        text = f"FOR {target} DO SET mask{parameters}"
        tried = {"tenant": "acme", "container": "people", "object": "o", "text": text}
        for answer in (http.post("/v1/rules", json={"text": text}), http.post("/v1/rules/try", json=tried)):
            assert answer.status_code == 400
            assert answer.json()["error"].startswith(why), parameters
        assert http.get("/v1/rules").json() == []
    assert http.post("/v1/rules", json={"text": f"FOR {target} DO SET mask WITH COLUMNS=2"}).status_code == 201


def test_a_module_that_refuses_for_other_reasons_may_be_set(http: httpx.Client) -> None:
    upload(http, "no", module(entry("forward", "(i32.const 7)"), entry("reverse", "(i32.const 0)")), "acme")
    assert http.post("/v1/rules", json={"text": "FOR TENANT acme DO SET no"}).status_code == 201


def test_a_text_that_sets_many_modules_is_refused_before_one_runs(http: httpx.Client) -> None:
    upload(http, "flip", FLIP, "acme")
    lines = [f"FOR CONTAINER acme/c{number} DO SET flip WITH a={number}" for number in range(TRIALS_MAX + 1)]
    refused = http.post("/v1/rules", json={"text": "\n".join(lines)})
    assert (refused.status_code, "at most 20 modules" in refused.json()["error"]) == (400, True)
