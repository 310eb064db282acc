"""Spark properties for reading and writing an object store: through Stocator, through S3A, or as plain files.

Pure. Properties never contain keys, since they end up in logs, event files and on command lines. `credentials_xml`
creates the file `core-site.xml` for a directory that only the application's user may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_SPARK = "spark.hadoop."
_SWIFT = "fs.swift2d"
_CLOUD = "org.apache.spark.internal.io.cloud"
# A filtered read answers only when the first rows are found; Stocator's own 5 s were measured to be too short.
_SOCKET_TIMEOUT_MS = 300_000
_RETRIES = 5
PUSHDOWN = "zoe.pushdown.Extensions"
"""The class in `spark_pushdown` that plans scans."""
# Directory of both connectors for data before the upload; Hadoop expands the variable on each node.
_SCRATCH = "${env.TMPDIR:-/tmp}"


@dataclass(frozen=True, slots=True)
class SwiftService:
    """The target of `swift2d://container.NAME/...`. `region` is needed: without it Stocator finds no endpoint."""

    name: str
    auth_url: str
    region: str


@dataclass(frozen=True, slots=True)
class S3Service:
    """The target of `s3a://bucket/...`."""

    endpoint: str


def swift_properties(
    services: Sequence[SwiftService], jars: Sequence[str], pushdown: bool = False
) -> Mapping[str, str]:
    """Return Spark properties for unmodified Stocator; `jars` are paths on the nodes. pushdown: whether queries ask the
    store for their columns and rows.

    Output of a task is a local file until it is complete. Streamed uploads, Stocator's default, cannot write a text of
    less than 64 KiB on Java 17: it flushes before they are open.
    """
    properties = {
        "spark.driver.extraClassPath": ":".join(jars),
        "spark.executor.extraClassPath": ":".join(jars),
        f"{_SPARK}fs.stocator.scheme.list": "swift2d",
        f"{_SPARK}{_SWIFT}.impl": "com.ibm.stocator.fs.ObjectStoreFileSystem",
        f"{_SPARK}fs.stocator.swift2d.impl": "com.ibm.stocator.fs.swift.SwiftAPIClient",
        f"{_SPARK}fs.stocator.swift2d.scheme": "swift2d",
        f"{_SPARK}fs.stocator.SoTimeout": str(_SOCKET_TIMEOUT_MS),
        f"{_SPARK}fs.stocator.ReqSocketTimeout": str(_SOCKET_TIMEOUT_MS),
        f"{_SPARK}fs.stocator.executionCount": str(_RETRIES),
        f"{_SPARK}hadoop.tmp.dir": _SCRATCH,
        # Readers recognise the output of failed and repeated tasks by the success marker.
        f"{_SPARK}mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    }
    if pushdown:
        properties |= {"spark.sql.extensions": PUSHDOWN, "spark.zoe.pushdown": "true"}
    for service in services:
        place = f"{_SPARK}{_SWIFT}.service.{service.name}"
        properties |= {
            f"{place}.auth.url": service.auth_url,
            f"{place}.auth.method": "basic",
            f"{place}.region": service.region,
            f"{place}.public": "true",
            f"{place}.nonstreaming.upload": "true",
        }
    return dict(sorted(properties.items()))


def s3_properties(service: S3Service, jars: Sequence[str]) -> Mapping[str, str]:
    """Return the same for Hadoop's S3A, with a committer that renames nothing; `jars` include spark-hadoop-cloud.

    Without the commit protocol of that jar, Spark bypasses the magic committer when it writes: uncommitted parts become
    visible.
    """
    properties = {
        "spark.driver.extraClassPath": ":".join(jars),
        "spark.executor.extraClassPath": ":".join(jars),
        f"{_SPARK}fs.s3a.endpoint": service.endpoint,
        f"{_SPARK}fs.s3a.path.style.access": "true",
        f"{_SPARK}hadoop.tmp.dir": _SCRATCH,
        f"{_SPARK}fs.s3a.committer.name": "magic",
        f"{_SPARK}fs.s3a.committer.magic.enabled": "true",
        f"{_SPARK}mapreduce.outputcommitter.factory.scheme.s3a": "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
        "spark.sql.sources.commitProtocolClass": f"{_CLOUD}.PathOutputCommitProtocol",
        "spark.sql.parquet.output.committer.class": f"{_CLOUD}.BindingParquetOutputCommitter",
    }
    return dict(sorted(properties.items()))


def swift_credentials(services: Mapping[SwiftService, tuple[str, str]]) -> Mapping[str, str]:
    """Return Hadoop properties with user and key of services."""
    found: dict[str, str] = {}
    for service, (user, key) in services.items():
        place = f"{_SWIFT}.service.{service.name}"
        found |= {f"{place}.username": user, f"{place}.password": key}
    return dict(sorted(found.items()))


def s3_credentials(access_key: str, secret_key: str) -> Mapping[str, str]:
    """Return Hadoop properties with the keys for S3A."""
    return {"fs.s3a.access.key": access_key, "fs.s3a.secret.key": secret_key}


def defaults_text(properties: Mapping[str, str]) -> str:
    """Return the text of a `spark-defaults.conf`."""
    return "".join(f"{name} {value}\n" for name, value in properties.items())


def credentials_xml(properties: Mapping[str, str]) -> str:
    """Return the text of a `core-site.xml`."""
    lines = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{"".join(lines)}</configuration>\n'
