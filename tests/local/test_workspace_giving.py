"""The workspace of a user who leaves: real files of real users, given away by root."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import ANN, BOB, IS_ROOT, LocalWorld, needs_root, shell, start_of
from tests.support.files import FileProgram
from zoe_master.backends.base import MovedWorkspace, MoveState, ObservedState, SystemUser, WorkspaceMove
from zoe_master.backends.workspaces import program as workspace_program
from zoe_master.backends.workspaces.moves import WorkspaceMoves

CAROL = SystemUser(450_003, 450_009)
MOVE = WorkspaceMove("tenant", "ann", "bob", ANN, BOB)


@pytest.fixture
def holder(world: LocalWorld) -> Path:
    """The tenant's directory, with files of ann and bob."""
    for user, number in (("ann", ANN), ("bob", BOB)):
        with FileProgram(world.backend.files("tenant", user, number)) as program:
            program.put_file("mine", user.encode())
    return world.settings.workspaces_dir / "tenant"


def moved(world: LocalWorld, move: WorkspaceMove = MOVE) -> MovedWorkspace:
    """Return the result of the move."""
    done: list[MovedWorkspace] = []
    world.until(lambda: done.append(world.backend.move_workspace(move)) or done[-1].state is not MoveState.MOVING)
    return done[-1]


def owned(path: Path, number: SystemUser = ANN) -> Path:
    if IS_ROOT:
        os.chown(path, number.uid, number.gid, follow_symlinks=False)
    return path


def owners_of(tree: Path) -> set[int]:
    return {path.lstat().st_uid for path in (tree, *tree.rglob("*"))}


def test_files_of_all_kinds_are_the_heirs(world: LocalWorld, holder: Path) -> None:
    mine = holder / "ann"
    deep = mine
    for mode in (0o700, 0o700, 0):
        deep = owned(owned_directory(deep / "d"))
        deep.chmod(mode)
    (mine / "link").symlink_to("/etc/passwd")
    (mine / "dangling").symlink_to("nowhere")
    os.mkfifo(mine / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(mine / "socket"))
    (mine / "program").write_text("x")
    for name in ("link", "dangling", "pipe", "socket", "program"):
        owned(mine / name)
    (mine / "program").chmod(0o4755)
    etc = Path("/etc/passwd").stat()
    assert moved(world) == MovedWorkspace(MoveState.MOVED, directory="from-ann")
    given = holder / "bob" / "from-ann"
    assert not mine.exists()
    assert (given / "mine").read_bytes() == b"ann"
    assert (given / "link").readlink() == Path("/etc/passwd")
    assert Path("/etc/passwd").stat().st_uid == etc.st_uid
    if IS_ROOT:
        assert owners_of(given) == {BOB.uid}
        assert (given / "mine").stat().st_gid == ANN.gid
        assert not (given / "program").stat().st_mode & 0o4000
    with FileProgram(world.backend.files("tenant", "bob", BOB)) as program:
        assert program.content("from-ann/mine").content == b"ann"
    assert moved(world) == MovedWorkspace(MoveState.NOTHING)


def test_it_waits_for_services_that_use_them_also_those_of_an_earlier_master(world: LocalWorld, holder: Path) -> None:
    world.start(shell("echo $$ > {workspace}/pid; exec sleep 600"))
    world.until_state("e.c.0.1", ObservedState.READY)
    for _ in range(2):
        waits = world.backend.move_workspace(MOVE)
        assert waits.state is MoveState.WAITING
        assert "e still run as ann" in waits.message
        world.close()
    if IS_ROOT:
        assert owners_of(holder / "ann") == {ANN.uid}
    world.backend.stop(["e.c.0.1"])
    world.ended("e.c.0.1")
    assert moved(world).state is MoveState.MOVED


def test_services_of_others_do_not_hold_it_up(world: LocalWorld, holder: Path) -> None:
    world.backend.start(start_of(shell("exec sleep 600"), user="bob", system_user=BOB))
    world.until_state("e.c.0.1", ObservedState.READY)
    assert moved(world).state is MoveState.MOVED


def test_the_name_is_free_whatever_the_heir_has_there(world: LocalWorld, holder: Path) -> None:
    elsewhere = owned_directory(world.base / "elsewhere")
    (holder / "bob" / "from-ann").symlink_to(elsewhere)
    owned_directory(holder / "bob" / "from-ann-2")
    (holder / "bob" / "from-ann-2" / "kept").write_text("kept")
    (holder / "bob" / "from-ann-3").write_text("kept")
    assert moved(world).directory == "from-ann-4"
    assert list(elsewhere.iterdir()) == []
    assert (holder / "bob" / "from-ann-2" / "kept").read_text() == "kept"
    assert (holder / "bob" / "from-ann-4" / "mine").read_bytes() == b"ann"


def owned_directory(path: Path) -> Path:
    path.mkdir()
    return path


