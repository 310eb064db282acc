"""A description's pushdown and a tenant's credentials, all the way: master, controller, Swift and a Spark cluster.

Everything that can be read is searched for the key: database, logs, environments, command lines, Spark's pages.
"""

from __future__ import annotations

import base64
import json
import random
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.storage.test_views import HEADER, meters
from tests.support.installation import Installation
from tests.support.long import of_storage
from tests.support.object_store import logged_in
from tests.support.postgres import connect
from tests.support.store_executions import sign_in
from tests.support.waiting import until
from tests.support.whole_storage import Whole, client_of, installation_with
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.home import Home
from zoe_embedded.runtimes.jars import readable_jars
from zoe_embedded.runtimes.runtime import CLONE, Runtime
from zoe_lib.domain.applications.templates import escape
from zoe_lib.domain.executions.execution import ExecutionState

ROWS = 150_000
PROGRAM = """
import pathlib, sys, time
from pyspark.sql import SparkSession
from zoe_spark import zoe_input
go_on = sys.argv[1]
spark = SparkSession.builder.appName("report").getOrCreate()
readings = zoe_input(spark, "meters")
print("rows", readings.count(), "columns", readings.columns, flush=True)
while not pathlib.Path(go_on).exists():
    time.sleep(0.1)
"""


@pytest.fixture
def installation(postgres_url: str, whole: Whole, spark: Runtime, tmp_path: Path) -> Iterator[Installation]:
    image = {"path": list(spark.path), "environment": spark.environment}
    with installation_with(
        whole,
        postgres_url,
        tmp_path,
        storage_services=whole.services,
        storage_jars=readable_jars(Home.find(CLONE)),
        local_images={"zoe/spark": image},
    ) as made:
        yield made


@pytest.fixture
def client(installation: Installation, postgres_url: str, whole: Whole) -> Iterator[Client]:
    with client_of(installation, postgres_url, whole) as made:
        yield made


def application(where: str) -> dict[str, Any]:
    submit = (
        "printf '%s' \"$PROGRAM\" > {scratch}/job.py && exec spark-submit --driver-memory 512m --executor-memory 512m "
        "--master spark://{host:spark-master}:{port:spark-master.rpc} --conf spark.driver.host={host:self} "
        "--conf spark.ui.port={port:ui} {scratch}/job.py {scratch}/go-on"
    )
    return {
        "version": 4,
        "name": "report",
        "frameworks": [{"framework": "spark", "parameters": {"worker_memory": "1GiB", "worker_cores": 1}}],
        "components": [
            {
                "name": "driver",
                "image": "zoe/spark",
                "startup_order": 2,
                "ends_application": True,
                "command": ["sh", "-c", submit],
                "environment": {
                    "PROGRAM": escape(PROGRAM),
                    "SPARK_LOCAL_HOSTNAME": "{host:self}",
                    "SPARK_LOCAL_IP": "{host:self}",
                    "SPARK_LOCAL_DIRS": "{scratch}",
                },
                "resources": {"memory": "1GiB", "cores": 1},
                "ports": [{"name": "ui", "number": 4040, "protocol": "http", "proxied": True}],
            }
        ],
        "storage": {
            "inputs": [
                {
                    "name": "meters",
                    "uri": "swift2d://meters.zoe/2015",
                    "pushdown": {"columns": ["id", "city", "kwh"], "where": where},
                }
            ]
        },
    }


def test_spark_reads_a_view_with_credentials_that_nobody_sees(
    installation: Installation, client: Client, whole: Whole, postgres_url: str
) -> None:
    content, wanted = meters(1, ROWS)
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", content)
        key = whole.store.user("acme:ann").key
        client.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
        installation.start_master()
        execution = client.submit(application("city = 'Nice' and kwh > 90"))
        [driver] = [service for service in execution.services if service.component == "driver"]
        until(
            lambda: "rows" in output(client, execution.id, driver.id),
            lambda: output(client, execution.id, driver.id),
            240,
        )
        [read] = client.execution(execution.id).inputs
        assert read.uri == f"swift2d://zoe-view-{execution.id}-1-meters.zoe/data", read.why
        rows = f"rows {wanted.count(bytes([10]))} columns ['id', 'city', 'kwh']"
        assert rows in output(client, execution.id, driver.id)
        places = sorted((installation.base / "scratch").glob("*/zoe-storage/core-site.xml"))
        assert len(places) == len(execution.services)
        user, own_key = own_credential(places)
        assert user.startswith(f"acme:execution_{execution.id}_"), "Spark read with the credential of its execution"
        assert sign_in(whole.store, user, own_key).status_code == 200
        for place in places:
            assert key not in place.read_text()
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
        told = everything(installation, client, execution.id, postgres_url, whole)
        assert "fs.swift2d.service.zoe.auth.url" in told["spark"]
        for entry in (key, own_key):
            assert [name for name, text in told.items() if entry in text or entry.encode().hex() in text] == []
        (places[0].parents[1].parent / driver.id / "go-on").touch()
        assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
        until(lambda: sign_in(whole.store, user, own_key).status_code == 401)
        until(lambda: not list((installation.base / "scratch").iterdir()))
        until(lambda: ann.call("GET", f"zoe-view-{execution.id}-1-meters").status_code == 404)


