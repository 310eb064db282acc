"""Replays this installation's journal: as it was, and as it would have been under another policy."""
