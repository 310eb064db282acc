"""The catalogue's modules: their effects, and that they match their sources."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
import subprocess
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from storage_filters.transforms.modules.engine import Module, compile_module
from storage_filters.transforms.modules.filters import ModuleFilter, NamedModule, ReadModule
from storage_filters.transforms.stream_filters import FilterRefusedError
from zoe_embedded.runtimes.runtime import CLONE

FILTERS = CLONE / "app_descriptions" / "filters"


def loaded(name: str) -> Module:
    return compile_module((FILTERS / f"{name}.wasm").read_bytes())


MASK, COLUMNS = loaded("mask"), loaded("columns")


def named(module: Module, **parameters: str) -> NamedModule:
    return NamedModule("one", "0" * 64, module, parameters, lambda: None)


def masked(content: bytes, **parameters: str) -> bytes:
    return b"".join(ReadModule(named(MASK, **parameters), {}).transform([content]))


def stored(content: bytes, **parameters: str) -> bytes:
    return b"".join(ModuleFilter(named(COLUMNS, **parameters)).forward([content]))


@given(rows=st.lists(st.lists(st.text(max_size=8), min_size=3, max_size=3), max_size=30))
@settings(max_examples=150, deadline=None)
def test_mask_hides_its_columns_and_no_other(rows: list[list[str]]) -> None:
    rows = [["".join(c for c in cell if c not in '\r\n"') for cell in row] for row in [["a", "b", "c"], *rows]]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    got = masked(text.getvalue().encode(), columns="1,3")
    assert len(got) == len(text.getvalue().encode())
    seen = list(csv.reader(io.StringIO(got.decode())))
    expected = [[("*" * len(row[0].encode())), row[1], "*" * len(row[2].encode())] for row in rows[1:]]
    assert seen == [rows[0], *expected]


def test_mask_reads_its_parameters_and_refuses_others() -> None:
    text = b'1;"a ""b""\n";3\n4;5;6\n'
    assert masked(text, columns="2", delimiter=";", character="x", header="no") == b'1;"xx""x""x";3\n4;x;6\n'
    for wrong in ({}, {"columns": ""}, {"columns": "0"}, {"columns": "2,"}, {"columns": "x"}, {"columns": "1025"}):
        with pytest.raises(FilterRefusedError, match="columns"):
            masked(text, **wrong)


@given(
    content=st.binary(max_size=300)
    | st.text(alphabet="ab,\n", max_size=300).map(str.encode)
    | st.lists(st.sampled_from(["1,2,3\n", "x,,\n", "only\n", "a,b\n"]), max_size=200).map(
        lambda r: "".join(r).encode()
    ),
    times=st.sampled_from([1, 1, 40, 2000]),
)
@settings(max_examples=150, deadline=None)
def test_columns_gives_back_each_byte(content: bytes, times: int) -> None:
    whole = content * times
    back = ModuleFilter(named(COLUMNS)).reverse([stored(whole)], 0, True)
    assert b"".join(back) == whole


def test_columns_lets_compression_find_more() -> None:
    rows = (
        f"2026-01-{i // 2880 + 1:02},{i % 2880 * 30},node-{i * 7 % 40:03},{i * i % 977},{i % 3 == 0}\n"
        for i in range(20_000)
    )
    table = "".join(rows).encode()
    plain, by_column = (len(zstandard.compress(data, level=1)) for data in (table, stored(table)))
    assert by_column < plain * 0.8


@pytest.mark.parametrize("name", ["mask", "columns"])
def test_the_digests_are_those_of_the_files(name: str) -> None:
    digest = hashlib.sha256((FILTERS / f"{name}.wasm").read_bytes()).hexdigest()
    assert f"{digest}  {name}.wasm" in (FILTERS / "SHA256SUMS").read_text().splitlines()


def _is(program: str, version: str) -> bool:
    if shutil.which(program) is None:
        return False
    return version in subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(
    not (_is("clang-14", "14.0.6") and _is("wasm-ld", "14.0.6") and _is("/usr/bin/rustc", "1.63.0")),
    reason="needs Debian 12's clang, lld, rustc and libstd-rust-dev-wasm32",
)
def test_the_sources_give_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run(["sh", str(FILTERS / "build.sh"), str(tmp_path)], check=True, timeout=120)
    for name in ("mask.wasm", "columns.wasm"):
        assert (tmp_path / name).read_bytes() == (FILTERS / name).read_bytes()
