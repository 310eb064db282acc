"""A test's own Spark driver, in the application runtime, with the properties of applications."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from storage_bridge import zoe_spark
from storage_bridge.stocator import (
    S3Service,
    SwiftService,
    credentials_xml,
    s3_credentials,
    s3_properties,
    swift_credentials,
    swift_properties,
)
from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.jars import s3a_jars, stocator_jars
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.configuration import REGION
from zoe_embedded.swift.store import ObjectStore

PREAMBLE = """
import json, sys
from pyspark.sql import SparkSession
properties, paths = json.loads(sys.argv[1]), sys.argv[2:]
builder = SparkSession.builder
for name, value in properties.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
"""


@dataclass(frozen=True)
class SparkDriver:
    """Programs run as one user of a store; `directory` is for their files."""

    runtime: Runtime
    directory: Path
    properties: Mapping[str, str]
    jars: Sequence[str]
    timeout_s: float = 200

    def run(self, program: str, *paths: str, **properties: str) -> subprocess.CompletedProcess[str]:
        """Run the program after PREAMBLE, with paths; properties have underscores for dots. Fails with Spark's
        error.
        """
        command, environment = self.command(program, *paths, **properties)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=self.timeout_s, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done

    def command(self, program: str, *paths: str, **properties: str) -> tuple[list[str], dict[str, str]]:
        """Command line and environment."""
        chosen = {
            "spark.master": "local[2]",
            "spark.ui.enabled": "false",
            **self.properties,
            **{name.replace("_", "."): value for name, value in properties.items()},
        }
        class_path = ("--driver-class-path", ":".join(self.jars)) if self.jars else ()
        environment = {
            **self.runtime.environment,
            "PATH": ":".join(self.runtime.path),
            "HADOOP_CONF_DIR": str(self.directory),
            "PYTHONPATH": str(self.directory),
            "HOME": str(self.directory),
            "TMPDIR": str(self.directory),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": " ".join((*class_path, "pyspark-shell")),
        }
        python = self.runtime.environment["PYSPARK_PYTHON"]
        return [python, "-c", PREAMBLE + program, json.dumps(chosen), *paths], environment


def local_driver(runtime: Runtime, directory: Path) -> SparkDriver:
    """For files of this machine."""
    shutil.copy(zoe_spark.__file__, directory)
    return SparkDriver(runtime, directory, {}, [])


def spark_driver(runtime: Runtime, store: ObjectStore, login: str, directory: Path) -> SparkDriver:
    """For the user of that login, whose store is the service `zoe`."""
    service = SwiftService("zoe", store.auth_url, REGION)
    keys = swift_credentials({service: (login, store.user(login).key)})
    (directory / "core-site.xml").write_text(credentials_xml(keys))
    shutil.copy(zoe_spark.__file__, directory)
    jars = [str(jar) for jar in stocator_jars()]
    return SparkDriver(runtime, directory, swift_properties([service], jars), jars)


def s3a_driver(like: SparkDriver, store: ObjectStore, login: str, directory: Path) -> SparkDriver:
    """The same user by S3's protocol, with what the framework sets for it."""
    user = store.user(login)
    service = S3Service(store.auth_url.removesuffix("/auth/v1.0"))
    (directory / "core-site.xml").write_text(credentials_xml(s3_credentials(user.login, user.key)))
    jars = [str(jar) for jar in s3a_jars()]
    return replace(like, directory=directory, properties=s3_properties(service, jars), jars=jars)


@contextmanager
def spark_cluster(runtime: Runtime, directory: Path) -> Iterator[str]:
    """A standalone master and two workers, with separate addresses: Spark speculates on other hosts only."""
    environment = {
        **runtime.environment,
        "PATH": ":".join(runtime.path),
        "HOME": str(directory),
        "TMPDIR": str(directory),
    }
    program = f"{runtime.environment['SPARK_HOME']}/bin/spark-class"
    held = HeldPorts(1)
    [port] = held.numbers
    url = f"spark://127.0.0.1:{port}"
    common = ("--webui-port", "0")
    commands = [("master.Master", "-h", "127.0.0.1", "-p", str(port), *common)]
    commands += [
        ("worker.Worker", "-h", f"127.0.0.{n}", "-c", "2", "-m", "1g", "-d", str(directory / f"w{n}"), *common, url)
        for n in (2, 3)
    ]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for name, *rest in commands:
            with (directory / "cluster.log").open("ab") as log:
                command = [program, f"org.apache.spark.deploy.{name}", *rest]
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        text = (directory / "cluster.log").read_text
        until(lambda: text().count("Successfully registered with master") == len(processes) - 1, text)
        yield url
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(20)
        held.close()
