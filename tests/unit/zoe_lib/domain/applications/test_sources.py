"""Sources: allowed addresses, versions and directories of a description."""

from __future__ import annotations

import re
from typing import Any

import pytest

from zoe_client.documents.diagnostics import DescriptionError
from zoe_lib.descriptions import parse, to_document
from zoe_lib.domain.applications.application import ComponentSource
from zoe_lib.domain.applications.secrets import TenantSecrets, wanted_secrets
from zoe_lib.domain.applications.sources import default_directory, git_ref, git_url
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform

URL = "https://example.org/team/project.git"


def cloning(*sources: object, **changes: Any) -> dict[str, Any]:
    component = {"name": "c", "image": "i", "resources": {"memory": "1MiB"}, "ends_application": True, **changes}
    return {"version": 4, "name": "a", "components": [{**component, "sources": list(sources)}]}


@pytest.mark.parametrize(
    "url",
    [URL, "https://me@example.org:8443/a", "https://example.org/~ann/a+b_c.git/", "ssh://git@[::1]:22/srv/a.git"],
)
def test_addresses(url: str) -> None:
    assert git_url(url) == url.rstrip("/")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ext::sh -c evil", "spaces and control"),
        ("ext::sh", "helpers of git"),
        ("file:///etc", "no other scheme"),
        ("http://example.org/a", "no other scheme"),
        ("git://example.org/a", "no other scheme"),
        ("--upload-pack=evil", "options of git"),
        ("https://-oProxyCommand=evil/a", "not the address"),
        ("ssh://-oProxyCommand=evil/a", "not the address"),
        ("ssh://-evil@example.org/a", "not the address"),
        ("https://ann:password@example.org/a", "no passwords here"),
        ("git@example.org:team/a.git", "ssh://USER@HOST/PATH"),
        ("/srv/a.git", "not the address"),
        ("../a.git", "not the address"),
        ("https://example.org", "not the address"),
        ("https://example.org/a/../../b", "not the address"),
        ("https://example.org/a?x=1", "no `?`"),
        ("https://example.org/a'b", "not the address"),
        ("https://example.org/$(evil)", "not the address"),
        ("https://example.org/a\nb", "control characters"),
    ],
)
def test_hostile_addresses_are_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        git_url(url)


@pytest.mark.parametrize("ref", ["main", "v1.2.3", "topic/a-b", "0123abcd", "a@b"])
def test_versions(ref: str) -> None:
    assert git_ref(ref) == ref


@pytest.mark.parametrize("ref", ["-f", "a b", "a..b", "a/", "/a", "a//b", "a@{1}", "a.lock", "a:b", "a^", "a.", "a\n"])
def test_invalid_version_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="nor a commit"):
        git_ref(ref)


def test_a_repository_names_its_directory() -> None:
    assert default_directory(URL) == "project"
    (component,) = parse(cloning({"git": URL}, {"git": f"{URL}/", "into": "b/c", "ref": "v1"})).components
    assert component.sources == (ComponentSource(URL, into="project"), ComponentSource(URL, "v1", "b/c"))
    with pytest.raises(ValueError, match="as `into`"):
        default_directory("https://example.org/.git")


def test_a_document_is_the_same_again() -> None:
    application = parse(cloning({"git": "ssh://git@example.org/a.git", "secret": "key", "ref": "v1"}))
    assert parse(to_document(application)) == application
    assert wanted_secrets(application) == {"key"}


@pytest.mark.parametrize(
    ("sources", "pointer", "message"),
    [
        ([{"git": "file:///x"}], "/components/0/sources/0/git", "no other scheme"),
        ([{"git": URL, "ref": "-x"}], "/components/0/sources/0/ref", "nor a commit"),
        ([{"git": URL, "into": "../x"}], "/components/0/sources/0/into", "relative path"),
        ([{"git": URL, "into": ".ssh"}], "/components/0/sources/0/into", "relative path"),
        ([{"git": "ssh://example.org/a"}], "/components/0/sources/0", "needs a private key"),
        ([{"git": URL}, {"git": URL, "ref": "b"}], "/components/0/sources/1", "not different directories"),
        ([{"git": URL}, {"git": URL, "into": "project/b"}], "/components/0/sources/1", "not different directories"),
        ([{"git": "https://example.org/.git"}], "/components/0/sources/0/git", "as `into`"),
        ([{"git": URL}] * 9, "/components/0/sources", "8"),
    ],
)
def test_all_that_is_wrong_has_its_place(sources: list[object], pointer: str, message: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        parse(cloning(*sources))
    assert [
        message
        for diagnostic in refused.value.diagnostics
        if diagnostic.pointer == pointer and message in diagnostic.message
    ]


def test_docker_swarm_refuses_them_and_a_missing_secret_is_named() -> None:
    application = parse(cloning({"git": URL, "secret": "key"}))
    able = BackendCapabilities(why_no_sources="images need not have git")
    found = findings(application, Target(Platform(capabilities=able), secrets=TenantSecrets("ann", "red", frozenset())))
    assert [(finding.place, finding.code) for finding in found] == [
        (("components", 0, "sources"), "no_sources"),
        (("components", 0, "sources", 0, "secret"), "no_secret"),
    ]
    assert found[0].message == "component c has sources, but images need not have git"
    assert not findings(application, Target(Platform(), secrets=TenantSecrets("ann", "red", frozenset({"key"}))))
