"""Views on a real Swift: their contents, their readers, and objects that cannot have views."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
from urllib.parse import quote

import pytest

from tests.support.access_log import listings_of_filters
from tests.support.object_store import Person, definition
from tests.support.waiting import until
from zoe_embedded.swift.store import ObjectStore

CITIES = ("Nice", "Paris", "Lyon", '"Aix, Provence"')
HEADER = b"id,city,kwh,note\n"


def meters(seed: int, rows: int) -> tuple[bytes, bytes]:
    """Return an object, and the contents of its view: id and kwh of rows in Nice and above 90."""
    numbers, lines, wanted = random.Random(seed), [], []
    for row in range(rows):
        city, kwh = numbers.choice(CITIES), round(numbers.random() * 100, 3)
        lines.append(f"{row},{city},{kwh},{'x' * numbers.randrange(80)}\n")
        if city == "Nice" and kwh > 90:
            wanted.append(f"{row},{kwh}\n")
    return HEADER + "".join(lines).encode(), "".join(wanted).encode()


WANTED = {"columns": ["id", "kwh"], "where": "city = 'Nice' and kwh > 90"}


@pytest.fixture
def source(ann: Person) -> tuple[str, bytes]:
    """A container with two objects of several splits each, and the contents of its view."""
    name = f"meters-{os.urandom(4).hex()}"
    ann.put(name)
    shown = b""
    for number in (1, 2):
        content, wanted = meters(number, 8000)
        ann.put(f"{name}/2015/part-{number}.csv", content)
        shown += wanted
    ann.put(f"{name}/2015/_SUCCESS")
    for sibling in ("other.csv", "2015-old/a.csv", "2015_old/a.csv"):
        ann.put(f"{name}/{sibling}", b"something,else\n1,2\n")
    return name, shown


@pytest.fixture
def view(source: tuple[str, bytes], admin: Person) -> str:
    name = f"zoe-view-{os.urandom(4).hex()}"
    admin.put(name, **definition(source[0], prefix="2015/", split_bytes=2**16, **WANTED))
    return name


def test_a_view_shows_the_wanted_rows_and_columns_and_nothing_else(
    ann: Person, source: tuple[str, bytes], view: str
) -> None:
    entries = ann.listing(view)
    assert len(entries) > 8
    assert ann.view(view) == source[1]
    for entry in entries:
        head = ann.call("HEAD", f"{view}/{entry['name']}")
        assert int(head.headers["Content-Length"]) == entry["bytes"]
        assert len(ann.call("GET", f"{view}/{entry['name']}").content) <= entry["bytes"]
    assert [e["subdir"] for e in ann.call("GET", f"{view}?format=json&delimiter=/").json()] == ["data/"]
    pages, marker = [], ""
    while page := ann.call("GET", f"{view}?format=json&limit=3&marker={marker}").json():
        pages += page
        marker = page[-1]["name"]
    assert pages == entries


def test_a_prefix_is_a_directory_and_its_siblings_are_not_shown(
    ann: Person, admin: Person, source: tuple[str, bytes]
) -> None:
    name = f"zoe-view-{os.urandom(4).hex()}"
    admin.put(name, **definition(source[0], prefix="2015", **WANTED))
    assert ann.view(name) == source[1]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("kwh=7/a.csv", b"id,city\n1,Nice\n", "partition directories"),
        ("a b.csv", b"id,city\n1,Nice\n", "differently"),
        ("50%.csv", b"id,city\n1,Nice\n", "differently"),
        ("z\u00fcrich.csv", b"id,city\n1,Nice\n", "differently"),
        ("in//b.csv", b"id,city\n1,Nice\n", "differently"),
        ("a.csv", b"id,city,City\n1,Nice,x\n", "columns city and City of the header differ only in case"),
        ("a.csv", b"id,city,_corrupt_record\n1,Nice,x\n", "_corrupt_record"),
    ],
)
def test_object_that_spark_reads_differently_has_no_view(
    ann: Person, admin: Person, name: str, content: bytes, why: str
) -> None:
    source = f"odd-{os.urandom(4).hex()}"
    ann.put(source)
    ann.put(f"{source}/{quote(name)}", content)
    answer = admin.call("PUT", f"zoe-view-{source}", headers=definition(source, columns=["id"]))
    assert (answer.status_code, why in answer.text) == (422, True), answer.text


def test_a_view_hides_what_spark_passes_by(ann: Person, admin: Person) -> None:
    source = f"hidden-{os.urandom(4).hex()}"
    ann.put(source)
    for name in ("a.csv", "_x=1.csv", "_x.csv", ".a.csv", "b._COPYING_", "_SUCCESS"):
        ann.put(f"{source}/{name}", b"id,city\n1,Nice\n")
    admin.put(f"zoe-view-{source}", **definition(source, columns=["id"]))
    shown = {entry["name"].removeprefix("data/").partition(".0")[0] for entry in ann.listing(f"zoe-view-{source}")}
    assert shown == {"a.csv", "_x=1.csv"}


def test_objects_in_subdirectories_are_not_shown_as_spark_passes_them_by(ann: Person, admin: Person) -> None:
    """Nor are the names of columns theirs, though they may come first in the listing."""
    source = f"below-{os.urandom(4).hex()}"
    ann.put(source)
    ann.put(f"{source}/a/b.csv", b"x,y\n8,9\n")
    refused = admin.call("PUT", f"zoe-view-{source}", headers=definition(source))
    assert (refused.status_code, "give the names of the columns" in refused.text) == (422, True)
    ann.put(f"{source}/c.csv", b"id,city\n1,Nice\n")
    admin.put(f"zoe-view-{source}", **definition(source, columns=["id", "city"]))
    assert ann.view(f"zoe-view-{source}") == b"1,Nice\n"


def test_a_container_with_objects_does_not_become_a_view(ann: Person, admin: Person, source: tuple[str, bytes]) -> None:
    """It could not be removed again."""
    name = f"zoe-view-{os.urandom(4).hex()}"
    ann.put(name)
    ann.put(f"{name}/mine", b"x")
    until(lambda: ann.listing(name) != [])
    refused = admin.call("PUT", name, headers=definition(source[0], prefix="2015/"))
    assert (refused.status_code, "with objects" in refused.text) == (409, True)
    assert ann.call("GET", f"{name}/mine").content == b"x"


def test_a_listing_asks_for_each_page_of_its_source_once(
    swift: ObjectStore, ann: Person, source: tuple[str, bytes], view: str
) -> None:
    before = len(swift.log_of("proxy"))
    ann.listing(view)
    until(lambda: f"/{view}%3Fformat" in swift.log_of("proxy")[before:], lambda: swift.log_of("proxy")[before:])
    assert listings_of_filters(swift.log_of("proxy")[before:], source[0]) == 1


def test_a_reader_that_comes_again_gets_the_rest(ann: Person, view: str) -> None:
    path = f"{view}/{ann.listing(view)[1]['name']}"
    whole = ann.call("GET", path).content
    rest = ann.call("GET", path, headers={"Range": "bytes=100-"})
    assert (rest.status_code, rest.content) == (206, whole[100:])
    part = ann.call("GET", path, headers={"Range": "bytes=0-9"})
    assert part.content == whole[:10]


def test_a_view_is_no_use_to_another_tenant_and_gives_nothing_its_owner_cannot_read(
    ann: Person, bob: Person, admin: Person, source: tuple[str, bytes], view: str
) -> None:
    entry = ann.listing(view)[0]["name"]
    for method, path in (("GET", f"{view}?format=json"), ("GET", f"{view}/{entry}"), ("HEAD", f"{view}/{entry}")):
        assert bob.call(method, path).status_code == 403
    assert ann.call("GET", f"{view}/{entry}").status_code == 200


def test_reader_of_a_view_without_access_to_its_source_is_refused(
    ann: Person, bob: Person, admin: Person, source: tuple[str, bytes]
) -> None:
    name = f"zoe-view-{os.urandom(4).hex()}"
    admin.put(name, **definition(source[0], prefix="2015/", **WANTED), **{"X-Container-Read": "beta:bob"})
    entry = ann.listing(name)[0]["name"]
    assert bob.call("HEAD", name).status_code == 204  # the view itself
    for path in (f"{name}?format=json", f"{name}/{entry}"):
        assert bob.call("GET", path).status_code == 403


def test_only_the_controller_makes_views_and_clients_cannot_ask_the_nodes(
    ann: Person, bob: Person, source: tuple[str, bytes]
) -> None:
    for person in (ann, bob):
        refused = person.call("PUT", "zoe-view-mine", headers=definition(source[0], prefix="2015/"))
        assert refused.status_code == 403
    plain = ann.call("GET", f"{source[0]}/2015/part-1.csv")
    selection = {"names": ["id", "city", "kwh", "note"], "columns": ["id"], "where": "", "start": 0, "end": None}
    header = {"X-Backend-Zoe-Selection": json.dumps({**selection, "csv": {"header": True}})}
    assert ann.call("GET", f"{source[0]}/2015/part-1.csv", headers=header).content == plain.content
    sysmeta = {"X-Container-Sysmeta-Zoe-View": json.dumps({"container": source[0]})}
    ann.put("zoe-view-sneaked", **sysmeta)
    assert ann.listing("zoe-view-sneaked") == []


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"columns": ["price"]}, "there is no column price; the columns are id, city, kwh, note"),
        ({"where": "price > 3"}, "there is no column price"),
        ({"where": "kwh >"}, "ends too early: a number or a 'text' is expected"),
        ({"where": "kwh = '" + "x" * 5000 + "'"}, "longer than 4096 characters"),
        ({"where": "(" * 60 + "kwh = 1" + ")" * 60}, "nested more than 50 levels deep"),
        ({"csv": {"delimiter": ";;"}}, "delimiter must be one ASCII character"),
        ({"columns": 5}, "not a view: columns must be a list of texts"),
        ({"where": 5}, "not a view: where must be a string"),
        ({"where": {"kwh": 1}}, "not a view: where must be a string"),
        ({"where": "kwh = 1; drop"}, "where:"),
        ({"csv": {"header": True, "quote": 7}}, "not a view"),
        ({"prefix": "nothing/"}, "give the names of the columns"),
        ({"surprise": 1}, "not a view: there is no field surprise; the fields are container, prefix, names,"),
        ({"types": {"kwh": 7}}, "not a view: types must be an object of texts"),
        ({"split_bytes": "many"}, "not a view: split_bytes must be a whole number"),
        ({"csv": {"header": "yes"}}, "not a view: csv.header must be true or false"),
        ({"csv": {"quotes": "x"}}, "not a view: there is no field csv.quotes"),
    ],
)
def test_senseless_view_is_refused_when_made(
    admin: Person, source: tuple[str, bytes], wanted: dict[str, object], words: str
) -> None:
    answer = admin.call("PUT", "zoe-view-bad", headers=definition(source[0], **{"prefix": "2015/", **wanted}))
    assert answer.status_code == 422
    assert words in answer.text
    assert admin.call("HEAD", "zoe-view-bad").status_code == 404


def test_ten_megabytes_of_predicate_do_no_harm(ann: Person, admin: Person, source: tuple[str, bytes]) -> None:
    huge = definition(source[0], where="kwh = 1 or " * 10**6 + "kwh = 1")
    assert admin.call("PUT", "zoe-view-huge", headers=huge).status_code in (400, 431)
    assert ann.call("GET", source[0]).status_code == 200


@pytest.mark.parametrize("digits", [1, 14, 16, 400, 1000])
def test_the_name_of_a_part_that_is_none_is_not_found(ann: Person, view: str, digits: int) -> None:
    number = "9" * digits
    for name in (f"a.csv.{number}-{number}", f"a.csv.{'0' * 15}-{number}", f"a.csv.{number}-{'9' * 15}"):
        path = f"{view}/data/{name}.abcdef012345.csv.gz"
        assert [ann.call(method, path).status_code for method in ("GET", "HEAD")] == [404, 404]


def test_a_missing_source_and_one_that_changed_are_told(
    ann: Person, admin: Person, source: tuple[str, bytes], view: str
) -> None:
    assert admin.call("PUT", "zoe-view-none", headers=definition("nowhere")).status_code == 404
    entries = [entry["name"] for entry in ann.listing(view) if "part-1.csv" in entry["name"]]
    # Another header alone would be malformed; a shorter object has no bytes where parts of the one before began.
    for content in (b"other\n1\n", meters(5, 10)[0]):
        ann.put(f"{source[0]}/2015/part-1.csv", content)
        assert [ann.call("GET", f"{view}/{entry}").status_code for entry in entries] == [409] * len(entries)
    assert ann.view(view) == meters(5, 10)[1] + meters(2, 8000)[1]
    ann.call("DELETE", f"{source[0]}/2015/part-1.csv")
    assert ann.call("GET", f"{view}/{entries[0]}").status_code == 404


def test_malformed_records_are_those_that_spark_reads(ann: Person, admin: Person) -> None:
    """A quote that nothing closes goes to the end of its line; columns count by their places."""
    ann.put("broken")
    ann.put("broken/a.csv", HEADER + b'1,"Nice,90,x\n2,Nice,91,"y\n')
    ann.put("broken/b.csv", meters(1, 40_000)[0] + b'1,"Nice",99,"x\n')
    ann.put("broken/c.csv", b"id,town,kwh,price\n7,Nice,99,2\n")
    admin.put("zoe-view-broken", **definition("broken", **WANTED))
    assert ann.view("zoe-view-broken") == b"2,91\n" + meters(1, 40_000)[1] + b"1,99\n7,99\n"


def test_a_line_of_twenty_megabytes_is_delivered_and_one_beyond_the_bound_ends_the_read(
    ann: Person, admin: Person, swift: ObjectStore
) -> None:
    ann.put("long")
    ann.put("long/a.csv", HEADER + b"1,Nice,95," + b"x" * 20 * 2**20 + b"\n2,Nice,96,y\n")
    ann.put("long/b.csv", HEADER + b"1,Nice,95," + b"x" * 40 * 2**20 + b"\n")
    admin.put("zoe-view-long", **definition("long", **WANTED))
    a, b = ([e["name"] for e in ann.listing("zoe-view-long") if f"/{name}.csv" in e["name"]] for name in "ab")
    texts = [gzip.decompress(ann.call("GET", f"zoe-view-long/{entry}").content) for entry in a]
    assert b"".join(texts) == b"1,95\n2,96\n"
    answer = ann.call("GET", f"zoe-view-long/{b[0]}")
    assert (answer.status_code, "a line is longer than 32 MiB" in answer.text) == (422, True)
    # The log may come after the answer.
    until(lambda: any("longer than 32 MiB" in line and "b.csv" in line for line in swift.log_of("proxy").splitlines()))
    assert swift.ended_server() is None
    assert ann.call("GET", "long").status_code == 200


def test_a_view_cannot_be_written_and_goes_when_it_is_deleted(ann: Person, admin: Person, view: str) -> None:
    entry = ann.listing(view)[0]["name"]
    assert ann.call("PUT", f"{view}/mine", content=b"x").status_code == 405
    assert ann.call("DELETE", f"{view}/{entry}").status_code == 405
    assert admin.call("DELETE", view).status_code == 204
    assert ann.call("GET", f"{view}/{entry}").status_code == 404


def test_a_killed_object_server_costs_no_row(
    swift: ObjectStore, ann: Person, source: tuple[str, bytes], view: str
) -> None:
    os.kill(swift.processes["object-1"], signal.SIGKILL)
    try:
        assert ann.view(view) == source[1]
    finally:
        swift.restart("object-1")
    until(lambda: ann.view(view) == source[1])
