"""Command lines of the server and the client of a volume. Pure."""

from __future__ import annotations

from .backing import DATA, ENCRYPTION, RUN

RATE = "rate"
DISK, RATE_FILE, PID_FILE = "disk", "rate", "server.pid"
FILE_PLUGIN = ("file",)


def socket_of(directory: str, epoch: int) -> str:
    """Return the socket of the server of one attachment."""
    return f"{directory}/{RUN}/{epoch}.sock"


def disk_of(directory: str) -> str:
    """Return the file by which the client shows the volume."""
    return f"{directory}/{RUN}/{DISK}"


def server_command(
    directory: str, epoch: int, filters: list[str], key_descriptor: int | None, plugin: tuple[str, ...] = FILE_PLUGIN
) -> list[str]:
    """Return nbdkit with the filters of the stack, the first nearest to the client.

    It serves only clients that name its epoch. The rate's file can be replaced while it runs.
    """
    names = [text.partition("=")[0] for text in filters]
    words = ["nbdkit", "--foreground", "--swap", "--unix", socket_of(directory, epoch)]
    words += ["--pidfile", f"{directory}/{RUN}/{PID_FILE}", "--filter=exportname"]
    words += [f"--filter={name}" for name in names]
    words += [*plugin, f"file={directory}/{DATA}", f"exportname={epoch}", "exportname-strict=true"]
    if RATE in names:
        words.append(f"rate-file={directory}/{RUN}/{RATE_FILE}")
    if ENCRYPTION in names:
        words.append(f"passphrase=-{key_descriptor}")
    return words


def client_command(directory: str, epoch: int) -> list[str]:
    """Return nbdfuse, which shows the export of this epoch as one file."""
    return ["nbdfuse", disk_of(directory), f"nbd+unix:///{epoch}?socket={socket_of(directory, epoch)}"]


def rate_text(filters: list[str]) -> str | None:
    """Return the content of the rate's file, in bits per second; None without the filter."""
    for text in filters:
        name, _, amount = text.partition("=")
        if name == RATE:
            return f"{int(amount) * 8}\n"
    return None
