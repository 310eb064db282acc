"""Bytes and CPU time of requests by tenant, and their pacing."""
