"""Accounts, sign-in, credentials, machines, secrets, notifications."""
