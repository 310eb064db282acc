"""A Swift whose accounts are projects of a real Keystone, with the filters in the order of the documentation."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx
import pytest

from storage_bridge.model import View
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import SwiftAdmin, SwiftHttp
from storage_filters.execution_auth.alive_executions import AliveExecutions, AliveFile, alive_file
from storage_filters.execution_auth.names import ExecutionUser
from tests.storage.test_s3_signed import EXPLOITS
from tests.support.keystone import Keystone, KeystoneUser, Project, keystone
from tests.support.keystone_store import KeystoneStore, documented, with_sections
from tests.support.object_store import ADMIN, object_store
from tests.support.s3_signing import Signer, Wire
from tests.support.store_executions import as_execution, secret_file, store_key
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import Account, StoreRequest, SwiftClient, SwiftLogin
from zoe_embedded.swift.configuration import StoreUser
from zoe_lib.domain.values.storage import Credential
from zoe_master.storage.tenant_tokens import NoAccessError, TenantTokens

GET = Wire("GET", "/inbox/upload")
UPLOAD = Wire("PUT", "/inbox/made", body="made")
CONTENT = b"of its project"
ROLE = "swiftoperator"


@dataclass
class Member:
    """A user with a role in a project, a token and an EC2 credential for it."""

    user: KeystoneUser
    project: Project
    token: str
    key: Signer


@dataclass
class World:
    """Two projects of the default domain, and one of the same name in another, with a user each."""

    keystone: Keystone
    store: KeystoneStore
    sections: dict[str, str]
    ann: Member
    bob: Member
    namesake: Member

    @property
    def root(self) -> str:
        return self.store.proxy_urls[0]

    def native(
        self, member: Member, account: str, path: str = "inbox/upload", method: str = "GET", **headers: str
    ) -> httpx.Response:
        """Ask with the token of a member, unless headers have another one; `_` in names stands for `-`."""
        sent = {"X-Auth-Token": member.token} | {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.request(method, f"{self.root}/v1/{account}/{path}", headers=sent, timeout=60, trust_env=False)

    def s3(self, wire: Wire) -> tuple[int, bytes]:
        """Send a request byte for byte as it was signed."""
        connection = http.client.HTTPConnection(str(urlsplit(self.root).netloc), timeout=60)
        try:
            connection.putrequest(wire.method, wire.target, skip_host=True, skip_accept_encoding=True)
            for name, value in wire.headers:
                connection.putheader(name, value)
            if wire.body:
                connection.putheader("Content-Length", str(len(wire.body)))
            connection.endheaders(wire.body.encode() or None)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def forget(self) -> None:
        """Empty memcached, as after the time for which it keeps what Keystone said."""
        with socket.create_connection(("127.0.0.1", self.store.memcached_port)) as line:
            line.sendall(b"flush_all\r\n")
            assert line.recv(100) == b"OK\r\n"


def member(made: Keystone, name: str, project: Project, role: str = ROLE) -> Member:
    user = made.user(name, project.domain)
    made.grant(user, project, role)
    return Member(user, project, made.token(user, project), made.key(user, project))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with keystone() as made:
        service = made.project("service")
        swift = made.user("swift")
        made.grant(swift, service, "service")
        other = made.domain("other")
        ann, bob = member(made, "ann", made.project("acme")), member(made, "bob", made.project("beta"))
        namesake = member(made, "bob", made.project("beta", other))
        sections = documented(made, swift)
        options = {"nodes": 1, "replicas": 1, "s3": True, "executions_secret": secret_file, "proxies": 2}
        users = (ADMIN, StoreUser(ann.project.id, "zoe", "zoes-key"))
        with object_store(with_sections(sections), users=users, **options) as store:
            found = World(made, store, sections, ann, bob, namesake)
            for entry in (ann, bob, namesake):
                assert found.native(entry, entry.project.account, "inbox", "PUT").status_code == 201
                address = f"{found.root}/v1/{entry.project.account}/inbox/upload"
                assert httpx.put(address, content=CONTENT, headers={"X-Auth-Token": entry.token}).status_code == 201
            yield found


def opened(world: World, wire: Wire) -> bool:
    """Whether a signed request was carried out; it must be refused otherwise."""
    status, content = world.s3(wire)
    assert status < 300 or status in (400, 403, 404, 501), (status, content)
    return status < 300


def test_a_token_opens_the_account_of_its_project_alone(world: World) -> None:
    ann, bob = world.ann, world.bob
    assert world.native(ann, ann.project.account).content == CONTENT
    for other in (bob, world.namesake):
        for account in (other.project.account, f"AUTH_{other.project.name}", "AUTH_"):
            assert world.native(ann, account).status_code in (403, 404, 412), account
    unscoped = world.keystone.token(ann.user, None)
    assert world.native(ann, ann.project.account, X_Auth_Token=unscoped).status_code == 403
    for token in ("", "gAAAAA", "AUTH_tk1", "zoe_tk_a.b", ann.token[:-2]):
        assert world.native(ann, ann.project.account, X_Auth_Token=token).status_code == 401, token


def test_clients_cannot_say_who_they_are(world: World) -> None:
    claimed = {
        "X_Identity_Status": "Confirmed",
        "X_Roles": "admin,ResellerAdmin",
        "X_Project_Id": world.ann.project.id,
        "X_User_Id": world.ann.user.id,
    }
    account = world.ann.project.account
    assert world.native(world.ann, account, X_Auth_Token="", **claimed).status_code == 401
    assert world.native(world.bob, account, **claimed).status_code == 403
    pairs = tuple((name.replace("_", "-"), value) for name, value in claimed.items())
    assert not opened(world, world.bob.key.url(GET).plus(*pairs))
    assert world.s3(world.bob.key.header(Wire("GET", "/"), *pairs))[1].count(b"<Bucket>") == 1
    assert world.native(world.ann, account, X_Service_Token=world.bob.token).status_code == 401, "no role `service`"
    assert world.native(world.ann, account, X_Service_Token="x").status_code == 401


def test_ended_token_works_until_the_cache_forgets_it(world: World) -> None:
    ann, keystone_ = world.ann, world.keystone
    user = keystone_.user("leaving")
    keystone_.grant(user, ann.project, ROLE)
    ended, seen, revoked = (keystone_.token(user, ann.project) for _ in range(3))
    keystone_.end_token(ended)
    assert world.native(ann, ann.project.account, X_Auth_Token=ended).status_code == 401
    for token in (seen, revoked):
        assert world.native(ann, ann.project.account, X_Auth_Token=token).status_code == 200
    keystone_.end_token(seen)
    keystone_.revoke(user, ann.project, ROLE)
    assert "token_cache_time = 60\n" in world.sections["filter:authtoken"]
    for token in (seen, revoked):
        assert world.native(ann, ann.project.account, X_Auth_Token=token).status_code == 200, "from the cache"
    world.forget()
    for token in (seen, revoked):
        assert world.native(ann, ann.project.account, X_Auth_Token=token).status_code == 401


def test_an_s3_request_of_a_project_does_what_is_signed(world: World) -> None:
    key = world.ann.key
    for wire in (key.url(GET), key.header(GET), key.url_v2(GET), key.header_v2(GET)):
        assert world.s3(wire) == (200, CONTENT)
        for altered in (
            replace(wire, path="/inbox/other"),
            replace(wire, method="DELETE"),
            wire.plus(query=(("versionId", "1"),)),
            wire.plus(("X-Auth-Token", world.bob.token)),
        ):
            assert not opened(world, altered), altered
    for wire in (key.url(UPLOAD), key.header(UPLOAD)):
        assert opened(world, wire)
        for header in EXPLOITS:
            assert not opened(world, wire.plus(header)), header
    assert not opened(world, key.url(GET).plus(query=(("X-Amz-Date", "20260101T000000Z"),)))
    for at_s in (int(time.time()) - 1000, int(time.time()) + 1000):
        assert not opened(world, replace(key, at_s=at_s).header(GET))
    assert not opened(world, replace(key, secret=world.bob.key.secret).url(GET))


def test_an_access_key_opens_no_other_account_whatever_its_name(world: World) -> None:
    """Users choose access keys themselves, by Keystone's route for credentials."""
    ann, bob, keystone_ = world.ann, world.bob, world.keystone
    marked = Wire("PUT", "/inbox/marked", body="by ann")
    names = ("v1", "1", bob.project.account, f"v1/{bob.project.account}")
    for access in names:
        world.s3(keystone_.chosen_key(ann.user, ann.token, access, ann.project).url(marked))
    execution = ExecutionUser(bob.project.id, "x1", 3).login
    for access in (f"{ann.key.access_key}:{bob.project.id}", execution, f"{execution}:x"):
        key = keystone_.chosen_key(ann.user, ann.token, access, ann.project)
        for wire in (key.url(GET), key.header_v2(GET)):
            assert not opened(world, wire), access
    for entry in (bob, world.namesake):
        assert world.native(entry, entry.project.account, "inbox").text.split() == ["upload"]
    root = member(keystone_, "root", keystone_.project("ops"), "ResellerAdmin")
    moved = replace(root.key, access_key=f"{root.key.access_key}:{bob.project.id}")
    for wire in (moved.url(GET), moved.header(GET), moved.url_v2(GET), moved.header_v2(GET)):
        assert world.s3(wire)[0] == 403