@needs_root
def test_only_what_the_former_user_has_changes_its_owner(world: LocalWorld, holder: Path) -> None:
    theirs, tool = holder / "ann" / "of-carol", holder / "ann" / "of-root"
    for path in (theirs, tool):
        path.write_text("x")
    owned(theirs, CAROL)
    moved(world)
    given = holder / "bob" / "from-ann"
    assert (given / "of-carol").stat().st_uid == CAROL.uid
    assert (given / "of-root").stat().st_uid == 0
    assert (holder / "bob" / "mine").stat().st_uid == BOB.uid


@needs_root
def test_a_user_who_swaps_files_for_links_gives_away_nothing_else(world: LocalWorld, holder: Path) -> None:
    """An unknown program of the former user changes the tree all the time."""
    victim = world.base / "victim"
    victim.mkdir()
    (victim / "file").write_text("x")
    mine, stop = holder / "ann", threading.Event()
    for number in range(300):
        owned_tree(mine / f"d{number}")

    def swap() -> None:
        number = 0
        while not stop.is_set():
            number = (number + 1) % 300
            place = mine / f"d{number}"
            try:
                place.rename(mine / f"was{number}")
                place.symlink_to(victim)
                place.unlink()
                (mine / f"was{number}").rename(place)
            except OSError:
                continue

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        assert moved(world).state is MoveState.MOVED
    finally:
        stop.set()
        swapping.join()
    assert owners_of(victim) == {0}


def owned_tree(path: Path) -> None:
    owned(owned_directory(path))
    owned_file(path / "file")


# Runs the program, which is killed before its step of that number.
KILLED = """
import os, signal, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import program
left = int(sys.argv[2])
del sys.argv[1:3]
def counted(step):
    def run(*args):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*args)
    return run
program._change_owner = counted(program._change_owner)
program.rename_into_heir = counted(program.rename_into_heir)
program.main()
"""


@needs_root
@pytest.mark.parametrize("step", [0, 1, 20, 51, 52])
def test_after_a_kill_at_any_step_the_next_move_goes_on(world: LocalWorld, holder: Path, step: int) -> None:
    """There are 51 files, and their directory, to give; then this is renamed."""
    for number in range(50):
        owned_file(holder / "ann" / f"f{number}")
    arguments = [workspace_program.__file__, str(step), str(holder), "ann", "bob", str(ANN.uid), str(BOB.uid)]
    killed = subprocess.run([sys.executable, "-I", "-S", "-c", KILLED, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    given = sum(path.lstat().st_uid == BOB.uid for path in (holder / "ann", *(holder / "ann").iterdir()))
    assert given == step
    assert not (holder / "bob" / "from-ann").exists()
    assert moved(world).directory == "from-ann"
    assert owners_of(holder / "bob" / "from-ann") == {BOB.uid}
    assert len(list((holder / "bob" / "from-ann").iterdir())) == 51


def owned_file(path: Path) -> Path:
    path.write_text("x")
    return owned(path)


@needs_root
def test_a_deep_tree_is_given_too(world: LocalWorld, holder: Path) -> None:
    directory = os.open(holder / "ann", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=directory)
        os.chown("d", ANN.uid, ANN.gid, dir_fd=directory)
        deeper = os.open("d", os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = deeper
    assert moved(world).state is MoveState.MOVED
    assert os.fstat(directory).st_uid == BOB.uid
    os.close(directory)
    subprocess.run(["rm", "-rf", holder / "bob" / "from-ann"], check=True)


def test_the_program_that_serves_them_ends_before(world: LocalWorld, holder: Path) -> None:
    record = world.settings.state_dir / "files" / "tenant+ann.json"
    assert record.exists()
    moved(world)
    assert not record.exists()


def test_one_move_at_a_time_and_only_to_one_user() -> None:
    moves, held = WorkspaceMoves(), threading.Event()

    def work(_closing: threading.Event) -> str:
        assert held.wait(30)
        return "from-ann"

    assert moves.begin_or_poll(MOVE, work).state is MoveState.MOVING
    other = moves.begin_or_poll(replace(MOVE, to="carol", to_system_user=CAROL), work)
    assert (other.state, other.message) == (MoveState.FAILED, "the files of ann are being given to bob")
    held.set()
    assert moves.begin_or_poll(MOVE, work) == MovedWorkspace(MoveState.MOVED, directory="from-ann")
    assert not moves.is_active(MOVE)


def test_user_without_files_has_nothing_to_move(world: LocalWorld) -> None:
    assert moved(world) == MovedWorkspace(MoveState.NOTHING)
    assert not (world.settings.workspaces_dir / "tenant").exists()


def test_unmovable_workspace_stays_and_is_reported(world: LocalWorld, holder: Path) -> None:
    (holder / "ann").rename(holder / "elsewhere")
    (holder / "ann").symlink_to("elsewhere")
    told = moved(world)
    assert told.state is MoveState.FAILED
    assert f"the files of ann in {holder / 'ann'} cannot be moved" in told.message
    assert (holder / "elsewhere" / "mine").read_bytes() == b"ann"
