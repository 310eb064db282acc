"""The progress of pulls, from messages of an engine."""

from __future__ import annotations

from zoe_master.backends.engine.daemon.pulls import PullProgress


def test_downloaded_bytes_of_all_layers_are_told() -> None:
    progress = PullProgress()
    assert str(progress) == ""
    progress.take({"status": "Pulling from library/python", "id": "3.12"})
    progress.take({"status": "Downloading", "id": "a", "progressDetail": {"current": 2**20, "total": 4 * 2**20}})
    progress.take({"status": "Downloading", "id": "b", "progressDetail": {"current": 0, "total": 6 * 2**20}})
    assert str(progress) == " (1 MiB of at least 10 MiB)"
    progress.take({"status": "Download complete", "id": "a"})
    progress.take({"status": "Extracting", "id": "a", "progressDetail": {"current": 5, "total": 6}})
    assert str(progress) == " (4 MiB of at least 10 MiB)"
