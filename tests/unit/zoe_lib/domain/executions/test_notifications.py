"""Allowed targets of notifications."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from zoe_lib.domain.executions.notifications import TargetAddress, TargetRefused, mail_address, web_address

SITE = [ip_network("10.1.0.0/16"), ip_network("fd00:1::/32")]


def test_public_names_and_addresses_are_allowed() -> None:
    assert web_address("https://hooks.example.org/a?b=c") == TargetAddress("https", "hooks.example.org", 443, "/a?b=c")
    assert web_address("https://1.1.1.1").path == "/"
    assert web_address("https://hooks.example.org:8443/").authority == "hooks.example.org:8443"
    assert web_address("https://[2606:4700::1111]/").authority == "[2606:4700::1111]"


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "ftp://hooks.example.org/",
        "hooks.example.org",
        "https:///path",
        "https://user:password@hooks.example.org/",
        "https://hooks.example.org/#part",
        "https://hooks.example.org:22/",
        "https://hooks.example.org:0/",
        "https://hooks.example.org:99999/",
        "https://hooks.example.org/a b",
        "https://hooks.example.org/\r\nX: y",
        "https://hooks.example.org\\@127.0.0.1/",
        "https://h\u00e4user.example.org/",
        "https://[::1",
        "https://" + "a" * 3000,
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(TargetRefused):
        web_address(url)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "10.0.0.1", "172.16.0.1",
        "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1",
        "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]",
        "[64:ff9b::a00:1]", "[64:ff9b:1:7f00:0:100:808:808]", "[fec0::1]", "[3fff::1]", "[5f00::1]", "[2001:20::1]",
        "192.0.0.8", "192.0.0.170", "192.88.99.1", "[2002:7f00:1::]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[ff02::1]",
        "localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "ip6-localhost",
    ],
)  # fmt: skip
def test_addresses_of_this_machine_and_its_neighbours_are_refused(host: str) -> None:
    with pytest.raises(TargetRefused):
        web_address(f"https://{host}/")


def test_networks_of_the_site_can_be_allowed() -> None:
    assert web_address("http://10.1.2.3:8080/", SITE).port == 8080
    assert web_address("https://[fd00:1::5]/", SITE).host == "fd00:1::5"
    assert web_address("http://localhost:8080/", [ip_network("127.0.0.0/8")]).host == "localhost"
    with pytest.raises(TargetRefused, match="not a public address"):
        web_address("https://10.2.0.1/", SITE)


def test_mail_goes_to_domains_of_the_site_only() -> None:
    assert mail_address("mailto:ada@example.org", ["example.org"]) == "ada@example.org"
    assert mail_address("mailto:ada@EXAMPLE.org", ["example.org"]) == "ada@EXAMPLE.org"
    for address in (
        "ada@other.org", "ada", "@example.org", "a@b@example.org", "ada@example.org,eve@other.org",
        "ada@example.org?bcc=eve@other.org", "ada@example.org\nBcc: eve@other.org", '"a b"@example.org',
        "ada%40other.org@example.org", "ada@example.org;eve@other.org",
    ):  # fmt: skip
        with pytest.raises(TargetRefused):
            mail_address(f"mailto:{address}", ["example.org"])
    with pytest.raises(TargetRefused, match="sends no mail"):
        mail_address("mailto:ada@example.org", [])
