"""Convert ports, volumes, labels and commands of old services to version 4."""

from __future__ import annotations

import re
import shlex
from typing import Any
from urllib.parse import quote

from zoe_lib.descriptions.bounds import ARGUMENTS_MAX, LABELS_MAX, PORTS_MAX, VOLUMES_MAX
from zoe_lib.descriptions.convert.names import legal_label
from zoe_lib.descriptions.convert.notes import Notes
from zoe_lib.descriptions.convert.old import whole_number
from zoe_lib.descriptions.model import Volume
from zoe_lib.descriptions.structure import read_model

_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1", "2>"})
_CONSTRAINT = re.compile(r"constraint:([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9._-]*)")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_URL = re.compile(r"([a-z]+)://(?:\{ip_port\}|HOST:PORT)?(?:\{proxy_path\})?(.*)", re.DOTALL)


def convert_ports(raw: list[object], place: str, notes: Notes) -> list[dict[str, Any]]:
    """Return named ports, the main one first; titles become labels."""
    ports: list[dict[str, Any]] = []
    taken: set[str] = set()
    for index, raw_port in enumerate(sorted(raw, key=_is_not_main)):
        port = _port(raw_port, f"{place}/ports/{raw.index(raw_port)}", notes)
        if port is None or len(ports) >= PORTS_MAX:
            continue
        if any(port["number"] == other["number"] for other in ports):
            notes.add(f"{place}/ports/{raw.index(raw_port)}", f"port {port['number']} is listed twice; left out")
            continue
        title, port["name"] = str(port["name"]), legal_label(str(port["name"]), f"port-{index}", taken)
        if title != port["name"]:
            notes.add(f"{place}/ports/{raw.index(raw_port)}/name", f"{title[:64]!r} became {port['name']!r}")
        taken.add(port["name"])
        ports.append(port)
    return ports


def _is_not_main(port: object) -> bool:
    if isinstance(port, list):
        return not (len(port) > 2 and port[2])
    return not (isinstance(port, dict) and port.get("is_main_endpoint"))


def _port(raw: object, place: str, notes: Notes) -> dict[str, Any] | None:
    """Return one port. Format 0 has [number, name, is main], formats 1 and 2 protocol and path, format 3 a template of
    the URL.
    """
    if isinstance(raw, list) and len(raw) > 1:
        raw = {"port_number": raw[0], "name": raw[1], "protocol": "http"}
    if not isinstance(raw, dict):
        notes.add(place, "not a port; left out")
        return None
    number = whole_number(raw.get("port_number"))
    if number is None or not 0 < number < 65536:
        notes.add(place, "not a valid port number; left out")
        return None
    scheme, path = str(raw.get("protocol", "tcp")), raw.get("path", "/")
    if scheme == "udp":
        notes.add(place, "udp ports are not published; left out")
        return None
    if isinstance(raw.get("url_template"), str) and (url := _URL.fullmatch(raw["url_template"])):
        scheme, path = url[1], url[2]
    port: dict[str, Any] = {"name": raw.get("name", f"port-{number}"), "number": number}
    if scheme != "http":
        if scheme == "https":
            notes.add(place, "the proxy speaks http to services, not https; the port is not proxied")
        return port
    return {**port, "protocol": "http", "path": _path(path), "proxied": True}


def _path(path: object) -> str:
    quoted = quote(path, safe=_PRINTABLE) if isinstance(path, str) else ""
    return quoted if quoted.startswith("/") and len(quoted) <= 512 else f"/{quoted[:500]}"


def convert_volumes(raw: list[object], place: str, notes: Notes) -> list[dict[str, Any]]:
    """Return volumes of host paths: formats 0 to 2 have [path, target, read only], format 3 a name that is mounted
    below /mnt.
    """
    found: list[dict[str, Any]] = []
    for index, value in enumerate(raw):
        where = f"{place}/volumes/{index}"
        volume = _volume(value)
        legal = volume["host_path"] is not None and read_model(Volume, volume)[0] is not None
        if not legal or any(volume["target"] == other["target"] for other in found) or len(found) >= VOLUMES_MAX:
            notes.add(where, "not a volume that Zoe can mount; left out")
            continue
        notes.add(where, f"host path {volume['host_path']!r} must be allowed by the admin")
        found.append(volume)
    return found


def _volume(raw: object) -> dict[str, Any]:
    if isinstance(raw, list) and len(raw) > 1:
        # Early format 3 wrote a name instead of the target.
        target = f"/mnt/{raw[1]}" if isinstance(raw[1], str) and not raw[1].startswith("/") else raw[1]
        return {"host_path": raw[0], "target": target, "read_only": bool(raw[2:3] and raw[2])}
    if isinstance(raw, dict):
        read_only = bool(raw.get("read_only", False))
        return {"host_path": raw.get("path"), "target": f"/mnt/{raw.get('name', '')}", "read_only": read_only}
    return {"host_path": None, "target": None}


def convert_labels(labels: list[object], constraints: list[object], place: str, notes: Notes) -> dict[str, str]:
    """Return node labels: a plain label becomes `label=true`, a constraint of the old Swarm `key=value` if it has that
    form.
    """
    converted: dict[str, str] = {}
    for label in labels:
        key = (
            re.sub(r"[^A-Za-z0-9._/-]+", "-", label).strip("._/-")[:63].strip("._/-") if isinstance(label, str) else ""
        )
        if not key or len(converted) >= LABELS_MAX:
            notes.add(f"{place}/labels", f"label {str(label)[:64]!r} left out")
            continue
        converted[key] = "true"
        notes.add(f"{place}/labels", f"became the label {key}=true, which nodes must have")
    for constraint in constraints:
        match = _CONSTRAINT.fullmatch(constraint) if isinstance(constraint, str) else None
        if match and len(match[1]) <= 63 and len(match[2]) <= 63 and match[1][-1].isalnum():
            converted[match[1]] = match[2]
        else:
            notes.add(f"{place}/constraints", f"constraint {str(constraint)[:64]!r} left out; use labels")
    return converted


def split_command(command: str, place: str, notes: Notes) -> list[str]:
    """Return the arguments of a command line: split as Docker did, or through a shell if it clearly needs one."""
    try:
        arguments = shlex.split(command)
    except ValueError:
        notes.add(f"{place}/command", "quotes do not match; passed to /bin/sh unchanged")
        return ["/bin/sh", "-c", command]
    if _OPERATORS.intersection(arguments) or len(arguments) > ARGUMENTS_MAX:
        notes.add(f"{place}/command", "needs a shell; passed to /bin/sh")
        return ["/bin/sh", "-c", command]
    return arguments
