"""Inputs by `s3a://` get views where a setting says that the S3 service is a Swift: on a real one with `s3api`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.storage.test_views import meters
from tests.support.documents import job
from tests.support.installation import Installation
from tests.support.long import of_storage
from tests.support.object_store import logged_in
from tests.support.s3 import s3_client
from tests.support.spark import s3a_driver, spark_driver
from tests.support.store_executions import s3_of
from tests.support.waiting import until
from tests.support.whole_storage import Whole, whole_storage
from zoe_client import Client
from zoe_client.wire import CredentialRequest, ExecutionView
from zoe_embedded.runtimes.runtime import Runtime
from zoe_lib.domain.executions.execution import ExecutionState

ROWS = 80_000
SOURCE = "s3a://meters.of.acme/nice"
PUSHDOWN = {
    "columns": [{"name": "id", "type": "long"}, {"name": "kwh", "type": "double"}],
    "where": "city = 'Nice' and kwh > 90",
}
PROGRAM = """
from zoe_spark import read
for told in map(json.loads, paths):
    frame = read(spark, told)
    print("READ", json.dumps(sorted(map(list, frame.collect()))))
"""


@pytest.fixture
def whole(postgres_url: str) -> Iterator[Whole]:
    with whole_storage(postgres_url, s3=True) as made:
        yield made


@pytest.fixture
def content(whole: Whole) -> tuple[bytes, bytes]:
    """What the bucket has, and the rows that are wanted of it. In the name of a bucket there may be dots."""
    made = meters(3, ROWS)
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters.of.acme")
        ann.put("meters.of.acme/nice/a.csv", made[0])
    return made


def reading(client: Client, whole: Whole, installation: Installation) -> tuple[ExecutionView, dict[str, Any]]:
    """An execution that runs until it is cancelled, and its program's entry for the input."""
    key = whole.store.user("acme:ann").key
    client.set_storage_credential("s3a", CredentialRequest(user="acme:ann", key=key))
    installation.start_master()
    inputs = [{"name": "meters", "uri": SOURCE, "pushdown": PUSHDOWN}]
    execution = client.submit(job("sleep", "600", storage={"inputs": inputs}))
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    [document] = (installation.base / "scratch").glob("*/zoe-storage/zoe-inputs.json")
    return client.execution(execution.id), json.loads(document.read_text())["meters"]


def test_an_input_by_s3_is_read_through_a_view_that_is_a_bucket(
    installation: Installation, client: Client, whole: Whole, content: tuple[bytes, bytes]
) -> None:
    execution, told = reading(client, whole, installation)
    [read] = execution.inputs
    bucket = f"zoe-view-{execution.id}-1-meters"
    assert (read.uri, told["columns"]) == (f"s3a://{bucket}/data", ["id", "kwh", "city"]), read.why
    with s3_client(whole.store, "acme:ann") as by_s3:
        names = re.findall("<Key>(.*?)</Key>", by_s3.call("GET", bucket).text)
        found = b"".join(gzip.decompress(by_s3.call("GET", f"{bucket}/{name}").content) for name in names)
        wanted = content[1].replace(b"\n", b",Nice\n")
        assert found == wanted
        places = (installation.base / "scratch").glob("*/zoe-storage/core-site.xml")
        [keys] = [place.read_text() for place in places]
        user, key = (re.findall(f"fs.s3a.{name}.key</name><value>(.*?)<", keys)[0] for name in ("access", "secret"))
        assert user.startswith(f"acme:execution_{execution.id}_")
        with s3_of(whole.store, user, key) as own:
            assert own.call("GET", f"{bucket}/{names[0]}").status_code == 200

            def moved() -> list[tuple[str, bool]]:
                own.call("GET", f"{bucket}/{names[0]}")
                executions = client.storage().executions
                return [(execution.execution_id, execution.achieved.read_bytes_per_s > 0) for execution in executions]

            until(lambda: moved() == [(execution.id, True)])
            client.cancel(execution.id)
            client.wait(execution.id, 60)
            until(lambda: own.call("GET", bucket).status_code == 403)
        until(lambda: by_s3.call("GET", bucket).status_code == 404)


@of_storage
def test_spark_reads_the_same_rows_by_s3a_plainly_and_through_the_view(
    installation: Installation,
    client: Client,
    whole: Whole,
    content: tuple[bytes, bytes],
    spark: Runtime,
    tmp_path: Path,
) -> None:
    execution, told = reading(client, whole, installation)
    assert told["uri"].startswith("s3a://zoe-view-"), execution.inputs
    by_swift = spark_driver(spark, whole.store, "acme:ann", tmp_path)
    driver = s3a_driver(by_swift, whole.store, "acme:ann", tmp_path)
    plain = {**told, "uri": SOURCE, "columns": [], "csv": {**told["csv"], "header": "true"}}
    done = driver.run(PROGRAM, json.dumps(told), json.dumps(plain))
    through_view, plainly = (line for line in done.stdout.splitlines() if line.startswith("READ"))
    assert through_view == plainly
    assert len(json.loads(plainly.removeprefix("READ"))) == content[1].count(b"\n")
    client.cancel(execution.id)
    client.wait(execution.id, 60)
