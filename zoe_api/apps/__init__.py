"""Authenticated access to ports of running services: each port has its own origin, entered with a one-time ticket."""
