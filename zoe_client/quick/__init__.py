"""The calls of quick commands, over the standard library's HTTP client."""
