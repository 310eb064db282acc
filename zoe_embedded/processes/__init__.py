"""Started programs: logs, ports and ends."""
