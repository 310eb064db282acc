"""Files of a workspace in a real browser."""

from __future__ import annotations

import base64
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack

HERE = Path(__file__).parent
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
def page(admin: Visitor) -> Page:
    page = admin.open("/files")
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    return page


def upload(page: Page, *paths: Path) -> None:
    page.get_by_label("Upload files").set_input_files([str(path) for path in paths])
    for path in paths:
        expect(page.get_by_role("button", name=path.name, exact=True)).to_be_visible()


def test_files_come_are_seen_and_go(admin: Visitor, page: Page, stack: Stack, tmp_path: Path) -> None:
    expect(page.get_by_text("drop files here")).to_be_visible()
    page.get_by_label("New directory").fill("work 100%")
    page.get_by_role("button", name="Make", exact=True).click()
    page.get_by_role("link", name="work 100%/").click()
    names = ("cities.csv", "pixel.png", "page.html", "broken.parquet")
    table, picture, text, broken = (tmp_path / name for name in names)
    broken.write_bytes(b"no parquet")
    table.write_text("city,people\nNice,343000\nTurin,841600\n")
    picture.write_bytes(PIXEL)
    text.write_text("<script>document.title = 'taken'</script>" + "x" * 300_000)
    upload(page, table, picture, text, broken, *sorted(HERE.glob("cities.*.parquet")))
    assert admin.violations() == []
    for name in ("cities.csv", "cities.snappy.parquet", "cities.zstd.parquet"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("dialog").get_by_role("cell", name="Turin")).to_be_visible()
        expect(page.get_by_role("dialog").get_by_role("cell", name="841600")).to_be_visible()
        assert admin.violations() == []
        page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="broken.parquet", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("This file cannot be shown")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="pixel.png", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    page.wait_for_function("document.querySelector('dialog img').naturalWidth === 1")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="page.html", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("<script>")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog").get_by_text("<script>")).to_be_visible()
    expect(page.get_by_text("The first 256 KiB.")).to_be_visible()
    assert page.title() != "taken"
    page.get_by_role("button", name="Close").click()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download cities.csv").click()
    assert downloading.value.path().read_bytes() == table.read_bytes()
    page.get_by_role("link", name="My workspace").first.click()
    page.get_by_role("button", name="Delete work 100%").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("drop files here")).to_be_visible()


def test_files_can_be_dropped(page: Page) -> None:
    drop = "() => { const all = new DataTransfer(); all.items.add(new File(['dropped'], 'dropped.txt')); return all; }"
    page.dispatch_event(".drop", "drop", {"dataTransfer": page.evaluate_handle(drop)})
    expect(page.get_by_role("button", name="dropped.txt", exact=True)).to_be_visible()
    page.get_by_role("button", name="Delete dropped.txt").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("drop files here")).to_be_visible()


def test_it_fits_a_phone(admin: Visitor, page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    (tmp_path / "data.csv").write_text("a\n1\n")
    upload(page, tmp_path / "data.csv")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    (tmp_path / "i").write_text("one letter")
    upload(page, tmp_path / "i")
    box = page.get_by_role("button", name="i", exact=True).bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 24
    page.get_by_role("button", name="Delete i", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="i", exact=True)).not_to_be_visible()
    assert admin.violations() == []
    page.get_by_role("button", name="Delete data.csv").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("drop files here")).to_be_visible()


def test_a_text_is_edited_unless_it_has_changed_meanwhile(
    admin: Visitor, page: Page, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_bytes(b"one\r\ntwo\r\n")
    client.files.upload(tmp_path / "note.txt", "note.txt")
    page.reload()
    page.get_by_role("button", name="note.txt", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).click()
    text = page.get_by_label("Text of note.txt")
    text.fill("one\nthree\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    # Back leads to the page before at once.
    until(lambda: page.evaluate("() => !history.state?.['zoe-unsaved']"))
    client.files.download("note.txt", tmp_path / "saved.txt")
    assert (tmp_path / "saved.txt").read_bytes() == b"one\r\nthree\r\n"
    client.files.upload(tmp_path / "note.txt", "note.txt")
    text.fill("mine")
    # The browser of these tests answers no to questions that they do not expect.
    page.keyboard.press("Escape")
    page.evaluate("history.back()")
    expect(text).to_have_value("mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("has changed since you opened it")
    assert admin.violations() == []
    page.get_by_role("button", name="Read it again", exact=True).click()
    expect(text).to_have_value("one\ntwo\n")
    page.get_by_role("button", name="Close", exact=True).click()
    client.files.delete("note.txt")


def test_files_are_renamed_and_several_go_at_once(page: Page, client: Client, tmp_path: Path) -> None:
    client.files.make_directory("several/deep")
    (tmp_path / "a").write_text("first")
    client.files.upload(tmp_path / "a", "several/a")
    client.files.upload(tmp_path / "a", "several/deep/b")
    page.goto(page.url.split("?")[0] + "?in=workspace&path=several")
    page.get_by_role("button", name="Rename a", exact=True).click()
    page.get_by_label("New path").fill("several/100%.txt")
    page.get_by_role("dialog").get_by_role("button", name="Rename", exact=True).click()
    for name in ("100%.txt", "deep"):
        page.get_by_label(f"Choose {name}", exact=True).check()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download as zip", exact=True).click()
    with zipfile.ZipFile(downloading.value.path()) as archive:
        assert sorted(archive.namelist()) == ["100%.txt", "deep/", "deep/b"]
    page.get_by_role("button", name="Choose none", exact=True).click()
    page.get_by_role("button", name="Choose all", exact=True).click()
    expect(page.get_by_text("2 entries chosen")).to_be_visible()
    page.get_by_role("button", name="Delete the chosen", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("drop files here")).to_be_visible()
    client.files.delete("several", recursive=True)
