"""Java for Spark: which options are added to which programs, and when there is no archive of classes."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from zoe_embedded.runtimes.class_archive import Parts, java_home
from zoe_embedded.runtimes.runtime import CLONE

PROGRAMS = CLONE / "app_descriptions" / "spark"
PRINTS = '#!/bin/sh\nprintf "%s\\n" "$@"\n'
DUMPS = """#!/bin/sh
echo dump >> {log}
for option in $SPARK_SUBMIT_OPTS; do
    case $option in -XX:ArchiveClassesAtExit=*) echo classes > "${{option#*=}}" ;; esac
done
"""
SERIAL, ONE_TIER = "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    java = tmp_path / "jvm"
    _program(java / "bin" / "java", PRINTS)
    _program(java / "bin" / "jps", PRINTS)
    (java / "release").write_text("17")
    _program(tmp_path / "spark" / "bin" / "spark-submit", DUMPS.format(log=tmp_path / "dumps"))
    return Parts(java, tmp_path / "spark", tmp_path / "bin" / "python", PROGRAMS)


def _added(home: Path, *words: str, **variables: str) -> set[str]:
    done = subprocess.run([home / "bin" / "java", *words], env=variables, capture_output=True, text=True, check=True)
    given = done.stdout.splitlines()
    assert given[-len(words) :] == list(words)  # in front, so that whatever is given later wins
    return set(given[: -len(words)])


MASTER, LAUNCHER = "org.apache.spark.deploy.master.Master", "org.apache.spark.launcher.Main"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@pytest.mark.parametrize(
    ("words", "added", "archive"),
    [
        (("-Xmx256m", MASTER), {SERIAL, ONE_TIER}, True),
        (("-Xmx1536M", EXECUTOR), {SERIAL}, True),
        (("-Xmx1g", EXECUTOR), {SERIAL}, True),
        (("-Xmx1792M", EXECUTOR), set(), True),
        (("-Xmx8g", EXECUTOR), set(), True),
        (("-Xmx512m", "-XX:+UseG1GC", EXECUTOR), set(), True),
        (("-Xmx512m", "-XX:-TieredCompilation", MASTER), {SERIAL}, True),
        (("-Xmx512m", "-XX:SharedArchiveFile=mine", EXECUTOR), {SERIAL}, False),
        (("-Xmx512m", "-Xshare:off", EXECUTOR), {SERIAL}, False),
        (("-Xmx128m", LAUNCHER, EXECUTOR), {SERIAL, ONE_TIER}, False),
        (("-Xmx512m", "-jar", "mine.jar"), set(), True),
    ],
)
def test_options_are_added_unless_they_are_given(
    words: tuple[str, ...], added: set[str], archive: bool, parts: Parts, tmp_path: Path
) -> None:
    home = java_home(tmp_path, parts)
    found = _added(home, *words)
    assert {option for option in found if "haredArchive" not in option and "log" not in option} == added
    assert (f"-XX:SharedArchiveFile={home}/spark.jsa" in found) is archive


@pytest.mark.parametrize(
    ("class_path", "ordered"),
    [
        ("{jars}", "{sorted}"),
        ("{settings}:{jars}", "{sorted}:{settings}"),
        ("/absent/conf/:{jars}:/hadoop", "{sorted}:/absent/conf/:/hadoop"),
        (
            "/jars/stocator-1.1.4.jar:/jars/joss-0.10.3.jar:{settings}/:{jars}:{settings}/",
            "{sorted}:/jars/stocator-1.1.4.jar:/jars/joss-0.10.3.jar:{settings}/:{settings}/",
        ),
        ("/opt/stocator/*:{settings}:{jars}", "{sorted}:/opt/stocator/*:{settings}"),
        ("{classes}:{jars}", None),
        ("{mine}:{settings}:{jars}", None),
        ("{settings}:{mine}:{jars}", None),
        ("/mine/*:{jars}", None),
        (":{jars}", None),
        ("{mine}", None),
    ],
)
def test_only_what_means_the_same_behind_goes_behind_sparks_jars(
    class_path: str, ordered: str | None, parts: Parts, tmp_path: Path
) -> None:
    """Classes and jars of the user stay in front, without an archive then."""
    for place in ("jars", "settings", "classes"):
        (tmp_path / place).mkdir()
    for name in ("settings/spark-defaults.conf", "settings/core-site.xml", "classes/Mine.class", "mine.jar"):
        (tmp_path / name).write_text("")
    jars = parts.spark / "jars"
    jars.mkdir()
    for name in ("b.jar", "a.jar", "Z.jar", "note.txt"):
        (jars / name).write_text("")
    places = {place: str(tmp_path / place) for place in ("settings", "classes")}
    places |= {"mine": str(tmp_path / "mine.jar"), "jars": f"{jars}/*"}
    places["sorted"] = ":".join(str(jars / name) for name in ("Z.jar", "a.jar", "b.jar"))
    home = java_home(tmp_path, parts)
    given = ["-cp", class_path.format_map(places), EXECUTOR, "-cp", "an argument of the program"]
    done = subprocess.run(
        [home / "bin" / "java", *given],
        env={"SPARK_HOME": str(parts.spark)},
        capture_output=True,
        text=True,
        check=True,
    )
    wanted = [given[0], (ordered or class_path).format_map(places), *given[2:]]
    assert done.stdout.splitlines()[-len(wanted) :] == wanted


def test_options_of_the_environment_are_given_ones(parts: Parts, tmp_path: Path) -> None:
    home = java_home(tmp_path, parts)
    assert SERIAL not in _added(home, "-Xmx512m", EXECUTOR, JDK_JAVA_OPTIONS="-XX:+UseParallelGC")
    assert _added(home, "-Xmx512m", EXECUTOR, ZOE_JAVA_PLAIN="1") == set()


def test_it_is_made_once_also_by_several_at_once(parts: Parts, tmp_path: Path) -> None:
    starts = [threading.Thread(target=java_home, args=(tmp_path, parts)) for _ in range(4)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert (tmp_path / "dumps").read_text() == "dump\n"
    assert (java_home(tmp_path, parts) / "bin" / "jps").resolve() == parts.java / "bin" / "jps"


@pytest.mark.parametrize("damage", ["broken", "truncated", "missing", "of another JVM"])
def test_unusable_archive_is_made_again(damage: str, parts: Parts, tmp_path: Path) -> None:
    archive = java_home(tmp_path, parts) / "spark.jsa"
    if damage == "of another JVM":
        (parts.java / "release").write_text("21")
    elif damage == "missing":
        archive.unlink()
    else:
        archive.write_text("clasXes\n" if damage == "broken" else "cla")
    archive = java_home(tmp_path, parts) / "spark.jsa"
    assert (archive.read_text(), (tmp_path / "dumps").read_text()) == ("classes\n", "dump\ndump\n")


@pytest.mark.parametrize("text", ["#!/bin/sh\necho no space left >&2; exit 1\n", "#!/bin/sh\n", None])
def test_spark_starts_without_it_if_it_cannot_be_made(
    text: str | None, parts: Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    submit = parts.spark / "bin" / "spark-submit"
    if text is None:
        submit.unlink()
    else:
        _program(submit, text)
    assert java_home(tmp_path, parts) == parts.java
    assert java_home(tmp_path, parts) == parts.java
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "Spark starts without an archive of its classes, which takes longer"
    ]
    assert not list(tmp_path.glob("java-*"))


def test_after_a_day_it_is_tried_again(parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_busy(*_: object, **_given: object) -> None:
        raise subprocess.TimeoutExpired("make-java", 600)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(subprocess, "run", too_busy)
        assert java_home(tmp_path, parts) == parts.java
    assert java_home(tmp_path, parts) == parts.java
    yesterday_s = time.time() - 90_000
    os.utime(tmp_path / "zoe-java.failed", (yesterday_s, yesterday_s))
    assert java_home(tmp_path, parts) != parts.java


def test_an_interrupt_is_no_failure(parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **_given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(subprocess, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            java_home(tmp_path, parts)
    assert java_home(tmp_path, parts) != parts.java


def test_a_runtime_that_cannot_be_written_is_used_as_it_is(
    parts: Parts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert java_home(tmp_path / "absent", parts) == parts.java
    assert "without an archive" in caplog.text


def test_two_versions_of_zoe_have_their_own_and_what_nobody_uses_goes(parts: Parts, tmp_path: Path) -> None:
    before = java_home(tmp_path, parts)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("make-java", "zoe-java", "load_classes.py"):
        _program(programs / name, (PROGRAMS / name).read_text() + "# changed\n")
    after = java_home(tmp_path, replace(parts, programs=programs))
    assert (after / "bin" / "java").read_text().endswith("# changed\n")
    assert java_home(tmp_path, parts) == before != after
    os.utime(before / "spark.jsa.sha256", (0, 0))
    java_home(tmp_path, replace(parts, programs=programs))
    assert (before.exists(), after.exists()) == (False, True)
