"""Calls of the API, by subject; each makes one request."""
