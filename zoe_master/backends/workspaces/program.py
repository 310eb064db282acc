"""The program that gives a workspace to another user, run as root by each back-end; standard library only.

Arguments: the tenant's directory, the directory of the former user in it, that of the new one, and the numbers of both,
which are equal where all users are one. It prints the name of the new directory, or nothing if there was nothing to
move. It may be killed at any time: the next run gives away the rest, and the directory gets its new name last, in one
step.
"""

from __future__ import annotations

import errno
import os
import resource
import stat
import sys
from collections.abc import Iterator

_NAMES_MAX = 1000
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def main() -> int:
    """Move the workspace; return 1 with a sentence on standard error if that is impossible."""
    holder, former, heir, former_uid, heir_uid = sys.argv[1:]
    try:
        base = os.open(holder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            top = os.open(former, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=base)
        except FileNotFoundError:
            return 0
        if former_uid != heir_uid:
            _raise_bound()
            give(top, int(former_uid), int(heir_uid))
        name = rename_into_heir(base, former, heir)
    except OSError as error:
        print(f"{error.filename or former}: {error.strerror}", file=sys.stderr)
        return 1
    print(name)
    return 0


def give(top: int, former: int, heir: int) -> None:
    """Give the former user's files in a tree of this file system to the heir; `top` is closed.

    Programs of the former user may change the tree meanwhile. So each check and change uses the same descriptor, and no
    link is followed.
    """
    device = os.fstat(top).st_dev
    way: list[tuple[int, Iterator[os.DirEntry[str]]]] = [(top, os.scandir(top))]
    while way:
        directory, entries = way[-1]
        entry = next(entries, None)
        if entry is None:
            _change_owner(directory, former, heir)
            os.close(way.pop()[0])
            continue
        try:
            held = os.open(entry.name, os.O_PATH | os.O_NOFOLLOW, dir_fd=directory)
        except FileNotFoundError:
            continue
        try:
            found = os.fstat(held)
            if not stat.S_ISDIR(found.st_mode):
                _change_owner(held, former, heir)
            elif found.st_dev == device:
                deeper = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=held)
                way.append((deeper, os.scandir(deeper)))
        finally:
            os.close(held)


def rename_into_heir(base: int, former: str, heir: str) -> str:
    """Move the directory into the heir's, under the first free name, and return the name. It never follows a link."""
    into = os.open(heir, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=base)
    name = f"from-{former}"
    for number in range(2, _NAMES_MAX):
        try:
            os.rename(former, name, src_dir_fd=base, dst_dir_fd=into)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            name = f"from-{former}-{number}"
        else:
            return name
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _change_owner(held: int, former: int, heir: int) -> None:
    # Also a link: a descriptor opened for its path leads to the link itself.
    if os.fstat(held).st_uid == former:
        os.chown(f"/proc/self/fd/{held}", heir, -1)


def _raise_bound() -> None:
    """Raise the limit of open files to root's: a tree is as deep as its user likes."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    sys.exit(main())
