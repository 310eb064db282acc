"""The web UI in Debian's Chromium: the size of the first pages, and frames of the table with 100,000 rows, live."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy.engine import make_url

from benchmarks.support import machine, percentile, tell, temporary_home
from zoe_client import Client
from zoe_embedded.stack import Stack

ROWS = 100_000
RUNS = 5
CHANGES_PER_S = 10
SCROLLED_S = 10
BYTES_MAX = 250_000
FRAME_P95_MS_MAX = 50
APPLICATION: dict[str, Any] = {
    "version": 4,
    "name": "row",
    "components": [
        {"name": "main", "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "16MiB", "cores": 0.01}}
    ],
}
# Copies of the finished execution, a second apart, without its services.
_MULTIPLY = """
    CREATE TEMPORARY TABLE seed AS SELECT * FROM executions LIMIT 1;
    DO $$ DECLARE columns text; BEGIN
        SELECT string_agg(CASE column_name
            WHEN 'id' THEN 'seed.id || n' WHEN 'submitted_at_s' THEN 'seed.submitted_at_s - n'
            ELSE 'seed.' || quote_ident(column_name) END, ', ' ORDER BY ordinal_position)
        INTO columns FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'executions';
        EXECUTE 'INSERT INTO executions SELECT ' || columns || ' FROM seed, generate_series(1, {rows}) AS n';
    END $$;
    ANALYZE executions;
"""
_WEIGHT = """() => {
    const all = [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')];
    const files = all.filter((one) => !new URL(one.name).pathname.startsWith('/api/'));
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    return {'files, compressed, bytes': files.reduce((sum, one) => sum + one.encodedBodySize, 0),
            'requests, to the API too': all.length, 'first contentful paint, ms': paint ? paint.startTime : 0};
}"""
_SCROLL = """async (seconds) => {
    const grid = document.querySelector('.grid');
    const frames = [];
    let before = performance.now();
    const end = before + seconds * 1000;
    let way = 1;
    while (before < end) {
        const now = await new Promise(requestAnimationFrame);
        frames.push(now - before);
        before = now;
        if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 1) way = -1;
        if (grid.scrollTop <= 0) way = 1;
        grid.scrollTop += way * 4000;
    }
    return frames.slice(2);
}"""


def main() -> int:
    """Print the figures; return 1 if a goal is missed."""
    print(machine())
    with temporary_home() as home, Stack(home, spark=False) as stack, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        missed = weigh(browser, stack) + scroll(browser, stack)
        browser.close()
    return int(missed > 0)


def weigh(browser: Browser, stack: Stack) -> int:
    """Measure the size of pages, each in a browser without a cache."""
    figures: dict[str, list[float]] = {}
    for _ in range(RUNS):
        with signed_in(browser, stack, fresh_visit="/catalogue") as page:
            for name, value in page.evaluate(_WEIGHT).items():
                figures.setdefault(name, []).append(value)
    tell("the first page, nothing cached", figures)
    return int(max(figures["files, compressed, bytes"]) > BYTES_MAX)


def scroll(browser: Browser, stack: Stack) -> int:
    """Load all rows, let executions come and end meanwhile, and scroll the table from end to end."""
    fill(stack)
    p95s, all_frames = [], 0
    with signed_in(browser, stack) as page, changes(stack) as made:
        page.goto(f"{stack.url}/executions")
        load_all(page)
        for _ in range(RUNS):
            frames = page.evaluate(_SCROLL, SCROLLED_S)
            all_frames += len(frames)
            p95s.append(percentile(frames, 0.95))
        shown = page.locator("[aria-rowcount]").get_attribute("aria-rowcount")
    print(f"{shown} rows; {made[0]} executions came and ended meanwhile; {all_frames} frames")
    tell(f"the table of {ROWS:,} live rows, scrolled", {"frame at p95, ms": p95s})
    return int(sorted(p95s)[RUNS // 2] > FRAME_P95_MS_MAX)


def fill(stack: Stack) -> None:
    """Insert finished executions for all rows."""
    with Client(stack.url, stack.token) as client:
        client.wait(client.submit(APPLICATION).id)
    url = make_url(stack.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(_MULTIPLY.format(rows=ROWS))
    connection.close()


def load_all(page: Page) -> None:
    """Scroll to the end until there is nothing more to load."""
    page.get_by_text("more as you scroll").wait_for()
    while page.get_by_text("more as you scroll").count():
        page.evaluate("() => { const grid = document.querySelector('.grid'); grid.scrollTop = grid.scrollHeight; }")
        page.wait_for_timeout(20)


@contextmanager
def signed_in(browser: Browser, stack: Stack, fresh_visit: str | None = None) -> Iterator[Page]:
    """Yield a page of a signed-in admin; with `fresh_visit` the first one of a browser without a cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(stack.url)
    page.get_by_label("User", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill(stack.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Catalogue").wait_for()
    if fresh_visit is not None:
        state = context.storage_state()
        context.close()
        context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)
        page = context.new_page()
        page.goto(f"{stack.url}{fresh_visit}")
        page.get_by_role("link", name="One command").wait_for()
    try:
        yield page
    finally:
        context.close()


@contextmanager
def changes(stack: Stack) -> Iterator[list[int]]:
    """Let executions come and end until the block is left; yield how many."""
    made, stop = [0], threading.Event()

    def submit() -> None:
        with Client(stack.url, stack.token) as client:
            while not stop.is_set():
                client.submit(APPLICATION)
                made[0] += 1
                time.sleep(1 / CHANGES_PER_S)

    thread = threading.Thread(target=submit)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
