"""Each client of LDAP directories signs users in at Debian's slapd, and at no directory that lies."""

from __future__ import annotations

import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.broken_directory import BOUND, BROKEN, broken_directory, entry, message
from tests.support.directory import BASE, PASSWORD, SEARCHERS_PASSWORD, Directory, directory
from tests.support.ldap_clients import Make, asking, client
from tests.support.lying_directory import (
    MIA,
    answering,
    done,
    groups,
    injecting,
    misnumbered,
    referring,
    refusing_tls,
)
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in.identity import Identity
from zoe_api.people.sign_in.ldap import Ldap
from zoe_api.people.sign_in.ldap_clients.base import ANSWERS_BYTES_MAX
from zoe_lib.settings.sign_in_settings import LdapSettings

# ldap3 leaves sockets to the garbage collector when a connection fails half way.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
Ask = Callable[..., Ldap]
HOSTILE = (
    "*", "m*", "mia)(uid=*", "mia)(|(uid=*", "*)(objectClass=*", "mi\0a", "mia\0",
    "\\6dia", "(", "\u00fc", "mia,ou=people", "\ud83d",
)  # fmt: skip


@pytest.fixture(scope="module")
def there() -> Iterator[Directory]:
    with directory() as made:
        yield made


@pytest.fixture(scope="module", params=["ldap3", "bonsai"])
def make(request: pytest.FixtureRequest) -> Make:
    return client(request.param)


@pytest.fixture
def ask(make: Make, there: Directory) -> Ask:
    return lambda **changes: asking(make, LdapSettings(**there.settings(**{"timeout_s": 20.0, **changes})))


@pytest.fixture
def liar(make: Make) -> Ask:
    return lambda url, **changes: asking(
        make,
        LdapSettings(**{"url": url, "base": "dc=example", "group_base": "dc=example", "timeout_s": 20.0, **changes}),
    )


def outcome(lied: Ldap, password: str = PASSWORD) -> Identity | None:
    """None also without a valid answer."""
    try:
        return lied.identity("mia", password)
    except ApiProblem:
        return None


@pytest.mark.parametrize("how", ["secure", "plain", "start_tls"])
def test_a_user_signs_in_with_groups_by_each_kind_of_connection(ask: Ask, there: Directory, how: str) -> None:
    lab = ask(url=there.secure if how == "secure" else there.plain, start_tls=how == "start_tls")
    found = lab.identity("mia", PASSWORD)
    assert found is not None
    assert (found.name, len(found.subject), found.groups) == ("mia", 36, {"staff"})
    assert lab.still("mia", found.subject) == found
    assert lab.still("gone", found.subject) == Identity("corp", found.subject, "gone", found.groups)
    assert lab.still("mia", "another") is None
    assert (lab.identity("mia", "wrong"), lab.identity("pia", PASSWORD), lab.identity("who", PASSWORD)) == (None,) * 3


def test_ids_and_groups_are_texts_whatever_they_look_like(ask: Ask, there: Directory) -> None:
    person, group = f"uid=num,ou=people,{BASE}", f"cn=TRUE,ou=groups,{BASE}"
    with there.changing() as changes:
        changes.add(person, "inetOrgPerson", {"uid": "num", "cn": "n", "sn": "007", "userPassword": PASSWORD})
        changes.add(group, "groupOfNames", {"cn": "TRUE", "member": person})
        try:
            found = ask(subject_attribute="sn").identity("num", PASSWORD)
            assert found == Identity("corp", "007", "num", frozenset({"TRUE"}))
        finally:
            changes.delete(group)
            changes.delete(person)


ODD_NAMES = (
    *(
        'a, b + "c" <d>; = e',
        "\u00fc (x) * y",
        " spaces ",
        "  ",
        "#leading",
        "C# and F#",
        "\\",
        "back\\2Cslash",
        "end\\",
    ),
    *("\\#", "\\,", "\\5C2C", "\\00", "a+cn=b", ",ou=groups", '"quoted"', "\u202eleft", "a\nb", "a\0b", "#04024869"),
)
ODD_DNS: dict[str, str] = {}
"""As the first client read them: ids of users must not depend on the client."""


