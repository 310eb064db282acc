"""Answers of our storage controller to invalid requests: never 500, and nothing changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.contract.test_storage_controller_answers import RULE
from tests.support.postgres import PostgresServer
from tests.support.storage_controller import Served, served_controller


@pytest.fixture(scope="module")
def unchanged(postgres_server: PostgresServer) -> Iterator[Served]:
    """One for all requests that change nothing: each test looks that they do not."""
    url = postgres_server.create_database()
    with served_controller(url) as controller:
        yield controller
    postgres_server.drop_database(url)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": 0}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": -5}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": "30 MB"}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": "٣٠"}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": True}, 400),
        ("PUT", "/bw/sla/a:p", {"bandwidth": "0"}, 400),
        ("PUT", "/bw/sla/a:p", {"bandwidth": "-1"}, 400),
        ("PUT", "/bw/sla/a:p", {"bandwidth": "101"}, 409),
        ("PUT", "/policies/slo/bandwidth/get_bw/a%23p", {"value": ""}, 400),
        ("POST", "/bw/slas", {"project_id": "a b", "policy_id": "p", "bandwidth": 5}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": 10**12}, 400),
        ("POST", "/bw/slas", {}, 400),
        ("PUT", "/bw/sla/a:p", {"bandwidth": None}, 400),
        ("DELETE", "/bw/sla/never:there", None, 204),
        ("POST", "/policies/slos", {"slo_name": "get_iops", "target": "a#p", "value": 5}, 400),
        ("POST", "/policies/slos", {"slo_name": "get_bw", "target": "a", "value": 5}, 400),
        ("POST", "/policies/slos", {"dsl_filter": "x", "slo_name": "get_bw", "target": "a#p", "value": 5}, 400),
        ("GET", "/policies/slo/bandwidth/get_bw/a%23p", None, 404),
        ("DELETE", "/policies/slo/bandwidth/get_bw/a%23p", None, 204),
        ("PUT", "/v1/owners/zoe/slos/a", {"read_bytes_per_s": 0, "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/slos/a", {"read_bytes_per_s": 5}, 400),
        ("PUT", "/v1/owners/zoe/slos/a", {"read_bytes_per_s": 5, "lease_s": 1e12}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"lease_s": 60}, 400),
        ("PUT", "/filters/absent/data", None, 400),
        ("GET", "/filters/absent", None, 404),
        ("PUT", "/filters/a/deploy/absent", {}, 404),
        ("PUT", "/filters/a/undeploy/absent", None, 404),
        ("DELETE", "/filters/absent", None, 404),
        ("PUT", "/filters/a/deploy/noop", None, 400),
        ("POST", "/filters", {"filter_type": "storlet"}, 400),
        ("POST", "/filters", {"dsl_name": "x", "filter_type": "native", "main": "Main"}, 400),
        ("POST", "/filters", {"dsl_name": "x", "filter_type": "global"}, 400),
        ("PUT", "/projects/a%20b", None, 400),
        ("POST", "/projects/absent", None, 404),
        ("DELETE", "/projects/absent", None, 404),
        ("PUT", "/projects/groups/absent", ["a"], 404),
        ("GET", "/controllers/1", None, 404),
        ("POST", "/controllers/instance", {"controller": "1"}, 400),
        ("DELETE", "/controllers/1", None, 400),
        ("GET", "/metrics/1", None, 404),
        ("GET", "/swift/nodes/proxy/absent", None, 404),
        ("PUT", "/swift/nodes/proxy/absent/restart", None, 404),
        ("POST", "/swift/zones", {"name": "z", "region": "7"}, 400),
        ("DELETE", "/swift/regions/7", None, 404),
        ("PUT", "/policies/static/TENANT:a:7", {"execution_server": "proxy"}, 404),
        ("DELETE", "/policies/object_type/ABSENT", None, 404),
        ("POST", "/policies/object_type", {"name": "DOCS", "types_list": []}, 400),
        ("POST", "/bw/slas", {"project_id": "a", "policy_id": "p", "bandwidth": 101}, 409),
        ("PUT", "/bw/sla/a:p", {"bandwidth": 101}, 409),
        ("POST", "/policies/slos", {"slo_name": "put_bw", "target": "a#p", "value": 101}, 409),
        ("PUT", "/policies/slo/bandwidth/get_bw/a%23p", {"value": 101}, 409),
        ("PUT", "/policies/slo/bandwidth/get_bw/a%23p", {"value": -1}, 400),
        ("PUT", "/v1/owners/zoe/slos/a", {"read_bytes_per_s": -5, "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/slos/a", {"write_bytes_per_s": 10**9, "lease_s": 60}, 409),
        ("PUT", "/v1/owners/zoe/slos/a%20b", {"read_bytes_per_s": 5, "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"tenant": "a", "source": "s", "where": "x" * 10**7, "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"tenant": "a", "source": "s", "where": 5, "lease_s": 60}, 400),
        ("POST", "/v1/feasible", {"read_bytes_per_s": "fast"}, 400),
        ("PUT", "/v1/owners/zoe/slos/a%00b", {"read_bytes_per_s": 5, "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"tenant": "a\x00", "source": "s", "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"tenant": "a", "source": "s", "where": "a = '\x00'", "lease_s": 60}, 400),
        ("PUT", "/v1/owners/zoe/views/v", {"tenant": "a", "source": "s", "columns": ["\x00"], "lease_s": 60}, 400),
        ("POST", "/filters", {"dsl_name": "x", "language": "\x00"}, 400),
        ("POST", "/filters", {"dsl_name": "dependencies"}, 400),
        ("POST", "/filters/dependencies", {"name": "a/b"}, 400),
        ("GET", "/filters/dependencies/7", None, 404),
        ("POST", "/registry/gtenants", [], 400),
        ("POST", "/projects/groups", {"name": "x", "members": []}, 400),
        ("DELETE", "/policies/static/TENANT:a:99999999999999999999", None, 204),
        ("PATCH", "/bw/slas", None, 405),
        ("GET", "/nothing", None, 404),
    ],
)
def test_bad_requests_have_an_answer_and_change_nothing(
    unchanged: Served, method: str, path: str, body: object, status: int
) -> None:
    with unchanged.http() as http:
        answer = http.request(method, path, json=body) if body is not None else http.request(method, path)
        assert answer.status_code == status, answer.text
        assert not re.search("Input should|Field required|Extra inputs|Value error|[Uu]nable to parse", answer.text)
        assert http.get("/bw/slas").json() == []
        assert http.get("/policies/slos").json() == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/bw/slas", {"project_id": "nobody", "policy_id": "p", "bandwidth": 5}),
        ("PUT", "/bw/sla/nobody:p", {"bandwidth": 5}),
        ("POST", "/policies/slos", {"slo_name": "get_bw", "target": "nobody#p", "value": 5}),
        ("PUT", "/policies/slo/bandwidth/get_bw/nobody%23p", {"value": 5}),
        ("PUT", "/v1/owners/zoe/slos/nobody", {"read_bytes_per_s": 5, "lease_s": 60}),
        ("POST", "/policies/static", "FOR TENANT:nobody DO SET BANDWIDTH WITH MIN_BW=5MBps"),
    ],
)
def test_promise_to_an_unknown_tenant_is_refused(unchanged: Served, method: str, path: str, body: object) -> None:
    unchanged.strangers.add("nobody")
    with unchanged.http() as http:
        answer = http.request(method, path, **({"content": body} if isinstance(body, str) else {"json": body}))
        assert (answer.status_code, answer.json()["error"]) == (
            404,
            "unknown tenant: the store has no account for nobody",
        )
        assert http.get("/policies/slos").json() == []
        assert http.get("/policies/static").json() == []


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("", "the text contains no rule"),
        ("FOR TENANT:a", "line 1: character 13: the end where the rule needs DO | SET or DELETE | WHEN"),
        (f"{RULE}\nFOR NOBODY:a DO SET x", "line 2: character 5: 'NOBODY:a' where the rule needs TENANT, CONTAINER"),
        ("FOR CONTAINER:a DO SET x", "a container is named tenant/container"),
        ("FOR CONTAINER:a/b/c DO SET NOOP", "a container is named tenant/container"),
        ("FOR OBJECT:a/b DO SET NOOP", "an object is named tenant/container/object"),
        ("FOR TENANT:a DO SET NOOP, DELETE NOOP", "it sets and deletes NOOP"),
        (
            "FOR TENANT:a WHEN x > 3 DO SET y",
            "the metric X is not measured; measured are GETS_SEC, PUTS_SEC, OPS_SEC, C",
        ),
        ("FOR OBJECT:a/b/c WHEN COMPRESSIBILITY > 3 DO SET NOOP", "is measured for containers"),
        ("FOR TENANT:a WHEN GETS_SEC>3 DO SET NOOP PERSISTENT", "PERSISTENT cannot be used"),
        ("FOR TENANT:a WHEN OBJECT_TYPE=SONGS DO SET y", "the object type SONGS is not registered; known: DOCS"),
        ("FOR TENANT:a WHEN OBJECT_SIZE<much DO SET y", "OBJECT_SIZE is compared with a number such as 5 or 10M"),
        ("FOR TENANT:a WHEN " + 40 * "(" + "x>1" + 40 * ")" + " DO SET y", "more than 32 parentheses"),
        ("FOR TENANT:a DO SET x WITH level", "character 33: the end where the rule needs ="),
        ("FOR TENANT:a DO SET COMPRESSION WITH TYPE=LZO", "TYPE is one of ZSTD, LZ4, GZIP, not LZO"),
        ("FOR TENANT:a DO SET COMPRESSION WITH LEVEL=99", "LEVEL of ZSTD must be from 1 to 19, not 99"),
        ("FOR TENANT:a DO SET ENCRYPTION WITH KEY=x", "ENCRYPTION has no parameter KEY"),
        ("FOR TENANT:a DO DELETE BANDWIDTH", "no rule overrides BANDWIDTH"),
        ("FOR TENANT:a WHEN OBJECT_SIZE=10.5 DO SET NOOP", "OBJECT_SIZE is compared with whole bytes, not with 10.5"),
        ("FOR TENANT:a DO SET NOOP TO OBJECT_SIZE<0.0001K", "compared with whole bytes, not with 0.0001K"),
        ("FOR G:absent DO SET NOOP", "the group absent is not registered; known: none"),
        ("FOR TENANT:a WHEN OBJECT_SIZE>1 DO SET BANDWIDTH WITH MIN_BW=3MBps", "a promise of bandwidth always holds"),
        ("FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=fast", "BANDWIDTH needs MIN_BW"),
        ("FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW=0.5Bps", "from 1 to"),
        (f"FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW={'9' * 320}", "BANDWIDTH needs MIN_BW"),
        (f"FOR TENANT:a DO SET BANDWIDTH WITH MIN_BW={'9' * 320}MBps", "from 1 to"),
        ("FOR CONTAINER:a/b DO SET BANDWIDTH WITH MIN_BW=3MBps", "bandwidth can be promised to tenants"),
        ("FOR TENANT:a DO SET " + "x" * 5000, "longer than 4096 characters"),
    ],
)
def test_rules_that_cannot_be_understood_are_refused_whole(unchanged: Served, rules: str, words: str) -> None:
    with unchanged.http() as http:
        answer = http.post("/policies/static", content=rules)
        assert (answer.status_code, words in answer.json()["error"]) == (401, True), answer.text
        assert http.get("/policies/static").json() == []
        assert http.get("/bw/slas").json() == []
