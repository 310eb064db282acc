"""HTTP requests for threads and for asyncio: retries, errors, streams, certificates."""