def test_dns_with_odd_characters_are_bound_and_found_in_groups(ask: Ask, there: Directory) -> None:
    """RFC 4514, in DNs of users and of groups. bonsai refused some, and changed others into DNs of other entries."""
    lab = ask(subject_attribute="noSuch", group_filter="(member={dn})")
    with there.changing() as changes:
        for number, name in enumerate(ODD_NAMES):
            person, group = (f"cn={escaped_value(name)},ou={entry},{BASE}" for entry in ("people", "groups"))
            uid = {"uid": f"odd-{number}", "cn": name, "sn": "o", "userPassword": PASSWORD}
            assert changes.add(person, "inetOrgPerson", uid), (name, changes.result)
            assert changes.add(group, "groupOfNames", {"cn": name, "member": person}), (name, changes.result)
            try:
                found = lab.identity(f"odd-{number}", PASSWORD)
                assert found is not None, name
                assert (found.groups, found.subject) == ({name}, ODD_DNS.setdefault(name, found.subject)), name
            finally:
                changes.delete(group)
                changes.delete(person)


def escaped_value(text: str) -> str:
    """Each byte by its number, which all directories must read (RFC 4514, section 2.4)."""
    return "".join(f"\\{byte:02x}" for byte in text.encode())


def test_characters_of_filters_and_of_texts_in_c_are_characters(ask: Ask) -> None:
    assert [ask().identity(user, PASSWORD) for user in HOSTILE] == [None] * len(HOSTILE)
    wrong = ("", "\0", "\0x", PASSWORD + "\0", PASSWORD + "\0x", "\ud83d", "\u00ad", "x" * 10_000)
    assert [ask().identity("mia", password) for password in wrong] == [None] * len(wrong)


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "ldaps://localhost:1"},
        {"bind_dn": f"cn=other,{BASE}"},
        {"ca_file": "stranger"},
        {"ca_file": None},
        {"url": "plain", "start_tls": True, "ca_file": "stranger"},
        {"url": "by address"},
        {"url": "plain by address", "start_tls": True},
        {"base": "dc=elsewhere"},
        {"group_base": "dc=elsewhere"},
    ],
)
def test_a_directory_that_cannot_be_trusted_or_asked_signs_nobody_in_or_out(
    ask: Ask, there: Directory, capfd: pytest.CaptureFixture[str], changes: dict[str, Any]
) -> None:
    named = {
        "stranger": str(there.stranger),
        "plain": there.plain,
        "by address": there.secure.replace("localhost", "127.0.0.1"),
        "plain by address": there.plain.replace("localhost", "127.0.0.1"),
    }
    lab = ask(**{key: named.get(value, value) if isinstance(value, str) else value for key, value in changes.items()})
    subject = ask().identity("mia", PASSWORD).subject
    for asked in (lambda: lab.identity("mia", PASSWORD), lambda: lab.still("mia", subject)):
        with pytest.raises(ApiProblem, match="gave no valid answer"):
            asked()
    said = "".join(capfd.readouterr())
    assert PASSWORD not in said
    assert SEARCHERS_PASSWORD not in said


def test_one_that_hangs_is_not_waited_for_and_stops_no_other_thread(ask: Ask, there: Directory) -> None:
    lab, longest = ask(timeout_s=1.0), Pauses()
    os.kill(there.process.pid, signal.SIGSTOP)
    try:
        with longest, pytest.raises(ApiProblem, match="gave no valid answer"):
            lab.identity("mia", PASSWORD)
    finally:
        os.kill(there.process.pid, signal.SIGCONT)
    assert longest.s < 0.7
    assert ask().identity("mia", PASSWORD)


class Pauses:
    """The longest time in which another thread got no turn."""

    def __init__(self) -> None:
        self.s = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            before_s = time.monotonic()
            if self._ended.wait(0.01):
                return
            self.s = max(self.s, time.monotonic() - before_s)


@pytest.mark.parametrize("fault", ["answers a byte at a time", "has entries without end", "says nothing"])
def test_answers_that_never_end_are_not_heard_out(liar: Ask, fault: str) -> None:
    with broken_directory(BROKEN[fault]) as broken:
        begun_s = time.monotonic()
        with pytest.raises(ApiProblem, match="gave no valid answer"):
            liar(broken.url, timeout_s=2.0).identity("mia", PASSWORD)
    assert time.monotonic() - begun_s < 10
    assert not broken.heard_out


def test_noise_signs_nobody_in(liar: Ask) -> None:
    for fault in (text for text in BROKEN if text.startswith("answers noise")):
        with broken_directory(BROKEN[fault]) as broken:
            assert outcome(liar(broken.url, timeout_s=1.0)) is None, fault


