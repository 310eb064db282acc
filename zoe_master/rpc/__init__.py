"""Requests of the API to the master."""
