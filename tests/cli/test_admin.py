"""zoe admin, zoe open."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Zoe
from tests.cli.server import READER, Server


def test_a_user_with_a_password_that_is_shown_once(server: Server, zoe: Zoe) -> None:
    added = zoe("admin", "user", "add", "nina", "--tenant", "lab", "--role", "viewer")
    password = added.err.strip().removeprefix("password, shown once: ")
    assert len(password) >= 16
    row = next(line for line in zoe("admin", "user", "ls").out.splitlines() if line.startswith("nina"))
    assert "viewer in lab" in row
    assert password not in row
    again = zoe("admin", "user", "add", "nina")
    assert (again.code, "already" in again.err) == (5, True)


def test_no_user_is_left_without_the_tenant(server: Server, zoe: Zoe) -> None:
    refused = zoe("admin", "user", "add", "otto", "--tenant", "nowhere")
    assert (refused.code, "tenant 'nowhere' does not exist" in refused.err) == (2, True)
    assert "otto" not in zoe("admin", "user", "ls").out


def test_a_password_from_a_file_is_not_shown(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from a file, long\n")
    added = zoe("admin", "user", "add", "mona", "--password-file", str(file), "-o", "json")
    assert added.code == 0
    assert "from a file" not in added.out + added.err
    made = zoe("admin", "user", "password", "mona", "-o", "json").json()
    assert len(made["new_password"]) >= 16
    assert zoe("admin", "user", "password", "mona", "--password-file", str(tmp_path / "none")).code == 2
    file.write_text("short")
    assert zoe("admin", "user", "password", "mona", "--password-file", str(file)).code == 2


def test_roles_quotas_and_disabling(server: Server, zoe: Zoe, app_file: Path) -> None:
    assert zoe("admin", "user", "add", "rosa").code == 0
    assert zoe("admin", "role", "set", "rosa", "lab", "operator", "-o", "json").json()["role"] == "operator"
    zoe("admin", "quota", "set", "lab", "--executions", "0")
    refused = zoe("run", str(app_file))
    assert (refused.code, "quota" in refused.err) == (4, True)
    assert "any number" in zoe("admin", "quota", "set", "lab", "--executions", "none").out
    row = next(line for line in zoe("admin", "tenant", "ls").out.splitlines() if line.startswith("lab"))
    assert "rosa (operator)" in row
    zoe("admin", "role", "remove", "rosa", "lab")
    assert zoe("admin", "role", "remove", "rosa", "lab").code == 3
    assert zoe("admin", "user", "disable", "rosa", "-o", "json").json()["disabled"] is True
    assert zoe("admin", "user", "enable", "rosa", "-o", "json").json()["disabled"] is False
    assert zoe("admin", "tenant", "add", "third").code == 5


def test_a_quota_of_hours(server: Server, zoe: Zoe, app_file: Path) -> None:
    set_to = zoe("admin", "quota", "set", "lab", "--hours", "1.5")
    assert set_to.out.splitlines()[1].split() == ["lab", "any", "number", "any", "number", "1.5"]
    assert zoe("quota").out.splitlines()[-1].split() == ["longest", "time", "limit", "-", "1h30m"]
    note = "note: no time limit is set: it gets the longest that lab may have, 5400 s (1.5 h)"
    for command in ("validate", "plan", "run"):
        assert note in zoe(command, str(app_file)).err.splitlines()
        refused = zoe(command, str(app_file), "--set", "time_limit_s=7200")
        assert (refused.code, "the time limit is 7200 s (2 h)" in refused.err) == (2, True)
    for wrong in (["--hours", "0"], ["--hours", "nan"], ["--of-user", "-1"], ["--executions", "some"], []):
        assert zoe("admin", "quota", "set", "lab", *wrong).code == 2
    for hours in ("0", "1e9"):
        told = zoe("admin", "quota", "set", "lab", "--hours", hours).err.replace("\n", " ")
        assert "is not a time limit: use hours above 0" in " ".join(told.replace("│", " ").split())
        assert "Input should" not in told
    assert zoe("admin", "quota", "set", "nowhere", "--hours", "1").code == 3
    assert "1.5" in zoe("admin", "quota", "ls").out
    zoe("admin", "quota", "set", "lab", "--hours", "none")
    assert zoe("quota").out.splitlines()[-1].endswith("no limit")
    assert "1.5" not in zoe("admin", "quota", "ls").out


def test_of_a_quota_what_is_not_named_stays(server: Server, zoe: Zoe) -> None:
    zoe("admin", "quota", "set", "lab", "--executions", "20", "--of-user", "4")
    zoe("admin", "quota", "set", "lab", "--hours", "12")
    changed = zoe("admin", "quota", "set", "lab", "--of-user", "none", "-o", "json").json()
    assert changed == {"executions_max": 20, "executions_of_user_max": None, "time_limit_s_max": 43200.0}
    zoe("admin", "quota", "set", "lab", "--executions", "none", "--hours", "none")


def test_tokens_of_everybody_and_the_audit_log(server: Server, zoe: Zoe) -> None:
    tokens = {token["user"]: token["id"] for token in zoe("admin", "token", "ls", "-o", "json").json()["tokens"]}
    assert set(tokens) == {"ada", "bob", "eve"}
    zoe("admin", "token", "revoke", tokens["eve"])
    lines = zoe("admin", "audit").out.splitlines()
    assert "revoke_any_token" in lines[1]
    assert " 204 " in lines[1]
    page = zoe("admin", "audit", "--limit", "1")
    assert page.err.startswith("more: zoe admin audit --before ")


def test_only_admins(server: Server, zoe: Zoe) -> None:
    assert zoe("admin", "user", "ls", token=READER).code == 4


def test_open_without_a_ready_service_is_refused(server: Server, zoe: Zoe, submitted: str) -> None:
    closed = zoe("open", submitted)
    assert (closed.code, "has no service with a page" in closed.err) == (3, True)
