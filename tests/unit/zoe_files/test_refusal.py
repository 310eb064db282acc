"""Errors of the operating system become refusals."""

from __future__ import annotations

import errno
import os

import pytest

from zoe_files.refusal import FileRefused, refuse_os_errors


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [
        (errno.ENOENT, 404, "not_found"),
        (errno.EACCES, 403, "file_denied"),
        (errno.EPERM, 403, "file_denied"),
        (errno.EROFS, 403, "file_denied"),
        (errno.EXDEV, 403, "file_denied"),
        (errno.ELOOP, 403, "file_denied"),
        (errno.EEXIST, 409, "file_exists"),
        (errno.ENOTEMPTY, 409, "wrong_kind"),
        (errno.ENAMETOOLONG, 422, "invalid_path"),
        (errno.ENOSPC, 507, "workspace_full"),
        (errno.EDQUOT, 507, "workspace_full"),
        (errno.EMFILE, 429, "files_busy"),
        (errno.EIO, 409, "wrong_kind"),
    ],
)
def test_each_error_has_a_status_and_a_code(number: int, status: int, code: str) -> None:
    with pytest.raises(FileRefused) as caught, refuse_os_errors("some/file"):
        raise OSError(number, os.strerror(number))
    assert (caught.value.status, caught.value.code) == (status, code)


def test_deep_directories_are_refused() -> None:
    with pytest.raises(FileRefused, match="deep is nested too deeply"), refuse_os_errors("deep"):
        raise RecursionError
