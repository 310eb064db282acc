"""Forms of scripts: the same descriptions as `zoe run` makes, and refusals that name the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.running.drafts import CommandOptions, command_draft
from zoe_lib.descriptions import catalogue_document, catalogue_entry, fill_form, parse

ENTRIES = {".py": "python-script", ".sh": "shell-script", ".R": "r-script", ".ipynb": "notebook-file"}


def filled(suffix: str, **values: object) -> dict[str, Any]:
    entry = catalogue_entry(ENTRIES[suffix])
    return fill_form(entry, catalogue_document(entry), values)


def main(document: dict[str, Any]) -> dict[str, Any]:
    (component,) = document["components"]
    found: dict[str, Any] = component
    return found


@pytest.mark.parametrize("suffix", ENTRIES)
def test_the_form_and_zoe_run_describe_the_same(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"job{suffix}").write_text("")
    by_command = main(command_draft([str(tmp_path / f"job{suffix}")], CommandOptions()).embedded())
    by_form = main(filled(suffix, file=f"job{suffix}"))
    assert by_command.pop("files")
    by_command["command"] = [word.replace("{files}/", "{workspace}/") for word in by_command["command"]]
    assert by_form == by_command


@pytest.mark.parametrize("suffix", ENTRIES)
def test_the_description_of_the_catalogue_is_that_of_an_empty_form(suffix: str) -> None:
    document = catalogue_document(catalogue_entry(ENTRIES[suffix]))
    assert filled(suffix) == document
    parse(document)


def test_words_of_the_form_reach_the_script_as_they_are() -> None:
    document = filled(".py", file="shared:a b/{x}%25.py", arguments="--name 'two words' {index}", indices="0-3")
    assert main(document)["command"][2:] == ["{shared}/a b/{{x}}%.py", "--name", "two words", "{index}"]
    assert main(filled(".py", file="x.py", arguments="{index}"))["command"][-1] == "{{index}}"
    parse(document)


def test_instances_are_counted_beside_the_index_of_an_array() -> None:
    assert main(filled(".sh", file="a.sh", workers=3))["environment"]["ZOE_INDEX"] == "{index}"
    assert main(filled(".sh", file="a.sh", workers=3, indices="0-9"))["environment"]["ZOE_INDEX"] == "{instance}"


def test_a_notebook_with_its_output_lies_beside_it() -> None:
    assert filled(".ipynb", file="a/fit.ipynb")["results"] == ["a/fit-run.ipynb"]
    assert filled(".ipynb", file="shared:a/fit.ipynb", indices="0-1")["results"] == ["fit-run-{index}.ipynb"]
    assert "results" not in filled(".ipynb", file="a[1].ipynb")


@pytest.mark.parametrize(
    ("suffix", "values", "place", "words"),
    [
        (".py", {"file": " "}, "/file", "choose a script"),
        (".py", {"file": "a.sh"}, "/file", "does not end with .py"),
        (".py", {"file": "../a.py"}, "/file", "no part"),
        (".py", {"file": "a%FF.py"}, "/file", "not UTF-8"),
        (".py", {"file": "a.py", "arguments": "'open"}, "/arguments", "no closing quotation"),
    ],
)
def test_a_field_that_is_wrong_is_named(suffix: str, values: dict[str, str], place: str, words: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        filled(suffix, **values)
    (finding,) = refused.value.diagnostics
    assert finding.pointer == place
    assert words in finding.message
    assert finding.hint
