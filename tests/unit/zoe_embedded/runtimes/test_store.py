"""Runtimes are installed once for all homes, stay while they are used, and no other user can change them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.postgres import make_home
from zoe_embedded.home import Home, HomeError
from zoe_embedded.runtimes import store as runtime_store
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.runtimes.store import KEPT, Recipe, is_built, present, provide

BY_ROOT = os.geteuid() == 0
USES = """
import os, sys
from pathlib import Path
from zoe_embedded.home import Home
from zoe_embedded.runtimes.store import Recipe, provide
home = Home(Path(sys.argv[1]), os.geteuid() == 0, Path(sys.argv[2]))
provide(home, Recipe("tool", (sys.argv[3].encode(),), lambda _: None))
print("uses it", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(runtime_store, "_held", {})
    directory = make_home()
    yield directory
    for descriptor in runtime_store._held.values():
        os.close(descriptor)
    shutil.rmtree(directory)


@pytest.fixture
def home(directory: Path) -> Home:
    return Home(directory / "first", BY_ROOT, directory / "runtimes").create()


def recipe(content: str = "1", build: Callable[[Path], object] | None = None) -> Recipe:
    return Recipe("tool", (content.encode(),), build or (lambda place: _make(place, content)))  # type: ignore[arg-type]


def _make(place: Path, content: str) -> None:
    place.mkdir(parents=True)
    (place / "program").write_text(content)


def never(_: Path) -> None:
    pytest.fail("it was built before")


def forget() -> None:
    """As if this process had ended."""
    for descriptor in runtime_store._held.values():
        os.close(descriptor)
    runtime_store._held.clear()


def test_a_second_home_finds_what_the_first_one_built(home: Home, directory: Path) -> None:
    assert present(home, recipe()) is None
    first = provide(home, recipe())
    second = Home(directory / "second", BY_ROOT, directory / "runtimes").create()
    assert is_built(second, recipe())
    assert provide(second, recipe(build=never)) == present(second, recipe(build=never)) == first
    forget()
    assert provide(second, recipe(build=never)) == first
    assert (first / "program").read_text() == "1"
    assert provide(second, recipe("2")) != first


def test_one_that_was_interrupted_or_failed_is_begun_anew(home: Home) -> None:
    class BrokenOffError(Exception):
        pass

    def interrupted(place: Path) -> None:
        _make(place, "half")
        raise BrokenOffError

    with pytest.raises(BrokenOffError):
        provide(home, recipe(build=interrupted))
    assert not is_built(home, recipe())
    [lock] = home.runtimes.iterdir()
    _make(lock.with_suffix(""), "half")  # as after a power failure
    assert not is_built(home, recipe())
    assert (provide(home, recipe()) / "program").read_text() == "1"


def test_two_that_want_the_same_build_it_once(home: Home) -> None:
    begun, go_on, found = threading.Event(), threading.Event(), list[Path]()

    def slowly(place: Path) -> None:
        begun.set()
        assert go_on.wait(30)
        _make(place, "1")

    first = threading.Thread(target=lambda: found.append(provide(home, recipe(build=slowly))))
    second = threading.Thread(target=lambda: found.append(provide(home, recipe(build=never))))
    first.start()
    assert begun.wait(30)
    second.start()
    second.join(0.1)
    assert second.is_alive()
    go_on.set()
    for thread in (first, second):
        thread.join(30)
    assert len(set(found)) == 1
    assert len(found) == 2


def test_only_those_used_last_stay(home: Home) -> None:
    made = [provide(home, recipe(str(number))) for number in range(KEPT)]
    forget()
    for at_s, place in enumerate(made, start=1):
        os.utime(place.with_name(f"{place.name}.lock"), (at_s, at_s))
    other = provide(home, Recipe("tool-box", (b"1",), lambda place: _make(place, "other")))
    provide(home, recipe("0", never))
    forget()
    newest = provide(home, recipe("new"))
    assert [path.exists() for path in (*made, newest, other)] == [True, False, True, True, True]


def test_one_that_a_process_uses_stays_until_it_ends(home: Home) -> None:
    used = provide(home, recipe("used"))
    forget()
    command = [sys.executable, "-c", USES, str(home.path), str(home.runtimes), "used"]
    with subprocess.Popen(command, cwd=CLONE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "uses it\n"
        os.utime(used.with_name(f"{used.name}.lock"), (1, 1))
        for number in range(KEPT + 1):
            provide(home, recipe(str(number)))
            forget()
        assert (used / "program").exists()
        user.communicate("")
    provide(home, recipe("last"))
    assert not used.exists()


def test_all_may_read_it_and_only_its_owner_write(home: Home) -> None:
    def openly(place: Path) -> None:
        _make(place, "1")
        place.chmod(0o777)
        (place / "program").chmod(0o766)
        (place / "link").symlink_to("/etc/passwd")

    place = provide(home, recipe(build=openly))
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert stat.S_IMODE((place / "program").stat().st_mode) == 0o745
    assert stat.S_IMODE(home.runtimes.stat().st_mode) == (0o755 if BY_ROOT else 0o700)


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_directory_that_others_can_write_is_refused(home: Home, mode: int) -> None:
    home.runtimes.mkdir()
    home.runtimes.chmod(mode)
    with pytest.raises(HomeError, match="no other user can write"):
        provide(home, recipe())
    assert list(home.runtimes.iterdir()) == []


@pytest.mark.skipif(not BY_ROOT, reason="needs root")
def test_a_directory_of_another_user_is_refused(home: Home) -> None:
    home.runtimes.mkdir(mode=0o755)
    os.chown(home.runtimes, 65534, 65534)
    with pytest.raises(HomeError, match="belongs to user 65534"):
        provide(home, recipe())
    os.chown(home.runtimes, 0, 0)
    place = provide(home, recipe())
    forget()
    os.chown(place, 65534, 65534)
    with pytest.raises(HomeError, match="set ZOE_RUNTIMES"):
        provide(home, recipe())


def test_a_link_to_a_directory_is_refused(home: Home, directory: Path) -> None:
    (directory / "elsewhere").mkdir(mode=0o755)
    home.runtimes.symlink_to(directory / "elsewhere")
    with pytest.raises(HomeError):
        provide(home, recipe())


def test_runtime_of_an_earlier_version_is_removed_from_the_home(home: Home) -> None:
    (home.runtime / "tool").mkdir()
    (home.runtime / "tool" / "zoe.stamp").touch()
    provide(home, recipe())
    assert not (home.runtime / "tool").exists()
