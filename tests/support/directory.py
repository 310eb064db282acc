"""Debian's slapd as a process on loopback, with people, groups and TLS."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldap3 import Connection, Server
from ldap3.core.exceptions import LDAPException

from tests.support.needs import need_program
from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts

BASE = "dc=example,dc=org"
SEARCHER, SEARCHERS_PASSWORD = f"cn=zoe,{BASE}", "searching"
PASSWORD = "correct horse battery"
_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
# Some directories take a bind without a password for an anonymous one that succeeds (RFC 4513, section 5.1.2).
allow bind_anon_dn
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {directory}/pid
TLSCACertificateFile {directory}/ca.pem
TLSCertificateFile {directory}/cert.pem
TLSCertificateKeyFile {directory}/key.pem
database mdb
suffix "{base}"
directory {directory}/data
rootdn "{searcher}"
rootpw {password}
access to attrs=userPassword by anonymous auth
access to * by dn.exact="{searcher}" read by * none
"""
_ENTRIES = """
dn: {base}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,{base}
objectClass: organizationalUnit
ou: people

dn: ou=groups,{base}
objectClass: organizationalUnit
ou: groups

dn: uid=mia,ou=people,{base}
objectClass: inetOrgPerson
uid: mia
cn: Mia
sn: M
userPassword: {password}

dn: uid=ned,ou=people,{base}
objectClass: inetOrgPerson
uid: ned
cn: Ned (temporary)
sn: N
userPassword: {password}

dn: uid=pia,ou=people,{base}
objectClass: inetOrgPerson
uid: pia
cn: Pia (has no password)
sn: P

dn: cn=staff,ou=groups,{base}
objectClass: groupOfNames
cn: staff
member: uid=mia,ou=people,{base}
"""


@dataclass(frozen=True)
class Directory:
    """`plain` speaks LDAP and StartTLS, `secure` LDAPS, to `localhost`; `authority` signs its certificate."""

    plain: str
    secure: str
    searchers_password: Path
    authority: Path
    stranger: Path
    process: subprocess.Popen[bytes]

    def settings(self, **changes: Any) -> dict[str, Any]:
        """Return the settings for searches in it, as in `zoe.toml`."""
        values = {
            "url": self.secure,
            "ca_file": str(self.authority),
            "bind_dn": SEARCHER,
            "bind_password_file": str(self.searchers_password),
            "base": f"ou=people,{BASE}",
            "group_base": f"ou=groups,{BASE}",
            "title": "The firm",
            "timeout_s": 3.0,
        }
        return {**values, **changes}

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """A connection that may change entries."""
        connection = Connection(Server(self.plain), SEARCHER, SEARCHERS_PASSWORD, auto_bind=True)
        try:
            yield connection
        finally:
            connection.unbind()


@contextmanager
def directory() -> Iterator[Directory]:
    """Skips where slapd is missing."""
    slapd, slapadd = need_program("slapd"), need_program("slapadd")
    with tempfile.TemporaryDirectory(prefix="zoe-ldap-") as name:
        place = Path(name)
        (place / "data").mkdir()
        _certificates(place)
        told = {"directory": place, "base": BASE, "searcher": SEARCHER, "password": SEARCHERS_PASSWORD}
        (place / "password").write_text(SEARCHERS_PASSWORD + "\n")
        (place / "slapd.conf").write_text(_CONFIGURATION.format(**told))
        entries = _ENTRIES.format(base=BASE, password=PASSWORD)
        load = [slapadd, "-f", str(place / "slapd.conf")]
        subprocess.run(load, input=entries.encode(), check=True, capture_output=True)
        held = HeldPorts(2)
        first, second = held.numbers
        plain, secure = f"ldap://localhost:{first}", f"ldaps://localhost:{second}"
        run = [slapd, "-f", str(place / "slapd.conf"), "-h", f"{plain} {secure}", "-d", "0"]
        process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: _answers(plain))
            held.close()
            yield Directory(plain, secure, place / "password", place / "ca.pem", place / "stranger.pem", process)
        finally:
            process.terminate()
            process.wait()
            held.close()


def _answers(url: str) -> bool:
    connection = Connection(Server(url, connect_timeout=1), SEARCHER, SEARCHERS_PASSWORD)
    try:
        return connection.bind()
    except LDAPException:
        return False
    finally:
        connection.strategy.close()
        if connection.socket is not None:  # it was not opened far enough to be closed
            connection.socket.close()


def _certificates(place: Path) -> None:
    openssl = need_program("openssl")

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=place, check=True, capture_output=True)

    for name in ("ca", "stranger"):
        key = ["-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key"]
        # As authorities have it: Python 3.13 refuses those without (VERIFY_X509_STRICT).
        usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        run("req", "-x509", *key, "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}", *usage)
    run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "csr.pem", "-subj", "/CN=localhost")
    # libldap compares the certificate with the machine's name for `localhost`.
    names = sorted({"localhost", socket.gethostname(), socket.getfqdn()})
    (place / "names").write_text(f"subjectAltName={','.join(f'DNS:{name}' for name in names)}\n")
    authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    run("x509", "-req", "-in", "csr.pem", *authority, "-out", "cert.pem", "-days", "2", "-extfile", "names")
