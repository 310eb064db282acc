"""Attempts to sign in: how many, how fast, and what the audit log keeps."""
