"""The properties that Spark is given, in full: a change here changes what every application reads with."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from storage_bridge.stocator import (
    S3Service,
    SwiftService,
    credentials_xml,
    defaults_text,
    s3_credentials,
    s3_properties,
    swift_credentials,
    swift_properties,
)
from zoe_embedded.runtimes.pushdown_jar import SOURCES

SERVICE = SwiftService("zoe", "http://swift:8080/auth/v1.0", "RegionOne")


def test_properties_for_stocator() -> None:
    assert swift_properties([SERVICE], ["/j/stocator.jar", "/j/joss.jar"]) == {
        "spark.driver.extraClassPath": "/j/stocator.jar:/j/joss.jar",
        "spark.executor.extraClassPath": "/j/stocator.jar:/j/joss.jar",
        "spark.hadoop.fs.stocator.ReqSocketTimeout": "300000",
        "spark.hadoop.fs.stocator.SoTimeout": "300000",
        "spark.hadoop.fs.stocator.executionCount": "5",
        "spark.hadoop.fs.stocator.scheme.list": "swift2d",
        "spark.hadoop.fs.stocator.swift2d.impl": "com.ibm.stocator.fs.swift.SwiftAPIClient",
        "spark.hadoop.fs.stocator.swift2d.scheme": "swift2d",
        "spark.hadoop.fs.swift2d.impl": "com.ibm.stocator.fs.ObjectStoreFileSystem",
        "spark.hadoop.fs.swift2d.service.zoe.auth.method": "basic",
        "spark.hadoop.fs.swift2d.service.zoe.auth.url": "http://swift:8080/auth/v1.0",
        "spark.hadoop.fs.swift2d.service.zoe.nonstreaming.upload": "true",
        "spark.hadoop.fs.swift2d.service.zoe.public": "true",
        "spark.hadoop.fs.swift2d.service.zoe.region": "RegionOne",
        "spark.hadoop.hadoop.tmp.dir": "${env.TMPDIR:-/tmp}",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    }


def test_properties_for_s3a() -> None:
    assert s3_properties(S3Service("http://s3:9000"), ["/j/hadoop-aws.jar"]) == {
        "spark.driver.extraClassPath": "/j/hadoop-aws.jar",
        "spark.executor.extraClassPath": "/j/hadoop-aws.jar",
        "spark.hadoop.fs.s3a.committer.magic.enabled": "true",
        "spark.hadoop.fs.s3a.committer.name": "magic",
        "spark.hadoop.fs.s3a.endpoint": "http://s3:9000",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.hadoop.tmp.dir": "${env.TMPDIR:-/tmp}",
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": (
            "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
        ),
        "spark.sql.parquet.output.committer.class": "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter",
        "spark.sql.sources.commitProtocolClass": "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
    }


def test_keys_are_in_the_file_of_credentials_only() -> None:
    key = "<&secret>"
    text = credentials_xml({**swift_credentials({SERVICE: ("acme:ann", key)}), **s3_credentials("AK", key)})
    found = {p.findtext("name"): p.findtext("value") for p in ET.fromstring(text)}
    assert found == {
        "fs.swift2d.service.zoe.username": "acme:ann",
        "fs.swift2d.service.zoe.password": key,
        "fs.s3a.access.key": "AK",
        "fs.s3a.secret.key": key,
    }
    assert defaults_text({"spark.a": "b c", "spark.d": "http://e:1/f"}) == "spark.a b c\nspark.d http://e:1/f\n"
    assert not any("key" in name or "password" in name for name in swift_properties([SERVICE], []))


def test_pushdown_adds_the_planner_of_scans() -> None:
    properties = swift_properties([SERVICE], [], pushdown=True)
    assert properties["spark.sql.extensions"] == "zoe.pushdown.Extensions"
    assert (SOURCES / "Extensions.java").exists()
