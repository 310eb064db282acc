"""run and spark-submit with scripts and commands: the description that they make, and the way to a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Zoe
from tests.support.documents import job
from tests.support.stack import zoe as process
from zoe_client import Client
from zoe_client.calls.files import Files
from zoe_client.running import carried
from zoe_client.running.carried import CannotCarry
from zoe_embedded.stack import Stack
from zoe_lib.descriptions import parse


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a script and its data, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "more.py").write_text("FACTOR = 3\n")
    (tmp_path / "numbers.csv").write_text("1\n2\n")
    (tmp_path / "sums.py").write_text(
        "import sys\nfrom lib.more import FACTOR\n"
        "total = FACTOR * sum(int(line) for line in open(sys.argv[1]))\n"
        "open('result.txt', 'w').write(f'{total} {sys.argv[2]}\\n')\nprint(total, sys.argv[2])\n"
    )
    return tmp_path


def shown(zoe: Zoe, *arguments: str) -> dict[str, Any]:
    """Return the description that a command would submit, which must be valid."""
    done = zoe(*arguments)
    assert done.code == 0, done.err
    document: dict[str, Any] = done.json()
    parse(document)
    return document


def test_a_command_becomes_a_description(zoe: Zoe, here: Path) -> None:
    flags = ("--memory", "2GiB", "--cores", "0.5", "--name", "try", "--set", "main.environment.A=b", "--show")
    document = shown(zoe, "run", "--image", "python", *flags, "--", "python", "sums.py", "--epochs", "3", "{x}")
    component = document["components"][0]
    assert (document["name"], component["image"], component["ends_application"]) == ("try", "zoe/python", True)
    assert component["command"] == ["python3", "{files}/sums.py", "--epochs", "3", "{{x}}"]
    assert component["resources"] == {"memory": "2GiB", "cores": 0.5}
    assert component["files"] == {"sums.py": (here / "sums.py").read_text()}
    assert component["environment"] == {"HOME": "{workspace}", "A": "b"}


def test_an_application_has_the_same_name_with_and_without_show(stack: Stack, zoe: Zoe) -> None:
    """Prices and statements name applications."""
    command = ("run", "--image", "tiny", "--name", "my try: 1")
    document = shown(zoe, *command, "--show", "--", "true")
    made = json.loads(zoe(*command, "-o", "json", "--", "true").out)
    assert made["name"] == "my try: 1"
    assert document["name"] == "my try- 1"
    with Client(stack.url, stack.token) as client:
        assert client.execution(made["id"]).description["name"] == document["name"]


def test_a_description_keeps_its_name(zoe: Zoe, here: Path) -> None:
    (here / "app.json").write_text(json.dumps(job("true", name="kept")))
    done = zoe("run", "app.json", "--name", "other", "--show")
    assert done.json()["name"] == "kept"
    assert "give --name when you run it" in done.err


def test_what_stays_and_what_looks_secret_is_told(zoe: Zoe, here: Path) -> None:
    (here / ".env").write_text("TOKEN=1\n")
    (here / "broken").symlink_to("nowhere")
    told = zoe("run", "sums.py", "--show", "--", "lib", "broken", ".env", "numbers.csv").err
    assert "note: lib is a directory, and does not go with the run; `zoe cp -r lib :`" in told
    assert "note: broken is a link to nothing, and does not go with the run\n" in told
    assert "warning: these look like passwords or private keys, and go with the run: .env; `zoe secret set`" in told


def test_scripts_know_their_interpreter(zoe: Zoe, here: Path) -> None:
    (here / "go.sh").write_text("echo go\n")
    python = shown(zoe, "run", "sums.py", "--show", "--file", "lib/more.py", "--", "numbers.csv")
    assert python["components"][0]["command"] == ["python3", "-u", "{files}/sums.py", "{files}/numbers.csv"]
    assert sorted(python["components"][0]["files"]) == ["lib/more.py", "numbers.csv", "sums.py"]
    shell = shown(zoe, "run", str(here / "go.sh"), "--show", "--workers", "3")
    assert shell["components"][0]["command"] == ["sh", "{files}/go.sh"]
    assert (shell["components"][0]["essential_count"], shell["components"][0]["total_count"]) == (3, 3)


def test_spark_programs_bring_a_cluster(zoe: Zoe, here: Path) -> None:
    flags = ("--workers", "4", "--memory", "4GiB", "--file", "lib/more.py", "--show")
    document = shown(zoe, "spark-submit", *flags, "sums.py", "numbers.csv", "--show")
    command = document["components"][0]["command"]
    assert command[-3:] == ["{files}/sums.py", "{files}/numbers.csv", "--show"]
    assert command[command.index("--py-files") + 1] == "{files}/lib/more.py"
    assert command[command.index("--executor-memory") + 1] == "3276m"
    assert document["frameworks"][0]["parameters"]["elastic_workers"] == 3
    assert zoe("spark-submit", "--memory", "100MiB", "sums.py").code == 2
    refused = zoe("spark-submit", "--deadline", "soon", "sums.py")
    assert (refused.code, "is not a time" in refused.err) == (2, True)


def test_a_description_expects_copies_of_files_that_do_not_fit(zoe: Zoe, here: Path) -> None:
    (here / "large.csv").write_bytes(b"1\n" * 2**18)
    (here / "binary").write_bytes(b"\xff\x00")
    done = zoe("run", "--show", "sums.py", "--", "large.csv", "binary")
    assert done.json()["components"][0]["command"][-2:] == ["{workspace}/large.csv", "{workspace}/binary"]
    assert "expects a copy: zoe cp large.csv :large.csv" in done.err
    assert zoe("run", "--show", "missing.py").code == 2


def test_bytes_go_with_a_run_once(stack: Stack, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    big = here / "big.bin"
    big.write_bytes(b"\xff" + b"\n" * 2**20)
    (here / "count.py").write_text(
        "import pathlib, sys\nfrom lib.more import FACTOR\n"
        "beside = pathlib.Path(__file__).parent / 'lib/blob'\n"
        "print(FACTOR, beside.read_bytes(), sum(len(pathlib.Path(p).read_bytes()) for p in sys.argv[1:]))\n"
    )
    (here / "lib/blob").write_bytes(b"\x80")
    command = (
        "run",
        "--follow",
        "count.py",
        "--file",
        "lib/more.py",
        "--file",
        "lib/blob",
        "--",
        "big.bin",
        "numbers.csv",
    )
    sent: list[int] = []
    with Client(stack.url, stack.token, patience_s=30) as client:
        write_tree = Files.write_tree
        monkeypatch.setattr(
            Files,
            "write_tree",
            lambda self, files, *given, **named: (
                sent.append(sum(file.size for file in files)),
                write_tree(self, files, *given, **named),
            )[1],
        )
        done = process(stack, *command)
        assert (done.returncode, done.stdout) == (0, "3 b'\\x80' 1048581\n"), done.stderr
        (here / "numbers.csv").write_text("12345\n")
        options: Any = {"files": ["lib/more.py", "lib/blob"]}
        application = client.script("count.py", "big.bin", "numbers.csv", **options)
        assert sent == [6], "only what changed is sent"
        ran = client.run(application).wait(timeout_s=60)
        assert (ran.state, ran.output()) == ("succeeded", "3 b'\\x80' 1048583\n")
        monkeypatch.setattr(carried, "BYTES_MAX", 2**20)
        with pytest.raises(CannotCarry, match=r"zoe cp big\.bin :big\.bin"):
            client.script("count.py", "big.bin", "numbers.csv", **options)
        client.files.upload(big, "big.bin")
        application = client.script("count.py", "big.bin", "numbers.csv", **options)
        assert application["components"][0]["command"][-2] == "{workspace}/big.bin"
        assert client.run(application).wait(timeout_s=60).state == "succeeded"


def test_flags_and_words_of_commands_are_refused_for_descriptions(zoe: Zoe, here: Path) -> None:
    (here / "app.json").write_text("{}")
    assert "--set" in zoe("run", "app.json", "--memory", "1GiB").err
    assert "--image" in zoe("run", "train", "--", "3").err


def test_an_own_script_over_an_own_file_is_one_command(stack: Stack, here: Path) -> None:
    done = process(stack, "run", "sums.py", "--file", "lib/more.py", "--follow", "--", "numbers.csv", "{a b}")
    assert (done.returncode, done.stdout) == (0, "9 {a b}\n"), done.stderr


def test_variables_and_secrets_come_in_and_results_come_back(stack: Stack, here: Path) -> None:
    with Client(stack.url, stack.token) as client:
        client.set_secret("wandb", "hidden")
    script = 'mkdir -p made/deep; echo "$A $KEY $(cat $ZOE_SECRETS/wandb)" > made/deep/said; exit $CODE'
    (here / "go.sh").write_text(f"#!/bin/sh\n{script}\n")
    flags = ("--env", "A={b}", "--secret", "wandb=KEY", "--secret", "wandb", "--result", "made", "--fetch")
    for code, command in (("0", ("run",)), ("7", ("sbatch", "--parsable"))):
        done = process(stack, *command, *flags, "--env", f"CODE={code}", "go.sh")
        assert done.returncode == {"run": 0, "sbatch": 7}[command[0]], done.stderr
        assert "fetched made/deep/said" in done.stderr
        assert (here / "made/deep/said").read_text() == "{b} hidden hidden\n"
        (here / "made/deep/said").unlink()
    assert "--result" in process(stack, "run", "go.sh", "--fetch").stderr


def test_shown_description_can_be_run(stack: Stack, zoe: Zoe, here: Path) -> None:
    (here / "app.json").write_text(zoe("run", "--image", "tiny", "--show", "--", "cat", "numbers.csv").out)
    done = process(stack, "run", "app.json", "--follow")
    assert (done.returncode, done.stdout) == (0, "1\n2\n"), done.stderr
    refused = process(stack, "run", "--image", "missing", "--", "true")
    assert refused.returncode == 6
    assert "allowed images: zoe/" in refused.stderr


def test_several_instances_know_their_index(stack: Stack, zoe: Zoe, here: Path) -> None:
    done = zoe("run", "--image", "tiny", "--workers", "2", "--wait", "-o", "json", "--", "sh", "-c", "echo $ZOE_INDEX")
    assert done.code == 0, done.err
    execution = json.loads(done.out)
    printed = {zoe("logs", execution["id"], f"main-{index}").out for index in range(2)}
    assert printed == {"0\n", "1\n"}


def test_packages_come_from_options_and_a_file(zoe: Zoe, here: Path) -> None:
    (here / "requirements.txt").write_text("# of the model\nlightgbm>=4  # trees\n\n  numpy==2.1 \n")
    document = shown(zoe, "run", "sums.py", "--with", "pandas", "--requirements", "requirements.txt", "--show")
    assert document["components"][0]["requirements"] == ["pandas", "lightgbm>=4", "numpy==2.1"]
    (here / "app.json").write_text(json.dumps(document))
    assert zoe("run", "app.json", "--with", "pandas").code == 2
    (here / "bad.txt").write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in zoe("run", "sums.py", "--requirements", "bad.txt").err
    assert "cannot read none.txt" in zoe("run", "sums.py", "--requirements", "none.txt").err


def test_repositories_come_from_options(zoe: Zoe, here: Path) -> None:
    url = "https://example.org/team/project.git"
    flags = ("--git", f"{url}@v1", "--git", "ssh://git@example.org/b", "--git-secret", "key", "--show")
    document = shown(zoe, "run", "sums.py", *flags)
    assert document["components"][0]["sources"] == [
        {"git": url, "ref": "v1", "secret": "key"},
        {"git": "ssh://git@example.org/b", "secret": "key"},
    ]
    assert shown(zoe, "run", "sums.py", "--git", url, "--show")["components"][0]["sources"] == [{"git": url}]
    assert "--git" in zoe("run", "sums.py", "--git-secret", "key").err
    (here / "app.json").write_text(json.dumps(document))
    assert "--git" in zoe("run", "app.json", "--git", url).err


def test_a_repository_that_git_cannot_reach_ends_the_execution_with_the_reason(stack: Stack, here: Path) -> None:
    done = process(stack, "run", "sums.py", "--git", "https://127.0.0.1:1/a.git", "--wait")
    assert done.returncode != 0
    assert "cloning a failed: unable to access 'https://127.0.0.1:1/a.git/'" in done.stdout + done.stderr
    assert "helpers of git are not allowed" in process(stack, "run", "sums.py", "--git", "ext::sh").stderr


def test_names_of_files_may_have_blanks(stack: Stack, zoe: Zoe, here: Path) -> None:
    (here / "my data").mkdir()
    (here / "my data" / "Umsätze (1).csv").write_text("7\n")
    (here / "my sums.py").write_text("import sys\nprint(open(sys.argv[1]).read())\n")
    document = shown(zoe, "run", "my sums.py", "--show", "--", "my data/Umsätze (1).csv")
    assert document["components"][0]["command"][-2:] == ["{files}/my_sums.py", "{files}/my_data/Ums_tze__1_.csv"]
    done = process(stack, "run", "my sums.py", "--follow", "--", "my data/Umsätze (1).csv")
    assert (done.returncode, done.stdout.strip()) == (0, "7"), done.stderr


def test_files_whose_names_become_one_travel_apart(stack: Stack, zoe: Zoe, here: Path) -> None:
    (here / "cat.py").write_text("import sys\nprint(*(open(name).read() for name in sys.argv[1:]))\n")
    names = ["ü.csv", "é.csv", "a b.csv", "a_b.csv", f"{'x' * 98} 1.csv", f"{'x' * 98} 2.csv"]
    for name in names:
        (here / name).write_text(name)
    command = shown(zoe, "run", "cat.py", "--show", "--", *names, names[0])["components"][0]["command"]
    assert command[-7:-3] == ["{files}/_.csv", "{files}/_-2.csv", "{files}/a_b.csv", "{files}/a_b-2.csv"]
    assert (len(set(command[-7:])), command[-1]) == (6, command[-7])
    done = process(stack, "run", "cat.py", "--follow", "--", *names)
    assert (done.returncode, done.stdout.strip()) == (0, " ".join(names)), done.stderr
