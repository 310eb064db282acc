"""Replay this installation's journal: as recorded, and under another policy."""
