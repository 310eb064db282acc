"""Git repositories of a component: allowed addresses, versions and directories."""

from __future__ import annotations

import re

_STEP = r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,99}"
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:]{2,45}\])(?::[0-9]{1,5})?"
_URL = re.compile(
    rf"(?P<scheme>https|ssh)://(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]{{0,63}})@)?(?P<host>{_HOST})"
    r"(?P<path>(?:/[A-Za-z0-9._~+@%-]+)+)/?"
)
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@#-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+@#-]*)*")
_NOT_IN_REF = ("..", "@{", ".lock", "./")
_DIRECTORY = re.compile(rf"{_STEP}(?:/{_STEP}){{0,7}}")
_REASONS = (
    (re.compile(r"[\x00-\x20\x7f-\x9f]"), "spaces and control characters are not allowed"),
    (re.compile(r"^-"), "options of git are not allowed"),
    (re.compile(r"^[a-z0-9+.-]+::"), "helpers of git are not allowed; use https:// or ssh://"),
    (re.compile(r"^(?!https://|ssh://)[A-Za-z][A-Za-z0-9+.-]*://"), "use https:// or ssh://, no other scheme"),
    (
        re.compile(r"^[^/]*://[^/]*:[^/]*@"),
        "no passwords here: store it as a secret, and name that as `secret`",
    ),
    (re.compile(r"^[^/:]+@?[^/:]*:(?!//)"), "write ssh://USER@HOST/PATH instead of USER@HOST:PATH"),
    (re.compile(r"[?#]"), "a repository's address has no `?` and no `#`"),
)


def git_url(text: str) -> str:
    """Return the address in the form that git takes; ValueError with the fault."""
    for pattern, reason in _REASONS:
        if pattern.search(text):
            raise ValueError(reason)
    found = _URL.fullmatch(text)
    if found is None or ".." in found["path"].split("/"):
        raise ValueError("not the address of a repository, such as https://example.org/team/project.git")
    return text.rstrip("/")


def git_ref(text: str) -> str:
    """Return the name of a branch or tag, or a commit; ValueError for other texts."""
    if (
        _REF.fullmatch(text) is None
        or text == "HEAD"
        or text.endswith((".", "/"))
        or any(part in text for part in _NOT_IN_REF)
    ):
        raise ValueError("neither the name of a branch or a tag, nor a commit")
    return text


def directory(text: str) -> str:
    """Return a directory below the workspace; ValueError for other texts."""
    if _DIRECTORY.fullmatch(text) is None:
        raise ValueError("use a relative path of letters, digits and . _ @ -, whose parts do not begin with '.'")
    return text


def default_directory(url: str) -> str:
    """Return the directory that git itself would choose; ValueError if its name is not allowed here."""
    try:
        return directory(url.rstrip("/").rpartition("/")[2].removesuffix(".git"))
    except ValueError:
        raise ValueError("the address ends in no name for a directory; give one as `into`") from None


def is_ssh(url: str) -> bool:
    """Return whether access needs an ssh key."""
    return url.startswith("ssh://")
