"""What goes into an image decides whether it is built again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts.images import build, debian, gathering
from scripts.images.__main__ import main
from scripts.images.build import key_of
from scripts.images.recipes import RECIPES, with_bases


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the images' folder, used in its place."""
    copy = tmp_path / "images"
    shutil.copytree(build.IMAGES, copy)
    monkeypatch.setattr(build, "IMAGES", copy)
    return copy


def keys() -> dict[str, str]:
    return {name: key_of(name) for name in RECIPES}


def changed(before: dict[str, str]) -> set[str]:
    return {name for name, key in keys().items() if key != before[name]}


def test_an_image_is_asked_for_with_what_it_is_built_upon() -> None:
    assert with_bases(["jupyter-spark"]) == ["base", "spark", "jupyter", "jupyter-spark"]
    assert with_bases(["tiny"]) == ["tiny"]
    assert with_bases(RECIPES) == list(RECIPES)


def test_every_recipe_has_its_dockerfile_and_every_dockerfile_its_recipe() -> None:
    assert {path.parent.name for path in build.IMAGES.glob("*/Dockerfile")} == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_dockerfile_names_the_base_of_its_recipe(name: str) -> None:
    recipe = RECIPES[name]
    base = f"zoe/{recipe.base}" if recipe.base else debian.BASE if recipe.from_debian else "scratch"
    lines = (build.IMAGES / name / "Dockerfile").read_text().splitlines()
    assert {line.split()[1] for line in lines if line.startswith("FROM ")} == {base}


def test_a_changed_file_changes_its_image_and_those_built_upon_it(folder: Path) -> None:
    before = keys()
    assert keys() == before
    (folder / "spark" / "spark-defaults.conf").write_text("spark.ui.enabled false\n")
    assert changed(before) == {"spark", "jupyter", "jupyter-spark"}


def test_the_mode_of_a_file_counts(folder: Path) -> None:
    before = keys()
    (folder / "mpi" / "zoe-mpi-run").chmod(0o600)
    assert changed(before) == {"mpi"}


def test_another_mirror_changes_all_that_comes_from_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    monkeypatch.setenv("ZOE_DEBIAN_MIRROR", "http://snapshot.debian.org/archive/debian/20260101T000000Z/")
    assert changed(before) == set(RECIPES) - {"tiny"}


def test_a_new_authority_changes_all_that_comes_from_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    (tmp_path / "ours.crt").write_text("a certificate")
    monkeypatch.setattr(gathering, "_AUTHORITIES", tmp_path)
    assert changed(before) == set(RECIPES) - {"tiny"}


def test_a_dated_mirror_has_its_security_beside_it() -> None:
    text = debian.sources("http://snapshot.debian.org/archive/debian/20260101T000000Z")
    assert "URIs: http://snapshot.debian.org/archive/debian/20260101T000000Z\n" in text
    assert "URIs: http://snapshot.debian.org/archive/debian-security/20260101T000000Z\n" in text
    assert text.count("Check-Valid-Until: no") == 2
    assert "Check-Valid-Until" not in debian.sources(debian.DEFAULT_MIRROR)


def test_the_bootstrapped_base_loses_what_nobody_reads(tmp_path: Path) -> None:
    for name in ("usr/share/doc/bash/copyright", "usr/share/doc/bash/NEWS", "usr/share/locale/fr/x.mo", "var/log/a.log",
                 "var/cache/apt/archives/a.deb", "var/lib/apt/lists/packages", "etc/apt/apt.conf.d/x",
                 "etc/dpkg/dpkg.cfg.d/x", "usr/share/info/x", "usr/share/man/man1/ls.1"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    debian.make_slim(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {name for name in left if not name.startswith("etc/")} == {"usr/share/doc/bash/copyright"}
    assert "path-exclude /usr/share/doc/*" in (tmp_path / "etc/dpkg/dpkg.cfg.d/docker").read_text()


def test_an_unknown_image_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spork"]) == 2
    assert "unknown: spork; there are tiny, base, spark" in capsys.readouterr().err
