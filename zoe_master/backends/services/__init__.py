"""Shared by back-ends: peers, secrets, failures and kept output of services."""