def test_entries_larger_than_the_bound_are_refused_and_20000_groups_are_not(liar: Ask) -> None:
    with broken_directory(groups(20_000)) as many:
        found = outcome(liar(many.url, timeout_s=60.0))
    assert found is not None
    assert len(found.groups) == 20_000
    huge = entry("uid=mia,dc=example", entryUUID=b"x" * ANSWERS_BYTES_MAX)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with broken_directory(answering(huge, done())) as broken:
        assert outcome(liar(broken.url, timeout_s=60.0)) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * ANSWERS_BYTES_MAX >> 10


def test_a_directory_that_refers_elsewhere_is_not_followed(liar: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.0)
        for answers in referring(f"ldap://127.0.0.1:{elsewhere.getsockname()[1]}/dc=example"):
            with broken_directory(answers) as broken:
                assert outcome(liar(broken.url, timeout_s=5.0)) is None
            with pytest.raises(BlockingIOError):
                elsewhere.accept()


def test_answers_to_other_questions_sign_nobody_in(liar: Ask) -> None:
    with broken_directory(misnumbered) as broken:
        assert outcome(liar(broken.url, timeout_s=1.0)) is None


@pytest.mark.parametrize("code", [0, 1, 2, 52])
def test_passwords_are_not_sent_where_tls_does_not_start(liar: Ask, tmp_path: Path, code: int) -> None:
    (tmp_path / "password").write_text(SEARCHERS_PASSWORD)
    searcher = {"bind_dn": "cn=zoe", "bind_password_file": str(tmp_path / "password")}
    then = b"".join(message(number, BOUND) for number in range(1, 9))
    for injected in (b"", then):
        with broken_directory(refusing_tls(code, injected)) as broken:
            assert outcome(liar(broken.url, start_tls=True, timeout_s=2.0, **searcher)) is None
        assert SEARCHERS_PASSWORD.encode() not in broken.received
        assert PASSWORD.encode() not in broken.received


@pytest.mark.parametrize("part", [None, -3])
def test_bytes_before_tls_are_no_answer_within_it(ask: Ask, there: Directory, part: int | None) -> None:
    for answer in (BOUND, MIA + done()):
        said = b"".join(message(number, answer) for number in range(1, 9))[:part]
        with injecting(there.plain, said) as url:
            assert outcome(ask(url=url, start_tls=True, timeout_s=2.0), "wrong") is None


def test_one_entry_with_a_dn_is_a_user_and_no_other_answer(liar: Ask) -> None:
    other = entry("uid=mia,ou=other,dc=example", entryUUID=b"2")
    nameless = entry("", entryUUID=b"1")
    for operations in ((MIA, other, done()), (MIA, MIA, done()), (done(),), (nameless, done())):
        with broken_directory(answering(*operations)) as broken:
            assert outcome(liar(broken.url)) is None
    with broken_directory(answering(MIA, done())) as broken:
        assert outcome(liar(broken.url)) == Identity("corp", "1", "mia", frozenset({"staff"}))


@pytest.mark.parametrize("group_base", ["", "dc=example"])
def test_entries_with_another_result_than_success_are_a_part_and_not_believed(
    liar: Ask, request: pytest.FixtureRequest, group_base: str
) -> None:
    """With groups, only their search ends so: a user would lose roles."""
    # bonsai does not say that a result was partialResults or referral.
    unsaid = {9, 10} if "bonsai" in request.node.callspec.id else set()
    for code in {1, 2, 3, 4, 5, 6, 9, 10, 11, 14, 32, 50, 51, 52, 80} - unsaid:

        def ending(asked: bytes, code: int = code) -> Iterator[bytes]:
            whole = group_base and b"entryUUID" in asked
            yield from answering(MIA, done() if whole else done(code))(asked)

        with broken_directory(ending) as broken:
            assert outcome(liar(broken.url, group_base=group_base, timeout_s=3.0)) is None, code


def test_groups_that_a_directory_cuts_off_are_not_taken_for_all(liar: Ask) -> None:
    def cut(asked: bytes) -> Iterator[bytes]:
        yield from answering(MIA, done(0 if b"entryUUID" in asked else 4))(asked)

    with broken_directory(cut) as broken, pytest.raises(ApiProblem, match="more groups of this user than it sends"):
        liar(broken.url).identity("mia", PASSWORD)