@of_storage
def test_unprofitable_view_is_read_plainly_with_the_whole_schema(
    installation: Installation, client: Client, whole: Whole
) -> None:
    rows, numbers = 60_000, random.Random(1)
    # Notes of every byte that CSV lets stand: all are wanted, and packing them makes nothing of them smaller.
    letters = bytes(set(range(33, 256)) - set(b'",'))
    lines = (b"%d,Nice,%d,%b\n" % (row, row % 100, bytes(numbers.choices(letters, k=140))) for row in range(rows))
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", HEADER + b"".join(lines))
    key = whole.store.user("acme:ann").key
    client.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
    installation.start_master()
    document = application("kwh >= 0")
    document["storage"]["inputs"][0]["pushdown"]["columns"] = ["id", "city", "kwh", "note"]
    execution = client.submit(document)
    [driver] = [service for service in execution.services if service.component == "driver"]
    until(
        lambda: "rows" in output(client, execution.id, driver.id), lambda: output(client, execution.id, driver.id), 240
    )
    [read] = client.execution(execution.id).inputs
    assert (read.uri, read.view) == ("swift2d://meters.zoe/2015", None), read.why
    assert "would not save time" in read.why
    assert f"rows {rows} columns ['id', 'city', 'kwh', 'note']" in output(client, execution.id, driver.id)
    assert client.cancel(execution.id).id == execution.id
    client.wait(execution.id, 60)


def own_credential(places: list[Path]) -> tuple[str, str]:
    """User and key that all services have."""
    texts = [place.read_text() for place in places]
    found = {
        tuple(re.findall(f"service.zoe.{name}</name><value>(.*?)<", text)[0] for name in ("username", "password"))
        for text in texts
    }
    [(user, key)] = found
    return user, key


def output(client: Client, execution_id: str, service_id: str) -> str:
    try:
        return base64.b64decode(client.logs(execution_id, service_id, limit=1 << 20).data).decode(errors="replace")
    except Exception as error:  # it has not begun
        return str(error)


def everything(
    installation: Installation, client: Client, execution_id: str, postgres_url: str, whole: Whole
) -> dict[str, str]:
    """Return everything readable, by its kind."""
    ports = json.loads((installation.base / "state" / "ports" / f"{execution_id}.json").read_text())
    logs = [*installation.base.glob("*.log"), *whole.store.directory.glob("*.log")]
    state = [path for path in (installation.base / "state").rglob("*") if path.is_file()]
    answers = [client.execution(execution_id), client.events(execution_id), client.storage_credentials()]
    return {
        "spark": "".join(pages(port) for service in ports.values() for name, port in service.items() if name == "ui"),
        "database": database(postgres_url),
        "logs": "".join(path.read_text(errors="replace") for path in logs),
        "state": "".join(path.read_text(errors="replace") for path in state),
        "answers": "".join(answer.model_dump_json() for answer in answers),
        "processes": "".join(map(process_texts, Path("/proc").glob("[0-9]*"))),
        "work files": "".join(
            path.read_text(errors="replace")
            for path in (installation.base / "scratch").rglob("*")
            if path.is_file() and path.name != "core-site.xml"
        ),
    }


def pages(port: int) -> str:
    """What Spark's pages show; of the driver also by its REST API."""
    found = []
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as http:
        for path in ("/", "/environment/", "/executors/", "/json/", "/api/v1/applications"):
            answer = http.get(path, follow_redirects=True)
            found.append(answer.text)
            if path == "/api/v1/applications" and answer.is_success and answer.text.startswith("["):
                found += [http.get(f"{path}/{entry['id']}/environment").text for entry in answer.json()]
    return "".join(found)


def database(url: str) -> str:
    """All rows of all tables, as text."""
    found = []
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'sds')")
        for schema, table in cursor.fetchall():
            cursor.execute(f'SELECT t::text FROM "{schema}"."{table}" t')
            found += [row[0] for row in cursor.fetchall()]
    assert any("acme:ann" in row for row in found)
    return "\n".join(found)


def process_texts(process: Path) -> str:
    found = b""
    for name in ("environ", "cmdline"):
        try:
            found += (process / name).read_bytes()
        except OSError:
            continue
    return found.decode(errors="replace")
