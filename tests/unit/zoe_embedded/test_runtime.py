"""What local services get from the runtime that was built for them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from zoe_embedded.home import Home
from zoe_embedded.runtime import building, describe


@pytest.mark.parametrize("options", ["-Xss4m", None])
def test_services_get_the_java_options_of_the_caller(
    options: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    if options is not None:
        monkeypatch.setenv("JDK_JAVA_OPTIONS", options)
    assert describe(tmp_path).environment.get("JDK_JAVA_OPTIONS") == options


def test_a_linked_runtime_is_named_by_where_it_is(tmp_path: Path) -> None:
    """A JVM uses an archive of classes only with the class path for which it was made."""
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    link.symlink_to(real)
    assert describe(link) == describe(real)
    assert describe(link).environment["SPARK_HOME"].startswith(f"{real}/")


def test_one_process_at_a_time_builds_in_a_home(tmp_path: Path) -> None:
    home = Home(tmp_path, by_root=False)
    home.runtime.mkdir()
    begun, told = threading.Event(), list[str]()

    def build_next() -> None:
        begun.set()
        with building(home):
            told.append("second")

    second = threading.Thread(target=build_next)
    with building(home):
        second.start()
        assert begun.wait(10)
        second.join(0.1)
        told.append("first")
    second.join(10)
    assert told == ["first", "second"]
