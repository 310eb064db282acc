"""Commands of a terminal in a container, with /bin/sh and no other part of the image.

An engine cannot end a command that it runs in a container, and does not track the command's descendants. So all
processes of a terminal inherit its number, and a second command finds them by it: as their limit of file locks, which
Linux ignores and no process can raise, and in a variable.
"""

from __future__ import annotations

import secrets

SHELL = "/bin/sh"
NAME = "ZOE_TERMINAL"
_TITLE = "zoe-terminal-"
NOT_FOUND, CANNOT_RUN, SOME_LEFT = 127, 126, 3

# Arguments: the number, rows, columns (0: no window), the command. Shells have two letters for the limit. The program
# of a batch job writes its variables and its directory into a file for shells.
_BEGIN = r"""
ulimit -w "$1" 2> /dev/null || ulimit -x "$1" 2> /dev/null
shift
[ "$1" = 0 ] || stty rows "$1" cols "$2" 2> /dev/null
shift 2
own="${TMPDIR:-/tmp}/.zoe-environment"
[ ! -r "$own" ] || . "$own" 2> /dev/null
if ! command -v "$1" > /dev/null 2>&1; then
    echo "zoe: cannot run '$1': No such file or directory" >&2
    exit 127
fi
exec "$@"
"""

# Arguments: the signal, the number. It finds processes with the number, all processes of their sessions, and their
# children. A session with one process of a terminal was begun by one: no process can join a session.
_END = r"""
found=" "
sessions=" "
known() {
    case $found in *" $1 "*) return 0 ;; esac
    return 1
}
marked() {
    while IFS= read -r line; do
        case $line in "Max file locks "*) break ;; esac
    done < "$1/limits"
    case $line in *" $2 "*) return 0 ;; esac
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in *"ZOE_TERMINAL=$2"*) return 0 ;; esac
        line=
    done < "$1/environ"
    return 1
}
take() {
    found="$found$1 "
    case $sessions in *" $2 "*) ;; *) sessions="$sessions$2 " ;; esac
    more=1
}
{
    more=1
    first=1
    while [ "$more" = 1 ]; do
        more=0
        for place in /proc/[0-9]*; do
            pid=${place#/proc/}
            known "$pid" && continue
            IFS= read -r stat < "$place/stat" || continue
            set -- "$1" "$2" ${stat##*) }
            [ "$3" = Z ] && continue
            case $sessions in *" $6 "*) take "$pid" "$6"; continue ;; esac
            if known "$4" || { [ "$first" = 1 ] && marked "$place" "$2"; }; then
                take "$pid" "$6"
            fi
        done
        first=0
    done
    for pid in $found; do
        kill -CONT "$pid"
        kill "-$1" "$pid"
    done
} 2> /dev/null
[ "$found" = " " ] || exit 3
"""


def new_name() -> str:
    """Return the number of a new terminal."""
    return str(secrets.randbelow(2**61) + 2**61)


def begin(name: str, command: list[str], size: tuple[int, int] | None) -> list[str]:
    """Return the command to give to the engine, so that `command` runs in the terminal of this name, a number."""
    rows, columns = size or (0, 0)
    return [SHELL, "-c", _BEGIN, _TITLE + name, name, str(rows), str(columns), *command]


def end(name: str, signal: str) -> list[str]:
    """Return the command that sends a signal to every process of a terminal, and exits with SOME_LEFT if there is
    one.
    """
    return [SHELL, "-c", _END, "zoe-end", signal, name]


def name_in(arguments: list[str]) -> str | None:
    """Return the name of the terminal in the arguments of a command; None if it belongs to no terminal."""
    title = arguments[2] if len(arguments) > 2 else ""
    return title.removeprefix(_TITLE) if title.startswith(_TITLE) else None
