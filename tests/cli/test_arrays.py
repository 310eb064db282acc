"""run --array, ls, wait, cancel and array over the real API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.support.stack import zoe as process
from zoe_embedded.stack import Stack

pytestmark = pytest.mark.usefixtures("server")
COMMAND = ("run", "--image", "tiny", "--workers", "2")


def array_of(zoe: Zoe, app_file: Path, *more: str) -> str:
    """Submit an array, and return its id."""
    done = zoe("run", str(app_file), "--array", "0-9%2", "-o", "name", *more)
    assert done.code == 0, done.err
    return done.out.strip()


def test_its_deadline_is_shown(zoe: Zoe, app_file: Path) -> None:
    array_id = array_of(zoe, app_file, "--deadline", "2060-12-01 08:00")
    shown = [line.split() for line in zoe("array", "show", array_id).out.splitlines()]
    assert ["deadline", "2060-12-01"] in [words[:2] for words in shown]


def test_reasons_and_forecasts_are_also_those_of_an_array_without_executions(zoe: Zoe, app_file: Path) -> None:
    held, array_id = array_of(zoe, app_file, "--hold"), array_of(zoe, app_file)
    for command in ("explain", "eta"):
        done = zoe(command, array_id)
        assert (done.code, done.err) == (0, "")
        assert done.out == "Its indices: 10 waiting.\nThe master has not made executions of its waiting indices yet.\n"
        assert zoe(command, held).out.splitlines()[1:] == [
            "It is held.",
            f"Hint: `zoe release {held}` lets it into the queue",
        ]
    assert [row.split()[0] for row in zoe("ls", "--sort", "-age").out.splitlines()[1:]][-1] == array_id


def test_an_array_is_one_row(zoe: Zoe, app_file: Path) -> None:
    array_id = array_of(zoe, app_file)
    row = next(line for line in zoe("ls").out.splitlines() if line.startswith(array_id))
    assert "[0-9%2]" in row
    assert row.split()[3:5] == ["submitted", "0/10"]
    assert json.loads(zoe("ls", "-o", "json").out)["arrays"][0]["id"] == array_id
    assert array_id not in zoe("ls", "--unfold").out  # no master has made its executions
    assert array_id in zoe("array", "ls", "--open").out
    shown = zoe("array", "show", array_id).out
    assert "10 waiting" in shown
    assert "waiting           indices 0-9\n" in shown


def test_hold_release_and_cancel_a_whole_array(zoe: Zoe, app_file: Path) -> None:
    array_id = array_of(zoe, app_file)
    assert zoe("hold", array_id).out.split()[-1] == "held"
    assert "10 waiting" in zoe("release", array_id).out
    assert zoe("release", array_id).err == f"{array_id} is not held: it stays submitted\n"
    assert zoe("array", "modify", array_id, "--at-once", "7").code == 0
    assert zoe("array", "modify", array_id, "--begin", "+3h", "--set", "main.resources.memory=2GiB").code == 0
    assert zoe("array", "modify", array_id).code == 2
    told = zoe("events", array_id).out
    assert "at once 2 to 7" in told
    assert "begin; component main" in told
    assert zoe("array", "modify", array_id, "--begin", "none").code == 0
    assert "at once           7" in zoe("array", "show", array_id).out
    assert "1 cancelled" in zoe("cancel", f"{array_id}_3").out
    assert "4 cancelled" in zoe("cancel", array_id, "--index", "3-5,9").out
    assert f"array {array_id} has no index 10" in zoe("cancel", f"{array_id}_10").err
    assert zoe("cancel", array_id, array_id, "--index", "3").code == 2
    assert zoe("cancel", array_id).out.split()[-1] == "cancelled"
    waited = zoe("wait", array_id)
    assert waited.code == 1
    assert f"({array_id}): indices 0-9 cancelled" in waited.err
    assert zoe("cancel", array_id).code == 0  # as with an execution that is cancelled already
    assert "10 waiting" in zoe("requeue", array_id).out
    nothing = f"no index of {array_id} has failed or was cancelled: nothing runs again\n"
    assert (zoe("requeue", array_id).err, zoe("array", "requeue", array_id).err) == (nothing, nothing)


def test_the_same_key_is_the_same_array(zoe: Zoe, app_file: Path) -> None:
    assert array_of(zoe, app_file, "--idempotency-key", "k") == array_of(zoe, app_file, "--idempotency-key", "k")


def test_instances_are_still_counted(zoe: Zoe) -> None:
    """`{index}` is the array's; the variable that counts instances of a command keeps its meaning."""
    shown = json.loads(zoe(*COMMAND, "--array", "0-9", "--show", "-o", "json", "--", "echo", "{index}").out)
    assert shown["components"][0]["environment"]["ZOE_INDEX"] == "{instance}"
    alone = json.loads(zoe(*COMMAND, "--show", "-o", "json", "--", "echo").out)
    assert alone["components"][0]["environment"]["ZOE_INDEX"] == "{index}"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--after", "corr:a00000000000000"), "is for arrays"),
        (("--array", "0-9", "--follow"), "--array cannot be combined"),
        (("--array", "0-99999999"), "more than an array may have"),
    ],
)
def test_impossible_array_is_refused(zoe: Zoe, app_file: Path, more: tuple[str, ...], said: str) -> None:
    done = zoe("run", str(app_file), *more)
    assert done.code != 0
    assert said in " ".join(done.err.split())


def test_words_of_a_command_have_the_index_and_no_other_template(stack: Stack) -> None:
    command = ("run", "--image", "tiny", "--array", "4-5", "-o", "name", "--memory", "32MiB", "--cores", "0.1", "--")
    array_id = process(stack, *command, "echo", "seed={index}", "{execution}", "{{index}}").stdout.strip()
    assert process(stack, "wait", array_id).returncode == 0
    for index in (4, 5):
        assert process(stack, "logs", f"{array_id}_{index}").stdout == f"seed={index} {{execution}} {{{index}}}\n"
    whole = process(stack, "run", "--image", "tiny", "--follow", "--", "echo", "{index}")
    assert whole.stdout.strip() == "{index}"


def test_cancel_by_name_and_state_and_all_of_yours(zoe: Zoe, app_file: Path) -> None:
    zoe("cancel", "--mine")  # of other tests
    array_id = array_of(zoe, app_file)
    for words in ((), (array_id, "--mine"), ("--mine", "--index", "3"), (array_id, "--index", "3", "--descendants")):
        assert zoe("cancel", *words).code == 2
    name = zoe("array", "show", array_id, "-o", "json").json()["name"]
    one = zoe("run", str(app_file), "-o", "name").out.strip()
    assert "nothing of it was active" in zoe("cancel", "--name", name[1:]).err
    assert zoe("cancel", "--mine", "--state", "running").out == ""
    done = zoe("cancel", "--name", name, "--state", "waiting", "-o", "json")
    assert set(done.json()["ids"]) == {f"{array_id}_0-9", one}
    assert zoe("array", "show", array_id, "-o", "json").json()["state"] == "cancelled"
    other = array_of(zoe, app_file)
    assert zoe("cancel", "--mine").out.split() == ["CANCELLED", other]
    again = zoe("cancel", "--descendants", other)
    assert (again.code, "nothing of it was active" in again.err) == (0, True)
    assert zoe("cancel", "--descendants", "x1m00000000none").code == 3