def test_a_credential_for_a_project_without_a_role_there_opens_nothing(world: World) -> None:
    ann, bob, keystone_ = world.ann, world.bob, world.keystone
    key = keystone_.chosen_key(ann.user, ann.token, "of-beta", bob.project)
    assert not opened(world, key.url(GET))
    user = keystone_.user("going")
    keystone_.grant(user, ann.project, ROLE)
    first, second = keystone_.key(user, ann.project), keystone_.key(user, ann.project)
    assert opened(world, first.url(GET))
    assert opened(world, second.url(GET))
    keystone_.end_key(user, first)
    assert not opened(world, first.url(GET))
    keystone_.revoke(user, ann.project, ROLE)
    assert not opened(world, second.url(GET))


def shared_with(world: World, acl: str) -> list[int]:
    """What Bob, and Bob of the other domain, get in Ann's container: natively, for both ways of naming it."""
    account = world.ann.project.account
    assert world.native(world.ann, account, "inbox", "POST", X_Container_Read=acl).status_code == 204
    return [world.native(member, account).status_code for member in (world.bob, world.namesake)]


def test_an_acl_names_ids_and_no_names(world: World) -> None:
    bob = world.bob
    assert shared_with(world, f"{bob.project.id}:{bob.user.id}") == [200, 403]
    assert shared_with(world, f"{bob.project.id}:*") == [200, 403]
    for acl in ("beta:bob", "beta:*", "*:bob", f"{bob.project.id}:bob", f"beta:{bob.user.id}", "bob", bob.user.id):
        assert shared_with(world, acl) == [403, 403], acl
    assert shared_with(world, "*:*") == [200, 200]
    assert shared_with(world, "") == [403, 403]


