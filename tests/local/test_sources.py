"""Sources: repositories that are in the workspace before a component starts, cloned by its user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.repositories import TOKEN, Repository, served, ssh_server
from tests.local.support import ANN, LocalWorld, needs_root, shell, start_of
from tests.support.needs import need_program
from zoe_lib.domain.applications.application import ComponentSecret, ComponentSource
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import Observation, ObservedState, ServiceSecrets

RUN = "cd {workspace}/project && sh hello.sh; git symbolic-ref -q --short HEAD || echo detached"


class Place:
    """A repository at an address, and a back-end whose services trust it."""

    def __init__(self, directory: Path, world: LocalWorld) -> None:
        self.directory, self.world = directory, world
        self.repository = Repository(directory)
        self.url = ""
        self._count = 0

    def run(self, script: str = RUN, value: str = TOKEN, **source: str) -> Observation:
        given = ComponentSource(**{"url": f"{self.url}/project.git", "into": "project", **source})
        secrets = ServiceSecrets({"key": value} if given.secret else {})
        self._count += 1
        self.service = f"e{self._count}.c.0.1"
        component = shell(script, sources=(given,))
        self.world.backend.start(start_of(component, self.service, secrets=secrets))
        return self.world.ended(self.service)

    def output(self, script: str = RUN, value: str = TOKEN, **source: str) -> list[str]:
        ended = self.run(script, value, **source)
        assert ended.cause is Cause.EXITED, ended.message
        return self.world.output(self.service).splitlines()

    @property
    def clone(self) -> Path:
        return next(self.world.settings.workspaces_dir.glob("*/*/project"))


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    need_program("git")
    world = LocalWorld()
    directory = world.base / "served"
    directory.mkdir(mode=0o755)
    world.settings.images["shell"].environment["GIT_SSL_CAINFO"] = str(directory / "ca" / "ca.pem")  # type: ignore[index]
    made = Place(directory, world)
    with served(directory) as url:
        made.url = url
        yield made
    world.finish()


def test_the_workspace_has_the_branch_the_tag_or_the_commit_that_is_named(place: Place) -> None:
    first = place.repository.commit("first", tag="v1")
    place.repository.commit("second")
    place.repository.commit("other", branch="topic/other")
    assert place.output()[-2:] == ["second", "main"]
    assert place.output(ref="topic/other")[-2:] == ["other", "topic/other"]
    assert place.output(ref="v1")[-2:] == ["first", "detached"]
    assert place.output(ref="main")[-2:] == ["second", "main"]
    assert place.output(ref=first[:10], into="at/commit", script="sh {workspace}/at/commit/hello.sh")[-1] == "first"
    assert not list(place.clone.parent.glob("**/*.zoe-clone"))


def test_a_clone_goes_forward_but_never_over_changes(place: Place) -> None:
    place.repository.commit("first")
    place.output()
    place.repository.commit("second")
    assert place.output()[-2:] == ["second", "main"]
    place.output(script="cd {workspace}/project && echo echo mine > hello.sh")
    place.repository.commit("third")
    output = place.output(ref="main")
    assert re.search(r"^zoe: project is at [0-9a-f]{7,}; main was asked for$", "\n".join(output), re.M)
    assert "zoe: project has changes of its own, and is left as it is" in output
    assert "mine" in output
    commit = "git -c user.name=a -c user.email=a@b commit -qam mine"
    assert "mine" in place.output(script=f"cd {{workspace}}/project && {commit}; sh hello.sh")
    assert "zoe: project has commits of its own, and is left as it is" in place.output()


def test_leftover_of_a_killed_clone_is_removed_by_the_next(place: Place) -> None:
    place.repository.commit("first")
    place.output(script="mkdir -p {workspace}/.other.zoe-clone/.git {workspace}/.mine")
    place.output()
    assert sorted(path.name for path in place.clone.parent.glob(".*")) == [".mine"]


def test_failed_clone_has_the_reason_of_git(place: Place) -> None:
    place.repository.commit("first")
    for source, reason in [
        ({"ref": "nosuch"}, "has no branch, tag or commit nosuch"),
        ({"url": f"{place.url}/nothing.git"}, f"cloning project failed: repository '{place.url}/nothing.git/' not fou"),
        ({"url": "https://127.0.0.1:1/a.git"}, "unable to access"),
    ]:
        ended = place.run(**source)
        assert (ended.cause, ended.exit_code) == (Cause.START_FAILED, None)
        assert reason in ended.message
    place.output(into="mine", script="true")
    made = place.output(script="mkdir -p {workspace}/taken && touch {workspace}/taken/file", into="mine")
    assert made
    assert "taken already exists and is not a clone; give another" in place.run(into="taken").message
    assert "mine already exists and is a clone of" in place.run(into="mine", url=f"{place.url}/x.git").message


def test_bytes_and_time_are_bounded(place: Place) -> None:
    from dataclasses import replace

    place.repository.commit("first")
    place.world.close()
    plain = place.world.settings
    place.world.settings = replace(plain, source_bytes_max=1000)
    assert "is larger than 0.000953674 MiB, which is the site's limit" in place.run().message
    place.world.close()
    place.world.settings = replace(plain, source_s_max=0.001)
    assert "not done within 0.001 s" in place.run().message
    place.world.close()
    place.world.settings = plain
    assert place.output()[-2:] == ["first", "main"]


@needs_root
def test_a_token_opens_a_private_repository_and_is_nowhere_else(place: Place) -> None:
    place.repository.commit("private")
    with served(place.directory, TOKEN) as url:
        private = f"{url}/project.git"
        refused = place.run(url=private).message
        assert "could not read Username" in refused
        assert "askpass" not in refused
        assert "zoe run --git-secret NAME" in refused
        look = f"{RUN}; ls -a {{scratch}}; env; grep -r {TOKEN[:10]} {{workspace}} {{scratch}} || echo nowhere"
        output = place.output(look, url=private, secret="key")
    assert "private" in output
    assert output[-1] == "nowhere"
    assert TOKEN not in "\n".join(output)
    assert "zoe-source-secrets" not in output
    assert "helper" not in (place.clone / ".git" / "config").read_text()
    assert {path.lstat().st_uid for path in [place.clone, *place.clone.rglob("*")]} == {ANN.uid}


@needs_root
def test_a_private_key_opens_a_repository_of_a_known_host_only(place: Place) -> None:
    place.repository.commit("by ssh")
    with ssh_server(place.world.base / "ssh") as server:
        url = f"ssh://root@127.0.0.1:{server.port}{place.repository.bare}"
        assert "Host key verification failed" in place.run(url=url, secret="key", value=server.private_key).message
        known = f"mkdir -p {{workspace}}/.ssh && echo '{server.known_host}' > {{workspace}}/.ssh/known_hosts"
        place.output(known, into="other")
        assert "Permission denied (publickey" in place.run(url=url, secret="key").message
        assert "needs a stored secret" in place.run(url=url).message
        key = server.private_key.rstrip("\n")
        assert place.output(url=url, secret="key", value=key)[-2:] == ["by ssh", "main"]


def test_a_redirect_to_another_scheme_and_programs_of_a_clone_are_not_followed(place: Place) -> None:
    place.repository.commit("first")
    place.output()
    hook = "cd {workspace}/project && printf '#!/bin/sh\\ntouch {workspace}/ran' > .git/hooks/post-checkout"
    place.output(f"{hook} && chmod +x .git/hooks/post-checkout && cp .git/hooks/post-checkout .git/hooks/post-merge")
    place.repository.commit("second", branch="topic")
    assert place.output(ref="topic")[-2:] == ["second", "topic"]
    assert not (place.clone.parent / "ran").exists()
    place.output("cd {workspace}/project && git config url.file:///.insteadOf " + place.url)
    assert "transport 'file' not allowed" in place.run(ref="topic").message


def test_sources_and_a_secret_of_the_component_do_not_meet(place: Place) -> None:
    place.repository.commit("first")
    asked = (ComponentSecret("db", "db"),)
    component = shell(
        "cat {secrets}/db", sources=(ComponentSource(f"{place.url}/project.git", into="project"),), secrets=asked
    )
    place.world.backend.start(start_of(component, "s.c.0.1", secrets=ServiceSecrets({"db": "hidden"})))
    assert place.world.until_state("s.c.0.1", ObservedState.ENDED).exit_code == 0
    assert place.world.output("s.c.0.1").endswith("hidden")


def test_an_image_without_git_is_refused_in_words(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_master.backends.local.services.specification.SYSTEM_PATH", ("/nowhere",))
    ended = place.run()
    assert ended.message == "component c has sources, but its image has no git"
