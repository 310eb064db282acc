"""The server: connections, heads, bodies, the built web UI."""
