"""set_values: the effect of `--set component.key=value`."""

from __future__ import annotations

import pytest

from tests.unit.zoe_lib.descriptions.documents import small, spark
from zoe_client.documents.settings import KEYS_OF_APPLICATION, KEYS_OF_COMPONENT
from zoe_lib.descriptions import DescriptionError, parse, set_values
from zoe_lib.descriptions.model import Component, Document


def test_values_go_to_components_frameworks_and_the_application() -> None:
    document = spark()
    changed = set_values(
        document,
        [
            "driver.environment.N=3",
            "driver.environment.PATH=a=b",
            "driver.resources.memory=2GiB",
            "driver.command=run 'one two'",
            "driver.command.0=walk",
            "spark.elastic_workers=5",
            "spark-worker.resources.cores=0.3",
            "time_limit_s=60",
            "size.run_time_s=4",
            "name=other",
        ],
    )
    application = parse(changed)
    driver, worker = application.component("driver"), application.component("spark-worker")
    assert driver.environment == (("N", "3"), ("PATH", "a=b"))
    assert driver.command == ("walk", "one two")
    assert driver.reservation.memory_bytes == 2**31
    assert (worker.total_count, worker.reservation.cores_milli) == (6, 300)
    assert (application.name, application.time_limit_s, application.expected_run_s) == ("other", 60, 4)
    assert document == spark()


def test_a_star_goes_to_every_component_that_has_the_variable() -> None:
    document = small(environment={"HOST": "a"})
    document["components"].append({**small()["components"][0], "name": "other"})
    changed = set_values(document, ["*.environment.HOST=b"])
    assert [c.get("environment") for c in changed["components"]] == [{"HOST": "b"}, None]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("time_limit_s", "has no '='"),
        ("driver=1", "the description has no 'driver'"),
        ("mian.image=x", "did you mean 'main'?"),
        ("main.imge=x", "did you mean 'image'?"),
        ("main.command.7=x", "does not exist"),
        ("main.image.x=1", "does not exist"),
        ("main.command='x", "not a valid command line"),
        ("*.environment.NOPE=1", "no component has"),
        ("=", "the description has no"),
        ("version=5", "the description has no"),
    ],
)
def test_impossible_setting_is_refused(setting: str, told: str) -> None:
    with pytest.raises(DescriptionError, match=told.replace("?", r"\?")):
        set_values(small(command=["x"]), [setting])


def test_all_wrong_settings_are_told_at_once() -> None:
    with pytest.raises(DescriptionError) as caught:
        set_values(small(), ["a", "b=1", "main.c=2"])
    assert len(caught.value.diagnostics) == 3


def test_the_client_knows_every_key_of_the_format() -> None:
    own = [key for key in Document.model_fields if key not in {"version", "components", "frameworks"}]
    assert (list(KEYS_OF_APPLICATION), list(KEYS_OF_COMPONENT)) == (own, list(Component.model_fields))
