"""Other programs' reading of texts that Zoe accepts: git, a mail server, a shell."""

from __future__ import annotations

import email
import email.policy
import shlex
import subprocess
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.support.accepted_texts import CHECKS, drawn
from zoe_cli.commands.inside.ssh_keys import configuration
from zoe_embedded.processes.ports import HeldPorts
from zoe_lib.domain.applications.sources import git_ref, git_url
from zoe_lib.domain.executions.notifications import mail_address
from zoe_master.notifications.mail import NotificationMail, message, send

GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": "/usr/bin:/bin",
    "GIT_TERMINAL_PROMPT": "0",
}
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(at: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(["git", *words], cwd=at, env=GIT, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_version_is_a_name_of_a_branch_to_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", ".")
    who = ("-c", "user.name=zoe", "-c", "user.email=zoe@localhost")
    git(tmp_path, "hash-object", "-t", "tree", "-w", "--stdin")
    commit = git(tmp_path, *who, "commit-tree", EMPTY_TREE, "-m", "x").strip()
    pieces = ["@", "@{", "..", ".lock", "/", "HEAD", "refs/heads/", "main", "-", "~1", "^", ":", "*", "\\", "\n", " "]
    texts = list(drawn("ab1._+#", pieces, git_ref))
    # In a directory of its own each, as a branch cannot be below another one.
    wanted = [f"refs/heads/n{number}/{text}" for number, text in enumerate(texts)]
    git(tmp_path, "update-ref", "--stdin", given="".join(f"create {name} {commit}\n" for name in wanted))
    assert sorted(git(tmp_path, "for-each-ref", "--format=%(refname)").split()) == sorted(wanted)


@pytest.mark.parametrize(
    "text", ["HEAD", "@", "-b", "--upload-pack=x", "a b", "a..b", "a@{1}", "x.lock", "a/HEAD.lock"]
)
def test_name_that_git_reads_otherwise_is_no_version(text: str) -> None:
    """HEAD was accepted, and the clone failed when the execution began."""
    with pytest.raises(ValueError, match="neither the name"):
        git_ref(text)


def test_git_reads_the_parts_of_an_address_as_we_do(tmp_path: Path) -> None:
    """Which host gets the secret follows from them."""
    pieces = ["@", ":8443", "/", "/", "/", "a.example", "%2f", "%0a", "[::1]", "~", "..", "\\", "#", "https://"]
    for text in drawn("ab1.-_", pieces, lambda text: git_url(f"https://{text}"), max(CHECKS // 10, 20)):
        url = git_url(f"https://{text}")
        rest = url.removeprefix("https://")
        authority, _, path = rest.partition("/")
        user, _, host = authority.rpartition("@")
        if "%0a" in path.lower():
            continue  # git refuses it by itself
        script = f"protocol=https\nhost={host}\npath={path}\n" + (f"username={user}\n" if user else "")
        helper = "!f() { cat >&2; echo username=u; echo password=p; }; f"
        told = subprocess.run(
            ["git", "-c", f"credential.helper={helper}", "-c", "credential.useHttpPath=true", "credential", "fill"],
            cwd=tmp_path, env=GIT, input=f"url={url}\n\n", capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
        understood = [line for line in told.splitlines() if line.partition("=")[0] in ("protocol", "host", "username")]
        assert understood == [line for line in script.splitlines() if not line.startswith("path=")], url


def test_a_mail_has_the_one_receiver_and_the_subject_that_were_meant() -> None:
    subjects = drawn("ab", ["\u202e", "=?utf-8?q?x?=", " ", "ü", "€", ",", "<b@example.org>", '"', ";", "a" * 90], str)
    pieces = ["=?", "?=", "..", ".", "@", "\n", "\r", ",", "<", ">", "=", "%", "{", "|", "~", "x" * 60]
    addresses = drawn(
        "ab1.-_+'!#$*/^`", pieces, lambda text: mail_address(f"mailto:{text}@example.org", ["example.org"])
    )
    for local, subject in zip(list(addresses), list(subjects), strict=True):
        made = message("zoe@example.org", f"{local}@example.org", "1.2", subject, "text\n.\nQUIT\n")
        read = email.message_from_bytes(bytes(made), policy=email.policy.default)
        assert isinstance(read, EmailMessage)
        assert [address.addr_spec for address in read["To"].addresses] == [f"{local}@example.org"]
        assert (read["Cc"], read["Bcc"], len(read.get_all("Subject"))) == (None, None, 1)
        assert read.get_content() == "text\n.\nQUIT\n"


class Taken:
    """What a mail server has taken: the envelope, and the mail."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, list[str], bytes]] = []

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        assert isinstance(envelope.content, bytes)
        self.mails.append((envelope.mail_from or "", envelope.rcpt_tos, envelope.content))
        return "250 OK"


def test_a_mail_server_takes_the_mail_that_was_meant_and_no_other() -> None:
    """Lines with a dot, very long lines and words of SMTP stay text."""
    pieces = ["\n.\n", "\r\n.\r\n", "\n..", ".", "\nQUIT\n", "\nRCPT TO:<b@example.org>\n", "ü", "x" * 1500, "\0", "\r"]
    texts = list(drawn("ab ", pieces, str, max(CHECKS // 20, 25)))
    pieces = ["+", "=", "%", "{", "|", "~", "x" * 30, "'", "*"]
    locals_ = drawn("ab1", pieces, lambda text: mail_address(f"mailto:{quote(text)}@example.org", ["example.org"]))
    taken, wanted = Taken(), list(zip(locals_, texts, strict=False))
    with HeldPorts(1) as held:
        server = Controller(taken, hostname="127.0.0.1", port=held.numbers[0])
        server.start()
        try:
            site = NotificationMail(f"smtp://127.0.0.1:{held.numbers[0]}", "zoe@example.org", ["example.org"])
            for local, text in wanted:
                send(site, f"mailto:{quote(local)}@example.org", "1.2", "It has ended", text)
        finally:
            server.stop()
    assert len(wanted) >= 20
    assert [(sender, to) for sender, to, _ in taken.mails] == [
        ("zoe@example.org", [f"{local}@example.org"]) for local, _ in wanted
    ]
    for (_, _, content), (_, text) in zip(taken.mails, wanted, strict=True):
        read = email.message_from_bytes(content, policy=email.policy.default)
        assert isinstance(read, EmailMessage)
        assert read.get_content().splitlines() == text.splitlines()


def test_a_shell_sees_the_words_of_a_proxy_command(tmp_path: Path) -> None:
    """ssh replaces `%` first, then the user's shell reads the line."""
    pieces = ["%", "%h", "$(id)", "`id`", "'", '"', "\\", " ", "\t", ";", "&", "*", "~", "é"]
    words = list(drawn("ab1", pieces, str, min(CHECKS, 300)))
    text = configuration(tmp_path, "zoe", "ann", words)
    [line] = [line.strip() for line in text.splitlines() if line.strip().startswith("ProxyCommand ")]
    command = line.removeprefix("ProxyCommand ").replace("%%", "%")
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words
    assert shlex.split(command) == words
