"""A proxy's access log: requests of its clients."""

from __future__ import annotations

from collections import Counter

_METHOD, _PATH, _SENT, _SOURCE = 4, 5, 12, 17
_FIELDS_MIN = 18


def requests(log: str) -> list[list[str]]:
    """Return the fields of each request of a client, without those of filters."""
    rows = (line.split() for line in log.splitlines() if " HTTP/1." in line)
    return [row for row in rows if len(row) >= _FIELDS_MIN and row[_SOURCE] == "-"]


def listings_of_filters(log: str, container: str) -> int:
    """Return how many pages of a container's listing filters requested."""
    rows = (line.split() for line in log.splitlines() if " HTTP/1." in line)
    own = [row for row in rows if len(row) >= _FIELDS_MIN and row[_SOURCE] == "ZOE" and row[_METHOD] == "GET"]
    return sum(row[_PATH].partition("%3F")[0].endswith(f"/{container}") for row in own)


def bytes_out(log: str, path: str) -> int:
    """Return the bytes sent to clients of objects under this path."""
    rows = (row for row in requests(log) if row[_METHOD] == "GET" and path in row[_PATH])
    return sum(int(row[_SENT]) for row in rows if row[_SENT].isdigit())


def operations(log: str) -> Counter[str]:
    """Return the number of requests of each method, without sign-ins."""
    return Counter(row[_METHOD] for row in requests(log) if not row[_PATH].startswith("/auth/"))
