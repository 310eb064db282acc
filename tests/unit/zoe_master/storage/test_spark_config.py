"""Object-store configuration of services."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.scheduling import component, queued
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.storage import Credential, CsvInput, InputRead, Pushdown, StorageDemand, StorageObject
from zoe_master.backends.base import joined_modules
from zoe_master.storage.input_document import input_entry
from zoe_master.storage.query_reports import QueryReportSettings
from zoe_master.storage.spark_config import Place, SparkConfig, services_of

PLACES = {"zoe": Place("http://swift/auth", "RegionOne"), "s3a": Place("http://s3"), "other": Place("http://o", "R")}
KEYS = {
    "zoe": Credential("acme:ann", "swift-key"),
    "s3a": Credential("AK", "s3-key"),
    "other": Credential("x", "o-key"),
}


def reading(*uris: str) -> Execution:
    execution = queued(component("c"))
    inputs = tuple(StorageObject(f"i{number}", uri, Pushdown(("a",))) for number, uri in enumerate(uris))
    storage = StorageDemand(inputs, (StorageObject("out", "swift2d://results.zoe/here"),))
    return replace(execution, application=replace(execution.application, storage=storage))


def test_only_the_services_that_are_named_are_told_of_and_keys_are_in_one_file_only() -> None:
    spark_config = SparkConfig(PLACES, ["/j/a.jar", "/j/b.jar"], lambda tenant: KEYS if tenant == "default" else {})
    execution = replace(reading("s3a://bucket/x", "swift2d://meters.zoe/2015"), tenant="default")
    files = spark_config.access(execution).files
    assert files.keys() == {"spark-defaults.conf", "core-site.xml", "zoe-inputs.json", "zoe_arrow.py", "zoe_spark.py"}
    defaults, keys = files["spark-defaults.conf"], files["core-site.xml"]
    assert "spark.driver.extraClassPath /j/a.jar:/j/b.jar\n" in defaults
    assert "spark.hadoop.fs.swift2d.service.zoe.auth.url http://swift/auth\n" in defaults
    assert "spark.hadoop.fs.s3a.endpoint http://s3\n" in defaults
    assert "swift-key" in keys
    assert "s3-key" in keys
    assert "-key" not in defaults.replace("fs.s3a.access-key", "")
    assert "other" not in defaults + keys
    assert "-key" not in files["zoe-inputs.json"]
    assert "swift-key" not in repr(spark_config.access(execution)) + repr(KEYS)


@pytest.mark.parametrize(
    ("jars", "wanted", "expected"),
    [
        (["/opt/stocator/*"], True, True),
        (["/j/stocator.jar", "/j/zoe-pushdown-1.jar"], True, True),
        (["/j/stocator.jar"], True, False),
        (["/opt/stocator/*"], False, False),
    ],
)
def test_queries_ask_the_store_if_the_jar_may_be_there(jars: list[str], wanted: bool, expected: bool) -> None:
    files = SparkConfig(PLACES, jars, pushdown=wanted).access(reading("swift2d://meters.zoe/2015")).files
    assert ("spark.sql.extensions zoe.pushdown.Extensions" in files["spark-defaults.conf"]) is expected


@pytest.mark.parametrize(("pushdown", "api_url"), [(True, "http://zoe/"), (True, None), (False, "http://zoe")])
def test_queries_are_reported_if_they_ask_the_store_and_the_api_is_reached(
    tmp_path: Path, pushdown: bool, api_url: str | None
) -> None:
    execution = reading("swift2d://meters.zoe/2015")
    reports = QueryReportSettings(tmp_path, api_url)
    files = SparkConfig(PLACES, ["/opt/stocator/*"], pushdown=pushdown, reports=reports).access(execution).files
    expected = pushdown and api_url is not None
    assert (f"<value>http://zoe/api/v1/executions/{execution.id}/queries</value>" in files["core-site.xml"]) is expected
    assert ("zoejob_" in files["core-site.xml"]) is expected
    assert "zoejob_" not in files["spark-defaults.conf"]


def test_a_tenant_without_credentials_gets_properties_and_no_keys() -> None:
    files = SparkConfig(PLACES).access(reading()).files
    assert "service.zoe.region RegionOne" in files["spark-defaults.conf"]
    assert "<property>" not in files["core-site.xml"]


def test_an_input_is_what_was_decided_and_else_what_the_description_says() -> None:
    decided = InputRead("i0", "swift2d://zoe-view-v.zoe/data", "v", ("a",), "it pays")
    execution = replace(reading("swift2d://meters.zoe/2015", "file:///data"), inputs=(decided,))
    access = SparkConfig().access(execution)
    assert access.inputs == {"i0": decided, "i1": InputRead("i1", "file:///data")}
    assert access.outputs == {"out": "swift2d://results.zoe/here"}
    assert access.files.keys() == {"zoe-inputs.json", "zoe_arrow.py", "zoe_spark.py"}
    assert access.variables("/d") == {"ZOE_INPUTS": "/d/zoe-inputs.json", "PYTHONPATH": "/d"}


def test_plain_files_need_no_service() -> None:
    storage = StorageDemand((StorageObject("a", "file://{workspace}/a"), StorageObject("b", "swift2d://c.d/e")))
    assert services_of(storage) == {"d"}


def test_programs_are_told_how_an_input_is_read_and_what_is_wanted_of_it() -> None:
    pushdown = Pushdown(("id", "kwh"), "kwh > 90 and city = 'Nice'", (("kwh", "double"),))
    meters = StorageObject(
        "meters", "swift2d://meters.zoe/2015", pushdown, CsvInput(";", header=False, names=("id", "kwh"))
    )
    plain = input_entry(meters, InputRead("meters", meters.uri))
    assert plain == {
        "uri": meters.uri,
        "columns": [],
        "names": ["id", "kwh"],
        "select": ["id", "kwh"],
        "needed": ["id", "kwh", "city"],
        "types": {"kwh": "double"},
        "where": "((`kwh` > 90.0D) AND (`city` = 'Nice'))",
        "csv": {"sep": ";", "quote": '"', "escape": "\\", "nullValue": "", "header": "false", "multiLine": "false"},
    }
    view = InputRead("meters", "swift2d://zoe-view-v.zoe/data", "v", ("id", "kwh", "city"))
    assert input_entry(meters, view) == plain | {"uri": view.uri, "columns": ["id", "kwh", "city"]}


def test_a_component_with_modules_of_its_own_keeps_them() -> None:
    assert joined_modules({"PYTHONPATH": "/d"}, {"PYTHONPATH": "/mine", "A": "b"}) == {
        "PYTHONPATH": "/d:/mine",
        "A": "b",
    }
    assert joined_modules({}, {"PYTHONPATH": "/mine"}) == {"PYTHONPATH": "/mine"}
