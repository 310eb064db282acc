"""Containers of services: records, and work on them."""
