"""YAML is read as strictly as JSON, with the line of each part."""

from __future__ import annotations

import pytest

from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.yaml_document import load_yaml


def test_only_what_json_knows_is_not_a_text() -> None:
    read = load_yaml("a: 2026-01-01\nb: yes\nc: 010\nd: 1.5\ne: true\nf:\ng: '1'\nh: 1_000\ni: -3\nj: 0x1f\nk: .inf\n")
    assert read.document == {
        **{"a": "2026-01-01", "b": "yes", "c": "010", "d": 1.5, "e": True, "f": None, "g": "1", "h": "1_000"},
        **{"i": -3, "j": "0x1f", "k": ".inf"},
    }


def test_numbers_are_those_of_yaml_1_2() -> None:
    read = load_yaml("[2e-2, 0.10, 1e3, -1E+2, 0, !!str 3, '2e-2', !!int 4, .5, 1.]")
    assert read.document == [0.02, 0.1, 1000.0, -100.0, 0, "3", "2e-2", 4, ".5", "1."]
    assert [type(entry) for entry in read.document[:5]] == [float, float, float, float, int]


def test_each_part_has_its_line_and_what_is_missing_that_of_its_owner() -> None:
    read = load_yaml("version: 1\nsteps:\n  - name: a\n    command: [x,\n      y]\n  - name: b\n")
    assert read.place("/steps/0/command/1") == (5, 7)
    assert read.place("/steps/1/needs/0") == (6, 5)
    assert read.place("") == (1, 1)


def test_json_is_read_as_well() -> None:
    assert load_yaml('{"a": [1, "x", null], "b": {"c": false}}').document == {"a": [1, "x", None], "b": {"c": False}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [1,\n", "line 3 column 1: not YAML"),
        ("a: 1\na: 2\n", "line 2 column 1: key 'a' occurs twice"),
        ("", "empty"),
        ("[1]: 2", "keys must be strings; quote it"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "keys must be strings; quote it"),
        ("a: !!python/object:os.system x\n---\nb: 1", "not YAML"),
        ("[" * 1500, "deeper than"),
        ("a: " + "x" * (1 << 20), "larger than"),
        ("a: &a [*a]", ""),
    ],
)
def test_invalid_yaml_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        load_yaml(text)
    assert words in str(refused.value)


def test_aliases_do_not_explode() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 12)]
    with pytest.raises(DescriptionError, match="more than 50000 values"):
        load_yaml("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "said"), [('name: "a\\0b"', "a string contains a NUL character"), ("[" * 100_000, "deeper than")]
)
def test_forbidden_yaml_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        load_yaml(text)
