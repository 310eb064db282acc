"""Environments of Python packages: made once, by the user, from wheels, and used read-only."""

from __future__ import annotations

import os
import py_compile
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path

import pip
import pytest

from tests.local.support import ANN, BOB, MIB, LocalWorld, needs_root, shell, start_of
from tests.local.wheels import make_wheel, wheelhouse
from tests.support.waiting import until
from zoe_lib.domain.applications.application import Component, ComponentSecret
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState, ServiceSecrets
from zoe_master.backends.environments import build
from zoe_master.backends.local.environments import environments
from zoe_master.backends.local.supervisor import processes

SHOW = "import apple, sys; print(apple.VERSION, sys.prefix)"


@pytest.fixture
def packages() -> Iterator[Path]:
    directory = wheelhouse()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def shared_pip() -> Iterator[Path]:
    """A copy of pip, made as each back-end makes its own: half a second of work for a thousand files."""
    directory = Path(tempfile.mkdtemp(prefix="zoe-local-test-pip-"))
    assert pip.__file__ is not None
    environments._copy_readable(Path(pip.__file__).parent, directory)
    yield directory / "pip"
    shutil.rmtree(directory)


@pytest.fixture
def lent_pip(shared_pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-ends take the shared copy instead of making one."""

    def link(_: Path, place: Path) -> None:
        place.mkdir()
        place.chmod(0o755)
        (place / "pip").symlink_to(shared_pip)

    monkeypatch.setattr(environments, "_copy_readable", link)


@pytest.fixture
def world(packages: Path, lent_pip: None) -> Iterator[LocalWorld]:
    yield from world_with(packages)


@pytest.fixture
def copying_world(packages: Path) -> Iterator[LocalWorld]:
    """Whose back-end copies pip."""
    yield from world_with(packages)


def world_with(packages: Path) -> Iterator[LocalWorld]:
    made = LocalWorld(environment_wheelhouse=str(packages))
    yield made
    for path in (made.base / ".environments").rglob("*"):  # root may remove it without
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    made.finish()


def with_packages(script: str, *requirements: str, **changes: object) -> Component:
    return shell(script, requirements=requirements, **changes)


def run(world: LocalWorld, component: Component, service: str = "e.c.0.1", **changes: object) -> str:
    world.backend.start(start_of(component, service, **changes))
    world.ended(service)
    return world.output(service)


def made(world: LocalWorld) -> list[Path]:
    return sorted(path.parent for path in (world.base / ".environments").glob(f"*/*/{build.MARKER}"))


def test_a_component_finds_its_packages(copying_world: LocalWorld) -> None:
    world = copying_world
    output = run(world, with_packages(f"python3 -c '{SHOW}' && apple && echo $VIRTUAL_ENV", "apple==1.0"))
    (directory,) = made(world)
    assert output.splitlines()[-3:] == [f"1.0 {directory}", "apple 1.0", str(directory)]
    assert "zoe: making an environment of apple==1.0" in output


def test_pip_is_copied_with_what_can_be_read_of_its_bytecode(tmp_path: Path) -> None:
    """Otherwise each build compiles it; and nothing in a cache keeps it from being copied."""
    package, cache = tmp_path / "some", tmp_path / "some" / "__pycache__"
    package.mkdir()
    for name in ("good", "gone"):
        (package / f"{name}.py").write_text("x = 1\n")
        py_compile.compile(str(package / f"{name}.py"))
    gone = Path(cache_from_source(str(package / "gone.py")))
    gone.unlink()
    gone.symlink_to(tmp_path / "nothing")
    (cache / "good.cpython-99.pyc").touch()
    environments._copy_readable(package, tmp_path / "copy")
    copied = tmp_path / "copy" / "some"
    (compiled,) = (copied / "__pycache__").iterdir()
    assert compiled == Path(cache_from_source(str(copied / "good.py")))
    assert int.from_bytes(compiled.read_bytes()[8:12], "little") == int((copied / "good.py").stat().st_mtime)
    assert (copied / "gone.py").exists()


def test_environment_is_reused(world: LocalWorld) -> None:
    run(world, with_packages("true", "apple==1.0"))
    again = run(world, with_packages("apple", "apple==1.0"), "f.c.0.1")
    assert again == "apple 1.0\n"
    assert run(world, with_packages("apple", "apple"), "g.c.0.1").endswith("apple 2.0\n")
    assert len(made(world)) == 2


def test_two_equal_lists_at_the_same_time_make_one(world: LocalWorld) -> None:
    services = [f"e{number}.c.0.1" for number in range(4)]
    for service in services:
        world.start(with_packages("apple", "apple", "pear"), service)
    for service in services:
        assert world.ended(service).exit_code == 0
    outputs = [world.output(service) for service in services]
    assert sum("making an environment" in output for output in outputs) == 1
    assert all(output.endswith("apple 1.0\n") for output in outputs)
    assert len(made(world)) == 1


def test_an_execution_that_prepares_is_starting_and_says_so(world: LocalWorld) -> None:
    service = world.start(with_packages("true", "pear"))
    seen = until(lambda: told if (told := world.seen(service)) and told.message else None)
    assert seen is not None
    assert (seen.state, seen.message) == (ObservedState.STARTING, "making the environment of pear")
    assert seen.started_at_s is None
    assert world.ended(service).message == ""


def test_a_list_that_cannot_be_solved_is_explained(world: LocalWorld) -> None:
    world.start(with_packages("echo ran", "apple==2.0", "pear"))
    ended = world.ended("e.c.0.1")
    assert (ended.cause, ended.exit_code) == (Cause.START_FAILED, None)
    assert ended.message.startswith("making the environment of apple==2.0, pear failed: Cannot install")
    assert "pear 1.0 depends on apple<2" in ended.message
    assert "ran" not in world.output("e.c.0.1").splitlines()
    assert not made(world)


def test_a_missing_package_is_named(world: LocalWorld) -> None:
    world.start(with_packages("echo ran", "nosuch"))
    assert "No matching distribution found for nosuch; only packages with a wheel" in world.ended("e.c.0.1").message


def make_source(packages: Path, program: str) -> None:
    """Put the source of a package `fig` into the wheelhouse, whose build runs a program first."""
    source = packages / "fig-1.0"
    source.mkdir()
    backend = (
        f"import sys\nsys.path.insert(0, {str(packages)!r})\n"
        "from pathlib import Path\nfrom wheels import make_wheel\n"
        f"def build_wheel(where, *_):\n    {program}\n    return make_wheel(Path(where), 'fig').name\n"
    )
    (source / "backend.py").write_text(backend)
    shutil.copy(Path(__file__).with_name("wheels.py"), packages)
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "fig"\nversion = "1.0"\n'
    )
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: fig\nVersion: 1.0\n")
    subprocess.run(["tar", "-C", packages, "-czf", packages / "fig-1.0.tar.gz", "fig-1.0"], check=True)


def test_a_source_is_built_only_on_request(world: LocalWorld, packages: Path) -> None:
    make_source(packages, "pass")
    world.start(with_packages("fig", "fig"))
    assert "No matching distribution found for fig" in world.ended("e.c.0.1").message
    assert run(world, with_packages("fig", "fig", build_requirements=True), "f.c.0.1").endswith("fig 1.0\n")


@needs_root
def test_a_build_sees_no_secret_of_its_service_which_gets_it_later(world: LocalWorld, packages: Path) -> None:
    make_source(packages, "import os; os.listdir(os.environ['HOME']); os.listdir(os.environ['HOME'] + '/zoe-secrets')")
    asked, given = (ComponentSecret("db", "db"),), ServiceSecrets({"db": "hidden"})
    built = with_packages("true", "fig", build_requirements=True, secrets=asked)
    output = run(world, built, secrets=given)
    assert "PermissionError: [Errno 13] Permission denied" in output
    assert "zoe-secrets" in output
    read = with_packages("cat {secrets}/db", "apple", secrets=asked)
    assert run(world, read, "f.c.0.1", secrets=given).endswith("hidden")


@needs_root
def test_neither_a_service_nor_another_user_can_change_it(world: LocalWorld) -> None:
    run(world, with_packages("true", "apple==1.0"))
    (directory,) = made(world)
    module = next(directory.rglob("apple.py"))
    poison = f"chmod -R u+w {directory}; echo 'VERSION = 666' > {module}; touch {directory}/more"
    for number, requirements in enumerate([("apple==1.0",), ()]):
        run(world, shell(poison, requirements=requirements), f"p{number}.c.0.1")
    assert run(world, with_packages("apple", "apple==1.0"), "g.c.0.1") == "apple 1.0\n"
    assert not (directory / "more").exists()
    run(world, with_packages("true", "apple==1.0"), "h.c.0.1", user="bob", system_user=BOB)
    assert len(made(world)) == 2
    assert (directory.parent.stat().st_uid, directory.parent.stat().st_mode & 0o777) == (ANN.uid, 0o700)


def test_environment_is_read_only_without_set_user_id(world: LocalWorld, packages: Path) -> None:
    make_wheel(packages, "odd", mode=0o6777)
    run(world, with_packages("true", "odd"))
    (directory,) = made(world)
    modes = {path: path.lstat().st_mode & 0o7222 for path in directory.rglob("*") if not path.is_symlink()}
    assert modes
    assert {path: mode for path, mode in modes.items() if mode and path.name != build.MARKER} == {}


def test_links_that_lead_out_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("/usr/bin/python3")
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").symlink_to("a")
    build._seal(str(tmp_path))
    for bad in ("/etc/passwd", "../x", "bin/../../x"):
        (tmp_path / "bad").symlink_to(bad)
        with pytest.raises(build.BuildFailed, match="contains a link out of the environment: bad"):
            build._seal(str(tmp_path))
        (tmp_path / "bad").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(build.BuildFailed, match="not a regular file: pipe"):
        build._seal(str(tmp_path))


def test_a_killed_build_leaves_nothing_that_is_used(world: LocalWorld, packages: Path) -> None:
    make_wheel(packages, "slow", files={f"part{n}.py": "x = 1\n" * 2000 for n in range(200)})
    service = world.start(with_packages("slow", "slow"))
    world.until(lambda: list((world.base / ".environments").glob("[!.]*/*/**/part*")))
    killed = [pid for pid in processes.descendants(os.getpid()) if b'"requirements"' in command_line(pid)]
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert world.ended(service).cause in (Cause.START_FAILED, Cause.KILLED)
    assert not made(world)
    assert run(world, with_packages("slow", "slow"), "f.c.0.1").endswith("slow 1.0\n")


def test_a_stop_during_a_build_ends_it(world: LocalWorld, packages: Path) -> None:
    make_wheel(packages, "slow", files={f"part{n}.py": "x = 1\n" * 2000 for n in range(400)})
    service = world.start(with_packages("slow", "slow"))
    world.until(lambda: (seen := world.seen(service)) and seen.message)
    world.backend.stop([service])
    ended = world.ended(service)
    assert (ended.cause, ended.exit_code, ended.started_at_s) == (Cause.STOPPED, None, None)
    assert not made(world)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"environment_build_s_max": 0.2}, "not done within 0.2 s"), ({"environment_bytes_max": MIB // 4}, "0.25 MiB")],
)
@pytest.mark.usefixtures("lent_pip")
def test_time_and_bytes_are_bounded(packages: Path, limit: dict[str, object], reason: str) -> None:
    make_wheel(packages, "large", files={f"part{n}.py": "x = 1\n" * 2000 for n in range(100)})
    world = LocalWorld(environment_wheelhouse=str(packages), **limit)
    try:
        world.start(with_packages("large", "large"))
        assert reason in world.ended("e.c.0.1").message
        assert not made(world)
    finally:
        world.finish()


def test_the_sweep_takes_the_oldest_and_leaves_what_is_used(world: LocalWorld) -> None:
    for number, line in enumerate(["apple==1.0", "apple==2.0", "pear"]):
        run(world, with_packages("true", line), f"e{number}.c.0.1")
        time.sleep(0.02)  # so that the times of use differ
    assert world.backend.sweep_environments() == 0
    assert len(made(world)) == 3
    used = world.start(with_packages("exec sleep 100", "apple==1.0"), "u.c.0.1")
    world.until_state(used, ObservedState.READY)
    world.close()
    world.settings = replace(world.settings, environments_bytes_max=0)
    world.backend.sweep_environments()
    world.until(lambda: len(made(world)) == 1)  # the new back-end sweeps too, when it opens
    assert next(made(world)[0].rglob("apple.py")).read_text().startswith("VERSION = '1.0'")
    world.backend.stop([used])
    world.ended(used)
    world.backend.sweep_environments()
    assert not list((world.base / ".environments").glob("[!.]*/*"))


@needs_root
@pytest.mark.parametrize("size", ["2m", "40m"])
def test_a_full_disk_is_named(packages: Path, size: str) -> None:
    """By the copy of pip, and by what pip installs."""
    make_wheel(packages, "large", files={f"part{n}.txt": "x = 1\n" * 100_000 for n in range(80)})
    base = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    base.chmod(0o711)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=711", "none", base], check=True)
    world = LocalWorld(environment_wheelhouse=str(packages), environments_dir=base)
    try:
        world.start(with_packages("large", "large"))
        ended = world.ended("e.c.0.1")
        assert ended.cause is Cause.DISK_FULL, ended
        assert not list(base.glob(f"*/*/{build.MARKER}"))
    finally:
        world.finish()
        subprocess.run(["umount", base], check=True)
        base.rmdir()


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_places_without_packages_are_named(world: LocalWorld) -> None:
    world.close()
    plain = world.settings
    index = replace(plain, environment_wheelhouse="", environment_index_url="http://me:hidden@127.0.0.1:9/simple")
    for service, settings, words in (
        ("e.c.0.1", index, "the package index http://127.0.0.1:9/simple does not answer: Connection refused"),
        (
            "f.c.0.1",
            replace(plain, environment_wheelhouse="/nowhere"),
            "the directory of wheels /nowhere does not exist",
        ),
    ):
        world.settings = settings
        world.backend.start(start_of(with_packages("echo ran", "nosuch"), service))
        message = world.ended(service).message
        assert words in message
        assert "hidden" not in message
        world.close()
