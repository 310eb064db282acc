"""Requests over HTTP, for threads and for asyncio: retries, errors, streams, certificates."""
