"""The catalogue as it ships: every file is good, short and described."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zoe_lib.descriptions import (
    DescriptionError,
    catalogue,
    catalogue_directory,
    catalogue_document,
    catalogue_entry,
    fill_form,
    form_schema,
    load_json,
    parse,
)
from zoe_lib.descriptions.catalogue_files import frameworks
from zoe_lib.descriptions.frameworks import parameter_values
from zoe_lib.domain.applications.application import ApplicationKind

ROOT = catalogue_directory()
DESCRIPTIONS = sorted(path for path in ROOT.glob("*.json") if path.name != "catalogue.json")
GIB = 2**30


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_each_description_is_valid_and_in_the_catalogue(path: Path) -> None:
    application = parse(load_json(path.read_bytes()))
    assert application.name == path.stem
    assert application.description
    assert path.name in [entry.file for entry in catalogue()]


@pytest.mark.parametrize("name", ["spark-submit", "energy-report", "mpi-pi", "torch-fit"])
def test_a_distributed_batch_application_takes_at_most_25_lines(name: str) -> None:
    text = (ROOT / f"{name}.json").read_text()
    application = parse(load_json(text))
    assert len(text.splitlines()) <= 25
    assert sum(c.total_count for c in application.components) > 1
    assert application.kind is ApplicationKind.BATCH


def test_the_energy_report_is_small_enough_for_a_laptop() -> None:
    application = parse(load_json((ROOT / "energy-report.json").read_bytes()))
    assert all(c.reservation.memory_bytes <= GIB for c in application.components)
    assert application.core_resources().cores_milli <= 2000
    counts = {c.name: (c.essential_count, c.total_count) for c in application.components}
    assert counts == {"spark-master": (1, 1), "spark-worker": (1, 3), "driver": (1, 1)}


@pytest.mark.parametrize("framework", frameworks().values(), ids=lambda framework: framework.framework)
def test_defaults_of_frameworks_are_legal_and_all_is_described(framework: object) -> None:
    from zoe_lib.descriptions.frameworks import Framework

    assert isinstance(framework, Framework)
    assert parameter_values(framework, {}, "")[1] == []
    readme = (ROOT / "README.md").read_text()
    for parameter in framework.parameters:
        assert parameter.description
        assert f"`{parameter.name}`" in readme
        if parameter.type in {"integer", "number", "memory"}:
            assert parameter.minimum is not None
            assert parameter.maximum is not None


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.id)
def test_each_form_fits_its_description(entry: object) -> None:
    from zoe_lib.descriptions import CatalogueEntry

    assert isinstance(entry, CatalogueEntry)
    document = catalogue_document(entry)
    defaults = {field.name: field.default for field in entry.fields if field.type != "file"}
    assert None not in defaults.values()
    parse(fill_form(entry, document, defaults))
    assert list(form_schema(entry)["properties"]) == [field.name for field in entry.fields]
    assert catalogue_entry(entry.id) is entry
    assert entry.icon
    assert entry.tags
    assert entry.is_visible_to("user")


def test_form_values_arrive_and_wrong_ones_are_told_together() -> None:
    entry = catalogue_entry("batch")
    filled = fill_form(entry, catalogue_document(entry), {"command": "sh -c 'echo hi'"})
    assert filled["components"][0]["command"] == ["sh", "-c", "echo hi"]
    spark = catalogue_entry("spark-submit")
    with pytest.raises(DescriptionError) as caught:
        fill_form(spark, catalogue_document(spark), {"core_workers": 0, "elastic_workers": "3", "nope": 1})
    assert len(caught.value.diagnostics) == 3
    program = fill_form(spark, catalogue_document(spark), {"program": "123"})
    assert program["components"][0]["command"][-1] == "123"


def test_the_catalogue_is_json_without_duplicate_keys() -> None:
    for path in [*ROOT.glob("*.json"), *ROOT.glob("frameworks/*.json")]:
        assert load_json(path.read_bytes()) == json.loads(path.read_text())


@pytest.mark.parametrize("name", ["python-notebook", "spark-notebook", "spark-notebook-one-node", "dask-notebook"])
def test_kernels_of_notebooks_find_the_packages_that_were_installed_first(name: str) -> None:
    """JupyterLab's own interpreter does not have them; the first python3 of PATH does."""
    document = catalogue_document(catalogue_entry(name))
    (notebook,) = [part for part in document["components"] if part["name"] == "notebook"]
    assert notebook["environment"]["JUPYTER_PATH"] == "{files}"
    kernel = json.loads(notebook["files"]["kernels/python3/kernel.json"])
    assert kernel["argv"][:4] == ["env", "python3", "-m", "ipykernel_launcher"]
