"""Refusals of the file program, and the operating system's errors that become refusals."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class FileRefused(Exception):  # noqa: N818 - it is an answer
    """A refusal: an HTTP status, an error code of the API, and a sentence."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


def wrong_kind(sentence: str) -> FileRefused:
    """Return the refusal of a file of the wrong kind, such as a directory where a file is needed."""
    return FileRefused(409, "wrong_kind", sentence)


@contextmanager
def refuse_os_errors(path: str) -> Iterator[None]:
    """Raise FileRefused for errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise _refusal_of(error, path) from None
    except RecursionError:
        raise wrong_kind(f"{path} is nested too deeply: delete its contents first") from None


_DENIED = (403, "file_denied", "{}: the permissions of the file system do not allow this")
_LED_OUT = (403, "file_denied", "{} leads out of the directory by a link")
_INVALID = (422, "invalid_path", "{} is not a name that the file system takes")
_FULL = (507, "workspace_full", "no room for {}: delete files, or ask an admin for more")
_BUSY = (429, "files_busy", "too many files are open; try again soon")
_MEANINGS = {
    errno.ENOENT: (404, "not_found", "{} does not exist"),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: _DENIED,
    errno.EXDEV: _LED_OUT,
    errno.ELOOP: _LED_OUT,
    errno.EEXIST: (409, "file_exists", "{} exists"),
    errno.ENOTDIR: (409, "wrong_kind", "{} is not a directory, or one above it is not"),
    errno.EISDIR: (409, "wrong_kind", "{} is a directory"),
    errno.ENOTEMPTY: (409, "wrong_kind", "{} is not empty"),
    errno.EINVAL: _INVALID,
    errno.ENAMETOOLONG: _INVALID,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EMFILE: _BUSY,
    errno.ENFILE: _BUSY,
}


def _refusal_of(error: OSError, path: str) -> FileRefused:
    status, code, sentence = _MEANINGS.get(error.errno or 0, (409, "wrong_kind", f"{{}}: {error.strerror}"))
    return FileRefused(status, code, sentence.replace("{}", path or "the directory"))
