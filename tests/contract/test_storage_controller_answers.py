"""Answers of our storage controller: to promises, rules, words and filters, in each dialect, and in trouble."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from storage_controller.crystal.filters import BODY_BYTES_MAX
from tests.support.storage_controller import MB, Served, served_controller

RATE = 60
RULE = "FOR TENANT:4f0279 DO SET compression WITH level=3 ON OBJECT, SET cache"


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


def test_a_promise_above_the_capacity_is_refused_with_the_rules_beside_it(served: Served) -> None:
    with served.http() as http:
        answer = http.post("/policies/static", content=f"{RULE}\nFOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=1GBps")
        assert answer.status_code == 409
        assert "is more than the 100 MB/s that the store can move" in answer.json()["error"]
        assert http.get("/policies/static").json() == []


def test_unenforced_rule_is_stored_with_a_warning(served: Served) -> None:
    bandwidth = "FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=3MBps"
    with served.http() as http:
        assert "Warning" not in http.post("/policies/static", content=bandwidth).headers
        kept = http.post("/policies/static", content=f"{RULE}\nFOR TENANT:b DO SET own")
        assert '299 zoe-storage "stored, but not enforced: cache, own"' in kept.headers["Warning"]
        http.post("/filters", json={"dsl_name": "own"})
        assert "own" in http.put("/filters/a/deploy/own", json={}).headers["Warning"]
        enforced = {row["rule"]: row["enforced"] for row in http.get("/registry/static_policy").json()}
        assert [rule for rule, really in enforced.items() if really] == [bandwidth]
        assert [row["project_id"] for row in http.get("/bw/slas").json()] == ["a"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": RATE}),
        ("PUT", "/bw/sla/a:p", {"bandwidth": RATE}),
        ("POST", "/policies/slos", {"slo_name": "get_bw", "target": "a#p", "value": RATE}),
        ("PUT", "/policies/slo/bandwidth/put_bw/a%23p", {"value": RATE}),
        ("PUT", "/v1/owners/zoe/slos/a", {"read_bytes_per_s": RATE * MB, "lease_s": 60}),
        ("POST", "/policies/static", f"FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW={RATE}MBps"),
    ],
)
def test_a_promise_that_one_proxy_cannot_keep_says_so(
    served: Served, method: str, path: str, body: dict[str, object] | str
) -> None:
    served.proxies |= {"p": (RATE - 1) * MB, "q": RATE * MB}
    warnings = []
    with served.http() as http:
        for _ in range(2):
            sent: dict[str, Any] = {"content": body} if isinstance(body, str) else {"json": body}
            answer = http.request(method, path, **sent)
            assert answer.status_code == 201, answer.text
            warnings.append("through several proxies" in answer.headers.get("Warning", ""))
            served.proxies["q"] = (RATE - 1) * MB
    assert warnings == [False, True]


def test_a_promise_both_ways_that_the_proxies_cannot_keep_at_once_says_so(served: Served) -> None:
    served.proxies |= {"p": 100 * MB}
    with served.http() as http:
        kept = http.put("/bw/sla/a:p", json={"bandwidth": 50})
        assert "Warning" not in kept.headers
        kept = http.put("/bw/sla/a:p", json={"bandwidth": 51})
        assert "not as much can be read and written at once" in kept.headers["Warning"]


def test_a_rule_is_kept_listed_and_deleted_in_both_dialects(served: Served) -> None:
    with served.http() as http:
        [name] = http.post("/registry/static_policy", content=RULE).json()
        [kept] = http.get("/policies/static").json()
        assert (kept["id"], kept["target"], kept["rule"]) == (name, "TENANT:4f0279", RULE)
        assert [action["filter"] for action in kept["actions"]] == ["compression", "cache"]
        assert kept["actions"][0]["parameters"] == {"level": "3"}
        assert http.delete(f"/policies/static/{name}").status_code == 204
        assert http.get("/registry/static_policy").json() == []


def test_a_rule_with_a_metric_is_listed_among_the_dynamic_ones(served: Served) -> None:
    texts = (
        "FOR CONTAINER C1 WHEN GETS_SEC > 5 AND OBJECT_SIZE<10M DO SET CACHING ON PROXY TRANSIENT",
        "FOR CONTAINER C1 WHEN GETS_SEC > 5 SET CACHING",
    )
    with served.http() as http:
        for path in ("/registry/dynamic_policy", "/policies/dynamic"):
            made = http.post(path, content="\n".join(texts), headers={"X-Project-Id": "T1"})
            assert made.status_code == 201, made.text
            assert "stored, but not enforced: CACHING" in made.headers["Warning"]
            assert [row["id"] for row in http.get(path).json()] == made.json()
            assert http.get("/policies/static").json() == []
            for name in made.json():
                assert http.delete(f"{path}/{name.rpartition(':')[2]}").status_code == 204
            assert http.get(path).json() == []


PRINTED = (
    "FOR TENANT T1 WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION",
    "FOR TENANT T2 DO SET BANDWIDTH WITH MIN_BW=30MBps",
    "FOR TENANT T1 WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION ON PROXY, SET ENCRYPTION",
    "FOR TENANT T1 SET BANDWIDTH WITH PARAM1=30MBps",
)


@pytest.mark.parametrize("path", ["/registry/static_policy", "/policies/static"])
def test_the_printed_rules_are_accepted_in_both_dialects(served: Served, path: str) -> None:
    with served.http() as http:
        for rule in PRINTED:
            assert http.post(path, content=rule).status_code == 201
        rows = http.get(path).json()
        assert all(row["enforced"] for row in rows)
        assert len(rows) == len(PRINTED)
        assert {row["project_id"]: row["bandwidth"] for row in http.get("/bw/slas").json()} == {"T1": 30, "T2": 30}


def test_a_rule_of_the_appendix_dialect_replaces_all_unless_it_says_otherwise(served: Served) -> None:
    said = "FOR CONTAINER t/c DO SET NOOP REPLACES SAME"
    with served.http() as http:
        for path in ("/registry/static_policy", "/policies/static"):
            for rule in ("FOR CONTAINER logs DO SET NOOP", said):
                assert http.post(path, content=rule, headers={"X-Project-Id": "t"}).status_code == 201
        rules = [row["rule"] for row in http.get("/policies/static").json()]
    same = "FOR CONTAINER:t/c DO SET NOOP REPLACES SAME"
    kept = "FOR CONTAINER:t/logs DO SET NOOP"
    assert rules == [f"{kept} REPLACES ALL", same, kept, same]


def test_author_and_remover_of_a_rule_are_kept(served: Served) -> None:
    with served.http() as http:
        ann, bob = {"X-Zoe-Author": "ann"}, {"X-Zoe-Author": "bob"}
        [made] = http.post("/v1/rules", json={"text": "FOR TENANT t DO SET NOOP"}, headers=ann).json()
        assert (made["author"], made["created_s"] > 1e9, made["enforced"]) == ("ann", True, True)
        changed = http.put(
            f"/policies/static/TENANT:t:{made['id']}", content="FOR TENANT t DO SET ENCRYPTION", headers=bob
        )
        assert changed.status_code == 200, changed.text
        [kept] = http.get("/v1/rules").json()
        assert (kept["rule"], kept["author"]) == ("FOR TENANT:t DO SET ENCRYPTION", "bob")
        [removed] = http.get("/v1/rules", params={"removed": True}).json()
        assert (removed["id"], removed["removed_by"]) == (made["id"], "bob")
        assert http.delete(f"/v1/rules/{kept['id']}").status_code == 204
        assert http.delete(f"/v1/rules/{kept['id']}").status_code == 404
        assert http.get("/v1/rules").json() == []


def test_a_rule_is_tried_beside_those_that_hold(served: Served) -> None:
    with served.http() as http:
        http.post("/v1/rules", json={"text": "FOR TENANT t DO SET ENCRYPTION, SET COMPRESSION WITH TYPE=LZ4"})
        wanted = {"tenant": "t", "container": "c", "object": "a.txt", "size": 10}
        text = "FOR CONTAINER c WHEN OBJECT_SIZE<1K DO SET COMPRESSION WITH TYPE=GZIP"
        answer = http.post("/v1/rules/try", json={**wanted, "text": text}).json()
        assert answer["now"]["filters"] == ["ENCRYPTION", "COMPRESSION"]
        assert answer["then"]["filters"] == ["COMPRESSION", "ENCRYPTION"]
        displaced = [entry for entry in answer["then"]["verdicts"] if entry["outcome"] == "displaced"]
        assert [(entry["filter"], "is more specific" in entry["sentence"]) for entry in displaced] == [
            ("COMPRESSION", True)
        ]
        assert len(http.get("/v1/rules").json()) == 1
        assert http.post("/v1/rules/try", json={**wanted, "text": "FOR"}).status_code == 400
        assert http.get("/v1/rules/why", params={"tenant": "t", "container": "c", "object": "o"}).status_code == 503


@pytest.mark.parametrize(
    ("groups", "leave", "types"),
    [
        ("/registry/gtenants", "tenants", "/registry/object_type"),
        ("/projects/groups/", "projects", "/policies/object_type/"),
    ],
)
def test_words_are_registered_in_both_dialects(served: Served, groups: str, leave: str, types: str) -> None:
    groups_path, types_path = groups.rstrip("/"), types.rstrip("/")
    with served.http() as http:
        name = http.post(groups, json=["a", "b"]).json()["id"]
        found = http.get(groups).json()
        assert found in ({name: ["a", "b"]}, [{"name": name, "attached_projects": ["a", "b"], "id": name}])
        assert http.post(groups, json={"name": name, "members": ["a"]}).status_code == 409
        assert http.put(f"{groups_path}/{name}", json=["a", "b/c", "d"]).status_code == 201
        assert http.delete(f"{groups_path}/{name}/{leave}/a").status_code == 204
        found = http.get(f"{groups_path}/{name}").json()
        assert found in (["b/c", "d"], {"name": name, "attached_projects": ["b/c", "d"]})
        assert http.post(types, json={"name": "SONGS", "types_list": [".MP3", "ogg"]}).status_code == 201
        assert http.get(f"{types_path}/SONGS").json() == {"name": "SONGS", "types_list": ["mp3", "ogg"]}
        rule = f"FOR G {name} DO SET NOOP TO OBJECT_TYPE=songs"
        [number] = http.post("/policies/static", content=rule).json()
        for used in (f"{groups_path}/{name}", f"{types_path}/SONGS"):
            assert (http.delete(used).status_code, http.get(used).status_code) == (409, 200)
        wanted = {"tenant": "b", "container": "c", "object": "x.Ogg"}
        assert http.post("/v1/rules/try", json=wanted).json()["now"]["filters"] == ["NOOP"]
        assert http.delete(f"/policies/static/{number}").status_code == 204
        for used, status in ((f"{groups_path}/{name}", 204), (f"{types_path}/SONGS", 200)):
            assert (http.delete(used).status_code, http.get(used).status_code) == (status, 404)


def test_a_filter_is_made_given_its_program_deployed_and_undeployed(served: Served) -> None:
    with served.http() as http:
        assert http.post("/filters/", json={"dsl_name": "compression", "language": "python"}).status_code == 201
        assert http.put("/filters/compression/data", files={"file": b"program"}).json() == {"bytes": 7}
        assert http.get("/filters").json() == [{"dsl_name": "compression", "language": "python"}]
        form = {"params": "level=3", "object_type": "DOCS", "object_size": "<10M"}
        number = http.put("/filters/4f0279/logs/deploy/compression", json=form).json()
        [kept] = http.get("/policies/static").json()
        assert kept["id"] == f"CONTAINER:4f0279/logs:{number}"
        assert kept["rule"] == (
            "FOR CONTAINER:4f0279/logs DO SET compression WITH level=3 "
            "TO OBJECT_TYPE=DOCS, OBJECT_SIZE<10M REPLACES ALL"
        )
        assert http.put("/filters/4f0279/logs/undeploy/compression").status_code == 204
        assert http.get("/policies/static").json() == []
        assert http.delete("/filters/compression/").status_code == 204
        assert http.get("/filters/").json() == []


def test_a_rule_of_several_filters_keeps_its_promise_when_one_of_them_is_undeployed(served: Served) -> None:
    with served.http() as http:
        http.post("/policies/static", content="FOR TENANT:a DO SET compression, SET BANDWIDTH WITH MIN_BW=3MBps")
        assert http.put("/filters/a/undeploy/compression").status_code == 204
        assert [row["project_id"] for row in http.get("/bw/slas").json()] == ["a"]


def test_rules_whose_promises_cannot_be_kept_are_not_kept_either(served: Served) -> None:
    with served.http() as http:
        with served.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE sds.slos RENAME TO elsewhere"))
        rules = f"{RULE}\nFOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=3MBps"
        assert http.post("/policies/static", content=rules).status_code == 503
        with served.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE sds.elsewhere RENAME TO slos"))
        assert http.get("/policies/static").json() == []


def test_bodies_are_bounded_and_those_of_strangers_are_not_waited_for(served: Served) -> None:
    with served.http() as http:
        assert http.post("/policies/static", content=b"x" * (BODY_BYTES_MAX + 1)).status_code == 413
    address = served.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=20) as stranger:
        stranger.sendall(b"POST /policies/static HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        assert stranger.recv(1000).startswith(b"HTTP/1.1 401 ")


def test_without_the_token_nothing_is_told_and_the_answer_is_a_bare_string(served: Served) -> None:
    with served.http("wrong") as http:
        answer = http.get("/bw/slas")
        assert (answer.status_code, answer.json()) == (401, "a valid X-Auth-Token is required")
        assert http.get("/health").status_code == 200


def test_a_database_that_is_away_is_503_and_things_go_on_when_it_is_back(served: Served) -> None:
    with served.http() as http:
        with served.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE sds.slos RENAME TO elsewhere"))
        assert http.get("/bw/slas").status_code == 503
        with served.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE sds.elsewhere RENAME TO slos"))
        assert http.get("/bw/slas").json() == []


def test_rules_that_every_request_judges_are_few(served: Served) -> None:
    with served.http() as http:
        many, more = (
            "\n".join(f"FOR TENANT t WHEN OBJECT_SIZE > {size} DO SET NOOP" for size in sizes)
            for sizes in (range(60), range(60, 120))
        )
        assert http.post("/v1/rules", json={"text": many}).status_code == 201
        refused = http.post("/v1/rules", json={"text": more})
        assert (refused.status_code, "at most 100 rules are kept for TENANT:t" in refused.text) == (409, True)
        assert len(http.get("/v1/rules").json()) == 60
        assert http.post("/v1/rules", json={"text": many.replace("TENANT t", "CONTAINER t/c")}).status_code == 201
        long = "FOR TENANT t DO " + ", ".join(["SET NOOP"] * 17)
        refused = http.post("/v1/rules", json={"text": long})
        assert (refused.status_code, "at most 16 actions" in refused.text) == (400, True)


def test_a_rule_that_says_what_another_one_says_is_refused(served: Served) -> None:
    with served.http() as http:

        def added(text: str, **more: object) -> tuple[int, str]:
            answer = http.post("/v1/rules", json={"text": text, **more})
            return answer.status_code, "" if answer.is_success else answer.json()["error"]

        [made] = http.post("/v1/rules", json={"text": "FOR TENANT t WHEN GETS_SEC > 5 DO SET NOOP"}).json()
        told = (409, f"rule {made['id']} says this already: {made['rule']}")
        assert added("for tenant t  when GETS_SEC>5 do set NOOP") == told
        assert added("FOR TENANT u DO SET NOOP\nFOR TENANT t WHEN GETS_SEC > 5 DO SET NOOP") == told
        assert [entry["id"] for entry in http.get("/v1/rules").json()] == [made["id"]], "all of them or none"
        assert added("FOR TENANT t WHEN GETS_SEC > 5 DO SET NOOP", dry_run=True) == (201, "")
        assert added("FOR TENANT t WHEN GETS_SEC > 6 DO SET NOOP") == (201, "")
        code, said = added("FOR TENANT u DO SET NOOP\nFOR TENANT u DO SET NOOP")
        assert (code, said.startswith("another line says this already")) == (409, True)
        assert http.delete(f"/v1/rules/{made['id']}").status_code == 204
        assert added(made["rule"]) == (201, ""), "it was removed"
        for _ in range(2):
            answer = http.post("/registry/static_policy", content="FOR TENANT v DO SET NOOP")
            assert answer.status_code == 201, "as the appendix has it"


def test_more_filters_than_run_are_told_beforehand(served: Served) -> None:
    with served.http() as http:
        rules = "\n".join(f"FOR TENANT t WHEN OBJECT_SIZE>{size} DO SET NOOP" for size in range(9))
        wanted = {"tenant": "t", "container": "c", "object": "o", "size": 100, "text": rules}
        told = http.post("/v1/rules/try", json=wanted).json()["then"]["verdicts"]
        assert all("it is one of 9, and at most 8 run: a PUT is refused" in entry["sentence"] for entry in told)


def test_a_name_with_a_nul_is_refused_before_the_database(served: Served) -> None:
    with served.http() as http:
        for path in ("/v1/rules/why?tenant=a%00b&container=c&object=o", "/v1/slos/%00"):
            answer = http.get(path)
            assert (answer.status_code, answer.json()["error"]) == (400, "a name must not contain a NUL character")