def test_executions_sign_in_beside_keystone_and_end(world: World) -> None:
    one, ended = (ExecutionUser(world.ann.project.id, name, 3) for name in ("x1", "x2"))
    of_bob = ExecutionUser(world.bob.project.id, "x1", 3)
    alive = AliveExecutions(9, {one_.project.account: {"x1": 3} for one_ in (world.ann, world.bob)})
    key = Signer(one.login, store_key(one))
    with as_execution(world.store, one) as person, as_execution(world.store, ended) as gone:
        assert gone.call("GET", "inbox/upload").content == CONTENT
        AliveFile(alive_file(str(world.store.directory / "rates"))).write(alive)
        assert gone.call("GET", "inbox/upload").status_code == 401
        assert not opened(world, Signer(ended.login, store_key(ended)).url(GET))
        assert person.call("GET", "inbox/upload").content == CONTENT
        for headers in ({"X-Service-Token": "x"}, {"X-Roles": "ResellerAdmin"}):
            assert person.call("GET", "inbox/upload", headers=headers).status_code in (200, 401)
        for account in (world.bob.project.account, world.namesake.project.account):
            answer = httpx.get(f"{world.root}/v1/{account}/inbox/upload", headers={"X-Auth-Token": person.token})
            assert answer.status_code == 403
    for wire in (key.url(GET), key.header(GET), key.url_v2(GET), key.header_v2(GET)):
        assert world.s3(wire) == (200, CONTENT)
    for other in (replace(key, access_key=of_bob.login), Signer(f"acme:{one.login}", key.secret)):
        assert not opened(world, other.url(GET))


def test_zoe_signs_in_at_a_proxy_with_tempauth(world: World) -> None:
    ann, urls = world.ann, [f"{url}/auth/v1.0" for url in world.store.proxy_urls]
    view = View("one", ann.project.id, "swift2d://inbox.zoe/upload")
    good, wrong = (Credential(f"{ann.project.id}:zoe", key) for key in ("zoes-key", "wrong"))
    token = TenantTokens({"zoe": urls[1]}, lambda _: {"zoe": good})(view)
    address = f"{world.store.proxy_urls[1]}/v1/{ann.project.account}/inbox/upload"
    assert httpx.get(address, headers={"X-Auth-Token": token}).content == CONTENT
    assert world.native(ann, ann.project.account, X_Auth_Token=token).status_code == 401
    for url, credential in ((urls[1], wrong), (urls[0], good)):
        with pytest.raises(NoAccessError):
            TenantTokens({"zoe": url}, lambda _, known=credential: {"zoe": known})(view)
    controller = SwiftHttp(SwiftAdmin(urls[1], ADMIN.login, ADMIN.key))
    for _ in ("a token", "its end, after which the controller signs in again"):
        answer = controller.ask("HEAD", world.namesake.project.account, "inbox", {})
        answer.close()
        assert answer.status_code == 204
        world.forget()
    with pytest.raises(RequestRefusedError, match="refuses the login"):
        SwiftHttp(SwiftAdmin(urls[0], ADMIN.login, ADMIN.key)).ask("HEAD", ann.project.account, "inbox", {})


