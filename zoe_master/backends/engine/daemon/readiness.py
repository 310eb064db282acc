"""Probe a container's port from inside, since its network is not reachable from outside.

One process waits in the container until the port answers, then exits. It needs /bin/sh, and for HTTP either bash or nc;
without those a listening port counts as ready.
"""

from __future__ import annotations

from zoe_lib.domain.applications.application import Probe, ProbeKind

# A pause grows to a tenth of the time waited, with few forks: otherwise the probes of many services that start slowly
# at the same time would take a quarter of two cores.
_PATIENCE = 10

_SCRIPT = r"""
listens() {
    tables=$(cat /proc/net/tcp /proc/net/tcp6 2> /dev/null)
    nobody=00000000
    case $tables in
        *":$1 $nobody:0000 0A "*) return 0 ;;
        *":$1 $nobody$nobody$nobody$nobody:0000 0A "*) return 0 ;;
    esac
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
waited=0
pause=$6
while :; do
    if listens "$1"; then
        [ "$2" = http ] || exit 0
        case $(ask "$3" "$4" "$5") in HTTP/*\ [1-4]*) exit 0 ;; esac
    fi
    thousandths=$((1000 + pause % 1000))
    sleep "$((pause / 1000)).${thousandths#1}"
    waited=$((waited + pause))
    [ $((waited / $7)) -gt "$pause" ] && pause=$((waited / $7))
done
"""


def waiting_command(probe: Probe, port: int, host: str) -> list[str]:
    """Return the command to run in the container; it exits with 0 once the probe succeeds."""
    kind = "http" if probe.kind is ProbeKind.HTTP else "tcp"
    path = probe.path.replace("\\", "\\\\").replace("%", "%%")
    pause_ms = str(max(round(probe.interval_s * 1000), 1))
    patience = str(_PATIENCE)
    return ["/bin/sh", "-c", _SCRIPT, "ready", f"{port:04X}", kind, host, str(port), path, pause_ms, patience]
