"""Terminals in services: from the WebSocket of a client to the process that the master has started."""
