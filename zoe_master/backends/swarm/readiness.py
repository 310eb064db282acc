"""Asking a container whether it serves its port, from inside: nothing outside its network can reach it.

One process waits in the container until the port is served and says so by its exit. It needs /bin/sh there, and for
HTTP one of bash and nc; without those a port that listens counts as ready.
"""

from __future__ import annotations

from zoe_lib.domain.application import Probe, ProbeKind

_SCRIPT = r"""
listens() {
    for table in /proc/net/tcp /proc/net/tcp6; do
        [ -r "$table" ] || continue
        while read -r _ local _ state _; do
            [ "$state" = 0A ] || continue
            case $local in *:"$1") return 0 ;; esac
        done < "$table"
    done
    return 1
}
ask() {
    request="GET $3 HTTP/1.0\r\nHost: $1\r\n\r\n"
    if command -v bash > /dev/null; then
        bash -c 'exec 3<> "/dev/tcp/$0/$1" && printf "$2" >&3 && IFS= read -r -t 5 line <&3; echo "$line"' \
            "$1" "$2" "$request" 2> /dev/null
    elif command -v nc > /dev/null; then
        printf "$request" | nc -w 5 "$1" "$2" 2> /dev/null | { IFS= read -r line; echo "$line"; }
    else
        echo "HTTP/1.0 200"
    fi
}
while :; do
    if listens "$1"; then
        [ "$2" = http ] || exit 0
        case $(ask "$3" "$4" "$5") in HTTP/*\ [1-4]*) exit 0 ;; esac
    fi
    sleep "$6"
done
"""


def waiting_command(probe: Probe, port: int, host: str) -> list[str]:
    """What to run in the container; it exits with 0 once the probe is answered."""
    kind = "http" if probe.kind is ProbeKind.HTTP else "tcp"
    path = probe.path.replace("\\", "\\\\").replace("%", "%%")
    return ["/bin/sh", "-c", _SCRIPT, "ready", f"{port:04X}", kind, host, str(port), path, f"{probe.interval_s:g}"]