def test_zoe_signs_in_at_keystone_with_application_credentials(world: World) -> None:
    made, ann = world.keystone, world.ann
    view = View("one", ann.project.id, "swift2d://inbox.zoe/upload")
    user, key = made.application_credential(ann.user, ann.project)
    good, wrong, other = (
        Credential(*item)
        for item in ((user, key), (user, "wrong"), made.application_credential(world.bob.user, world.bob.project))
    )

    def token_of(credential: Credential) -> str:
        return TenantTokens({"zoe": made.url}, lambda _: {"zoe": credential})(view)

    with pytest.raises(NoAccessError, match="no public address"):
        token_of(good)
    made.has_store(world.root)
    assert world.native(ann, ann.project.account, X_Auth_Token=token_of(good)).content == CONTENT
    assert asyncio.run(read_by_the_api(made.url, good)) == (f"{world.root}/v1/{ann.project.account}", CONTENT)
    for credential in (wrong, other):
        with pytest.raises(NoAccessError):
            token_of(credential)
    with pytest.raises(ApiProblem, match="refuses the sign-in"):
        asyncio.run(read_by_the_api(made.url, wrong))
    admin, service = made.user("zoe"), made.project("zoe")
    made.grant(admin, service, "ResellerAdmin")
    controller = SwiftHttp(SwiftAdmin(made.url, *made.application_credential(admin, service)))
    for _ in ("a token", "the same"):
        answer = controller.ask("HEAD", world.namesake.project.account, "inbox", {})
        answer.close()
        assert answer.status_code == 204
    with pytest.raises(RequestRefusedError, match="refuses the login"):
        SwiftHttp(SwiftAdmin(made.url, user, "wrong")).ask("HEAD", ann.project.account, "inbox", {})


async def read_by_the_api(auth_url: str, credential: Credential) -> tuple[str, bytes]:
    """The address of the account, and the object there."""
    client = SwiftClient()
    try:
        account = Account(client, SwiftLogin("zoe", auth_url, credential.user, credential.key))
        answer = await account.read(StoreRequest("GET", (b"inbox", b"upload")))
        return await account.address(), answer[1]
    finally:
        await client.close()


@pytest.mark.last
def test_a_cache_of_s3token_lets_names_cross_domains(world: World) -> None:
    """Why the page says `secret_cache_duration = 0` and `allow_names_in_acls = false`: only an admin reads secrets."""
    ann, made = world.ann, world.keystone
    admin, project = made.user("caching"), made.project("caching")
    made.grant(admin, project, "admin")
    text = documented(made, admin)["filter:s3token"].replace("secret_cache_duration = 0\n", "")
    text = text.replace("username = swift", "username = caching").replace("= service", "= caching")
    names = world.sections["filter:keystoneauth"].replace("allow_names_in_acls = false\n", "")
    world.store.sections = world.sections | {"filter:s3token": text, "filter:keystoneauth": names}
    world.store.restart("proxy")
    made.grant(world.namesake.user, ann.project, "reader")
    key, again = made.key(world.namesake.user, ann.project), made.key(ann.user, ann.project)
    assert world.native(ann, ann.project.account, "inbox", "POST", X_Container_Read="acme:bob").status_code == 204
    assert [world.s3(key.url(GET))[0] for _ in range(2)] == [403, 200]
    assert opened(world, again.url(GET))
    made.end_key(ann.user, again)
    assert opened(world, again.url(GET)), "from the cache"
    world.forget()
    assert not opened(world, again.url(GET))


@pytest.mark.last
def test_without_keystone_executions_go_on_and_others_are_refused(world: World) -> None:
    ann, account = world.ann, world.ann.project.account
    one = ExecutionUser(ann.project.id, "x1", 3)
    fresh = world.keystone.token(ann.user, ann.project)
    seen, key = (world.keystone.key(ann.user, ann.project) for _ in range(2))
    assert world.native(ann, account).status_code == 200
    assert opened(world, seen.url(GET)), "s3token has signed in, for which it knows no limit of time"
    for number, status in ((signal.SIGSTOP, 500), (signal.SIGKILL, 401)):
        os.kill(world.keystone.pid, number)
        with as_execution(world.store, one) as person:
            assert person.call("GET", "inbox/upload").content == CONTENT
        assert opened(world, Signer(one.login, store_key(one)).url(GET))
        assert world.native(ann, account).content == CONTENT, "from the cache"
        assert world.native(ann, account, X_Auth_Token=fresh).status_code == status
        assert not opened(world, key.url(GET))
