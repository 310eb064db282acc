"""Backups: written, signed, checked and restored."""
